//! How everything is or was.

use std::collections::HashMap;

use mainstay_base::{Id, Timestamp};

use crate::names::compared;
use crate::report::DependencyStatus;
use crate::status::ServiceStatus;

/// How everything was at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastMoment {
    /// The moment.
    pub at: Timestamp,
    /// Since when there are records; `None` when there are none at all. What was before is not known,
    /// and the state of a moment before is empty.
    pub since: Option<Timestamp>,
    /// The state.
    pub state: PastState,
}

/// The state of everything, by number.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PastState {
    pub(crate) services: HashMap<i64, PastService>,
    pub(crate) dependencies: HashMap<i64, PastDependency>,
}

/// A service as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastService {
    /// Its id.
    pub id: Id,
    /// Its name then.
    pub name: String,
    /// How it was.
    pub status: ServiceStatus,
    /// Since when.
    pub status_since: Timestamp,
    /// Since when nobody knew how its dependencies were; `None` when somebody did.
    pub stale_since: Option<Timestamp>,
}

/// A dependency as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastDependency {
    /// Its id.
    pub id: Id,
    /// The number of the service that leans on it.
    pub service_no: i64,
    /// Its name, as the service reports it.
    pub name: String,
    /// Its name by the aliases then.
    pub canonical_name: String,
    /// What its service last said of it, whether or not that could still be believed: see
    /// [`PastState::shown`].
    pub said: DependencyStatus,
    /// Since when its service said so.
    pub said_since: Timestamp,
    /// Since when its service did not report it any more.
    pub missing_since: Option<Timestamp>,
    /// The service that it was, if somebody had said so.
    pub linked_service_id: Option<Id>,
    /// Whether it was closed: it is kept in mind only because it may come back.
    pub(crate) is_closed: bool,
}

impl PastDependency {
    /// The canonical name as it is compared.
    #[must_use]
    pub fn canonical_key(&self) -> String {
        compared(&self.canonical_name)
    }
}

impl PastState {
    /// The services, with their numbers, in no order.
    pub fn services(&self) -> impl Iterator<Item = (i64, &PastService)> {
        self.services.iter().map(|(number, service)| (*number, service))
    }

    /// The dependencies, with their numbers, in no order. Those that were missing are among them, those
    /// that had been closed are not.
    pub fn dependencies(&self) -> impl Iterator<Item = (i64, &PastDependency)> {
        let open = self.dependencies.iter().filter(|(_, one)| self.is_open(one));
        open.map(|(number, dependency)| (*number, dependency))
    }

    /// The service of this number.
    #[must_use]
    pub fn service(&self, number: i64) -> Option<&PastService> {
        self.services.get(&number)
    }

    /// How a dependency was shown: unknown while its service could not be polled or did not report it.
    #[must_use]
    pub fn shown(&self, dependency: &PastDependency) -> DependencyStatus {
        let service = self.services.get(&dependency.service_no);
        let is_fresh = service.is_some_and(|service| service.stale_since.is_none());
        let is_known = is_fresh && dependency.missing_since.is_none();
        if is_known { dependency.said } else { DependencyStatus::Unknown }
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.services.is_empty()
    }

    fn is_open(&self, dependency: &PastDependency) -> bool {
        !dependency.is_closed && self.services.contains_key(&dependency.service_no)
    }
}
