//! Services that lean on each other and on things, by rule, so that every run has the same.

use mainstay_base::{Id, Timestamp};
use mainstay_graph::{Change, Dependency, Graph, Service, Status};

/// How many services there are.
pub(crate) const SERVICES: i64 = 5_000;
/// How many dependencies each reports.
const EACH: i64 = 8;
/// Of these, how many are services further down.
const OF_SERVICES: i64 = 4;
/// How many things there are.
const THINGS: i64 = 1_500;

pub(crate) struct World {
    changes: Vec<Change>,
}

impl World {
    pub(crate) fn new() -> Self {
        let services = (1..=SERVICES).map(|number| Change::Service(service(number)));
        let reports = (1..=SERVICES).map(|service| Change::Dependencies {
            service,
            dependencies: (0..EACH)
                .map(|slot| dependency(service, slot, Status::Healthy))
                .collect(),
        });
        Self { changes: services.chain(reports).collect() }
    }

    pub(crate) fn graph(&self) -> Graph {
        let mut graph = Graph::default();
        self.changes.iter().cloned().for_each(|change| graph.apply(change));
        graph
    }

    /// A dependency of some service turns, and so does the service.
    pub(crate) fn turned(&self, turn: i64) -> [Change; 2] {
        let service = turn.wrapping_mul(7_919).rem_euclid(SERVICES) + 1;
        let is_down = turn % 2 == 0;
        let status = |bad| if is_down { bad } else { Status::Healthy };
        let dependency = dependency(service, turn % EACH, status(Status::Down));
        [
            Change::Dependency { service, dependency },
            Change::Status { service, status: status(Status::Degraded), since: at(turn) },
        ]
    }
}

pub(crate) const fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn service(number: i64) -> Service {
    Service {
        number,
        id: id(number),
        name: format!("Service {number}").into(),
        host: Some(format!("service-{number}.example.org").into()),
        status: Status::Healthy,
        since: at(0),
        failing_since: None,
        stale_since: None,
    }
}

fn dependency(service: i64, slot: i64, status: Status) -> Dependency {
    let number = service * EACH + slot;
    let drawn = number.wrapping_mul(2_654_435_761).rem_euclid(1_000_003);
    let name = if slot < OF_SERVICES && service < SERVICES {
        format!("service {}", service + 1 + drawn % (SERVICES - service))
    } else {
        format!("thing-{}-api", drawn % THINGS)
    };
    Dependency {
        number,
        id: id(1_000_000 + number),
        name: name.into(),
        status,
        since: at(number),
        failing_since: None,
        missing_since: None,
        linked: None,
        hosts: Box::default(),
    }
}

fn id(number: i64) -> Id {
    let text = format!("019a8b3c-0000-7000-8000-{number:012x}");
    // Twelve hexadecimal digits end an id.
    text.parse().unwrap_or_else(|_| unreachable!("{text} is no id"))
}
