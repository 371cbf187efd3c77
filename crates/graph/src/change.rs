//! What the graph is told.

use std::fmt;
use std::sync::Arc;

use mainstay_base::{Id, Timestamp};

use crate::status::Status;

/// What became of a service or of what it reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A service is new, or something about it is.
    Service(Service),
    /// A service is no more.
    Removed {
        /// The number of the service.
        service: i64,
    },
    /// A service has another status.
    Status {
        /// The number of the service.
        service: i64,
        /// Its status now.
        status: Status,
        /// Since when.
        since: Timestamp,
    },
    /// What a service reports is not known any more, or is known again.
    Stale {
        /// The number of the service.
        service: i64,
        /// Since when it is not known; `None` while it is.
        since: Option<Timestamp>,
    },
    /// These are all dependencies of a service, whatever they were before.
    Dependencies {
        /// The number of the service.
        service: i64,
        /// All of its dependencies.
        dependencies: Vec<Dependency>,
    },
    /// A dependency is new, or something about it is.
    Dependency {
        /// The number of the service that reports it.
        service: i64,
        /// The dependency.
        dependency: Dependency,
    },
    /// A dependency leaves the graph.
    Forgotten {
        /// The number of the service that reported it.
        service: i64,
        /// The number of the dependency.
        dependency: i64,
    },
}

/// A service as the graph knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    /// Its number.
    pub number: i64,
    /// Its id.
    pub id: Id,
    /// Its name as it is shown.
    pub name: Arc<str>,
    /// The host of its health endpoint, in lower case.
    pub host: Option<Arc<str>>,
    /// How it is.
    pub status: Status,
    /// Since when.
    pub since: Timestamp,
    /// Since when it fails without a break, however badly; `None` while it does not.
    pub failing_since: Option<Timestamp>,
    /// Since when what it reports is not known; `None` while it is.
    pub stale_since: Option<Timestamp>,
}

/// One thing that a service reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    /// Its number.
    pub number: i64,
    /// Its id.
    pub id: Id,
    /// Its canonical name as it is shown.
    pub name: Arc<str>,
    /// What its service last said of it.
    pub status: Status,
    /// Since when.
    pub since: Timestamp,
    /// Since when its service says without a break that it fails, however badly; `None` while it does not.
    pub failing_since: Option<Timestamp>,
    /// Since when its service does not report it any more.
    pub missing_since: Option<Timestamp>,
    /// The number of the service that it is, if somebody said so.
    pub linked: Option<i64>,
    /// Hosts that it names, in lower case.
    pub hosts: Box<[Arc<str>]>,
}

/// What names a node. Services come first, by number; then external things, by their key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// The service of this number.
    Service(i64),
    /// The thing that is called so: in lower case, trimmed.
    External(Arc<str>),
}

/// A name as it is compared with others: trimmed, in lower case.
#[must_use]
pub fn compared(name: &str) -> Arc<str> {
    name.trim().to_lowercase().into()
}

impl Service {
    /// Since when it fails, however badly.
    #[must_use]
    pub fn fails_since(&self) -> Option<Timestamp> {
        failing(self.status, self.failing_since, self.since)
    }
}

impl Dependency {
    /// What its service says of it by now: what is missing tells nothing.
    #[must_use]
    pub const fn said(&self) -> Status {
        if self.missing_since.is_some() { Status::Unknown } else { self.status }
    }

    /// Since when it is said, when its service is stale since `stale_since`: whatever hides what was
    /// said began first.
    #[must_use]
    pub fn said_since(&self, stale_since: Option<Timestamp>) -> Timestamp {
        let hidden = [self.missing_since, stale_since].into_iter().flatten().min();
        hidden.unwrap_or(self.since)
    }

    /// Since when its service says that it fails, however badly, if it says so by now.
    #[must_use]
    pub fn fails_since(&self) -> Option<Timestamp> {
        failing(self.said(), self.failing_since, self.since)
    }
}

/// Where it is not known since when, it is at least since it is as it is.
fn failing(status: Status, known: Option<Timestamp>, since: Timestamp) -> Option<Timestamp> {
    status.is_unhealthy().then(|| known.unwrap_or(since))
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Service(number) => write!(formatter, "service {number}"),
            Self::External(key) => write!(formatter, "{key:?}"),
        }
    }
}
