//! Small graphs for tests.

use mainstay_base::{Id, Timestamp};
use mainstay_graph::{Change, Dependency, Graph, Key, Service, Snapshot, Status};

pub(crate) fn id(number: i64) -> Id {
    format!("019a8b3c-0000-7000-8000-{number:012x}").parse().unwrap()
}

pub(crate) fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

pub(crate) fn service(number: i64, name: &str, status: Status) -> Service {
    Service {
        number,
        id: id(number),
        name: name.into(),
        host: None,
        status,
        since: at(number),
        failing_since: None,
        stale_since: None,
    }
}

pub(crate) fn dependency(number: i64, name: &str, status: Status) -> Dependency {
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

pub(crate) fn external(key: &str) -> Key {
    Key::External(key.into())
}

/// A service by name, with what it leans on.
type Told<'a> = (&'a str, Status, &'a [(&'a str, Status)]);

/// A graph of services by name, with what each leans on.
pub(crate) fn graph(services: &[Told<'_>]) -> Graph {
    let mut graph = Graph::default();
    for (number, (name, status, _)) in (1..).zip(services) {
        graph.apply(Change::Service(service(number, name, *status)));
    }
    for (number, (_, _, leans_on)) in (1..).zip(services) {
        let dependencies = (1..)
            .zip(*leans_on)
            .map(|(at, (name, status))| dependency(number * 1_000 + at, name, *status))
            .collect();
        graph.apply(Change::Dependencies { service: number, dependencies });
    }
    graph
}

/// A graph of services that lean on each other, by number.
pub(crate) fn arrows(statuses: &[Status], arrows: &[(usize, usize)]) -> Graph {
    let mut graph = Graph::default();
    for (number, status) in (1..).zip(statuses) {
        graph.apply(Change::Service(service(number, &format!("s{number}"), *status)));
    }
    for (number, (from, to)) in (1..).zip(arrows) {
        let dependency = dependency(number, &format!("s{}", to + 1), Status::Healthy);
        graph.apply(Change::Dependency { service: (from + 1).try_into().unwrap(), dependency });
    }
    graph
}

pub(crate) fn names(snapshot: &Snapshot, places: &[usize]) -> Vec<String> {
    places.iter().map(|&place| snapshot.node(place).unwrap().name.to_string()).collect()
}

pub(crate) fn place(snapshot: &Snapshot, name: &str) -> usize {
    snapshot.nodes().iter().position(|node| &*node.name == name).unwrap()
}
