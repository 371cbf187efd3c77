//! What people say of a service, and what follows from it.
//!
//! A [`Draft`] is checked and becomes a [`Definition`], `address` and [`headers`] beside it → a
//! [`Patch`] makes another of it, `edit` says what that changes (pure) → [`Services`] writes it,
//! with what `follow`s and its events, by `record` (all SQL) → [`Watches`] is what the engine polls by.

mod address;
pub mod definition;
mod edit;
mod error;
mod follow;
mod handle;
pub mod headers;
mod held;
mod line;
mod patch;
pub(crate) mod record;
mod seal;
pub(crate) mod tell;
mod watches;

pub(crate) use address::Address;
pub use address::{AddressError, MAX_ADDRESS_BYTES, check_address};
pub use definition::{Definition, Draft, Invalid};
pub use error::ServicesError;
pub use handle::{Edited, MAX_SERVICES, Services};
pub use headers::HeaderError;
pub(crate) use held::Held;
pub use line::{LineError, MAX_LINE_CHARS};
pub use patch::{HeaderPatch, Patch};
pub use seal::Seal;
pub use watches::Watches;
