//! What is refused, and why it could not be done.

use mainstay_events::EventError;
use mainstay_store::StoreError;

use super::definition::Invalid;
use super::handle::MAX_SERVICES;

/// A refusal, or a failure of the database.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServicesError {
    /// A field does not hold.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// Another service has the name.
    #[error("another service has this name, in whatever case; choose another one")]
    NameTaken,
    /// There is no such service.
    #[error("there is no service with this id; it may have been removed")]
    NotFound,
    /// There are as many as there may be.
    #[error("there are {MAX_SERVICES} services, the most there may be; remove one first")]
    TooMany,
    /// An event does not fit.
    #[error(transparent)]
    Event(#[from] EventError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
