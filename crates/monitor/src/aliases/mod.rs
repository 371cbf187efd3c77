//! By which name a dependency goes, and which service it is: an alias maps a reported name to a
//! canonical one, a link says that a dependency *is* a service.
//!
//! [`name`] checks what was given → [`Aliases`] writes it, with what follows for dependencies that
//! are known, by `record` (all SQL).

mod error;
mod handle;
pub mod name;
mod record;

pub use error::AliasesError;
pub use handle::{Alias, Aliases, Linked, LinkedAll, MAX_ALIASES};
pub use name::{AliasName, CanonicalName, NameError};
