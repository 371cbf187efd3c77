//! The graph as it was at a moment of the past.

use std::collections::HashMap;
use std::time::Duration;

use mainstay_base::{Id, Timestamp};
use mainstay_graph::{Change, Dependency, Graph, Service, Status};

use crate::past::{PastDependency, PastMoment, PastService};

/// The graph of a moment. What had been missing for `missing_for` was not in it any more.
#[must_use]
pub fn graph(moment: &PastMoment, missing_for: Duration) -> Graph {
    let state = &moment.state;
    let mut graph = Graph::default();
    let mut numbers: HashMap<Id, i64> = HashMap::new();
    for (number, known) in state.services() {
        numbers.insert(known.id, number);
        graph.apply(Change::Service(service(number, known)));
    }
    for (number, known) in state.dependencies() {
        if is_shown(known, moment.at, missing_for) {
            // A link to a service that was removed means nothing, as it does now.
            let linked = known.linked_service_id.and_then(|id| numbers.get(&id).copied());
            let dependency = dependency(number, known, linked);
            graph.apply(Change::Dependency { service: known.service_no, dependency });
        }
    }
    graph
}

fn is_shown(dependency: &PastDependency, at: Timestamp, missing_for: Duration) -> bool {
    dependency.missing_since.is_none_or(|since| at.since(since) < missing_for)
}

fn service(number: i64, known: &PastService) -> Service {
    Service {
        number,
        id: known.id,
        name: known.name.as_str().into(),
        // It only serves to suggest links, and nobody links in the past.
        host: None,
        status: Status::from_name(known.status.name()).unwrap_or(Status::Unknown),
        since: known.status_since,
        // What is kept of the past is since when something was as it was.
        failing_since: None,
        stale_since: known.stale_since,
    }
}

fn dependency(number: i64, known: &PastDependency, linked: Option<i64>) -> Dependency {
    Dependency {
        number,
        id: known.id,
        name: known.canonical_name.as_str().into(),
        status: Status::from_name(known.said.name()).unwrap_or(Status::Unknown),
        since: known.said_since,
        failing_since: None,
        missing_since: known.missing_since,
        linked,
        hosts: Box::default(),
    }
}
