//! By which name a dependency goes, and which service it is: an alias maps a reported name to a
//! canonical one, a link says that a dependency *is* a service.
//!
//! [`name`] checks what was given → `edit` says what that changes (pure) → [`Aliases`] writes it, with
//! what follows for dependencies that are known, by `record` (all SQL); `linking` is its half of links.

mod edit;
mod error;
mod handle;
mod linking;
pub mod name;
mod record;

pub(crate) use edit::AliasEdit;
pub use error::AliasesError;
pub use handle::{Alias, Aliases, MAX_ALIASES};
pub use linking::{Linked, LinkedAll};
pub use name::{AliasName, CanonicalName, NameError};
