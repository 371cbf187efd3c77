//! What is refused, and why it could not be done.

use mainstay_events::EventError;
use mainstay_store::StoreError;

use super::handle::MAX_ALIASES;
use super::name::NameError;

/// A refusal, or a failure of the database.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AliasesError {
    /// A name does not hold.
    #[error(transparent)]
    Name(#[from] NameError),
    /// There is an alias of this text.
    #[error("this name has an alias already; change that one, or delete it first")]
    Taken,
    /// There is no such alias.
    #[error("there is no alias with this id; it may have been deleted")]
    NotFound,
    /// There is no such dependency.
    #[error("there is no dependency with this id; its service may have been removed")]
    NoDependency,
    /// Nothing of this canonical name can be linked.
    #[error(
        "no dependency that goes by this name is without a link; it may have been linked already"
    )]
    NoneNamed,
    /// There is no such service.
    #[error("there is no service with the id in service_id; it may have been removed")]
    NoService,
    /// A service was to be what it leans on itself.
    #[error(
        "this service reports the dependency itself, so it can't be it; give another service_id"
    )]
    SelfLink,
    /// There are as many as there may be.
    #[error("there are {MAX_ALIASES} aliases, the most there may be; delete one first")]
    TooMany,
    /// An event does not fit.
    #[error(transparent)]
    Event(#[from] EventError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
