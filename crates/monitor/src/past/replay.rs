//! Applies what changed to what was. Pure.

use mainstay_base::Timestamp;

use super::change::{Change, OfDependency, What};
use super::state::{PastDependency, PastService, PastState};
use crate::report::DependencyStatus;
use crate::status::ServiceStatus;

/// What `state` became by those of `changes` that had happened by `at`.
///
/// They come in the order of their numbers. Some of them may be in `state` already: see
/// [the invariant](super#the-invariant). A change of something that is not known changes nothing.
#[must_use]
pub fn replay(mut state: PastState, changes: &[Change], at: Timestamp) -> PastState {
    for change in changes.iter().filter(|change| change.at <= at) {
        apply(&mut state, change);
    }
    state
}

fn apply(state: &mut PastState, change: &Change) {
    let Change { at, service_no, what } = change;
    if let What::Service { id, name } = what {
        let added = PastService {
            id: *id,
            name: name.clone(),
            status: ServiceStatus::Unknown,
            status_since: *at,
            stale_since: None,
        };
        state.services.insert(*service_no, added);
        return;
    }
    if let What::Dependency(number, what) = what {
        apply_to_dependency(state, *number, *service_no, *at, what);
        return;
    }
    let Some(service) = state.services.get_mut(service_no) else { return };
    match what {
        What::Renamed(name) => service.name.clone_from(name),
        What::Status(status) => {
            service.status = *status;
            service.status_since = *at;
        }
        What::Stale(is_stale) => service.stale_since = is_stale.then_some(*at),
        What::Removed => drop(state.services.remove(service_no)),
        What::Service { .. } | What::Dependency(..) => {}
    }
}

fn apply_to_dependency(
    state: &mut PastState,
    number: i64,
    service_no: i64,
    at: Timestamp,
    what: &OfDependency,
) {
    if let OfDependency::Added { id, name, status } = what {
        let added = PastDependency {
            id: *id,
            service_no,
            name: name.clone(),
            canonical_name: name.clone(),
            said: *status,
            said_since: at,
            missing_since: None,
            linked_service_id: None,
            is_closed: false,
        };
        state.dependencies.insert(number, added);
        return;
    }
    let Some(dependency) = state.dependencies.get_mut(&number) else { return };
    match what {
        OfDependency::Status(status) => set_status(dependency, *status, at),
        OfDependency::Missing(is_missing) => {
            dependency.missing_since = is_missing.then_some(at);
            dependency.is_closed &= is_missing;
        }
        OfDependency::Alias(name) => dependency.canonical_name.clone_from(name),
        OfDependency::Link(service) => dependency.linked_service_id = *service,
        OfDependency::Removed => dependency.is_closed = true,
        OfDependency::Added { .. } => {}
    }
}

fn set_status(dependency: &mut PastDependency, status: DependencyStatus, at: Timestamp) {
    dependency.said = status;
    dependency.said_since = at;
}

#[cfg(test)]
#[path = "replay_tests.rs"]
mod tests;
