//! A row of what changed, as replaying needs it.

use mainstay_base::{Id, Timestamp};

use crate::report::DependencyStatus;
use crate::status::ServiceStatus;

/// Something that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub(crate) at: Timestamp,
    pub(crate) service_no: i64,
    pub(crate) what: What,
}

/// What changed: each names the whole new value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum What {
    /// A service was added.
    Service { id: Id, name: String },
    /// It has another name.
    Renamed(String),
    /// It is in another way.
    Status(ServiceStatus),
    /// Nobody knows how its dependencies are, or somebody does again.
    Stale(bool),
    /// It was removed, and all it leans on with it.
    Removed,
    /// Something about the dependency of this number.
    Dependency(i64, OfDependency),
}

/// What changed about a dependency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OfDependency {
    /// It was named for the first time.
    Added { id: Id, name: String, status: DependencyStatus },
    /// Its service says something else of it.
    Status(DependencyStatus),
    /// Its service does not report it any more, or does again.
    Missing(bool),
    /// It goes by another name.
    Alias(String),
    /// It is this service, or none.
    Link(Option<Id>),
    /// It was missing for so long that it was closed.
    Removed,
}
