//! What a change does to nodes and edges.

use mainstay_graph::Status::{Degraded, Down, Healthy, Skipped, Unknown};
use mainstay_graph::{Change, Dependency, Graph, Key, Service, Snapshot, Status};

use crate::house::{at, dependency, external, graph, id, service};

fn edges(snapshot: &Snapshot) -> Vec<(Key, Key, Status)> {
    let key = |place: usize| snapshot.node(place).unwrap().key.clone();
    snapshot.edges().iter().map(|edge| (key(edge.from), key(edge.to), edge.status)).collect()
}

fn status(snapshot: &Snapshot, key: &Key) -> Option<Status> {
    snapshot.place(key).and_then(|place| snapshot.node(place)).map(|node| node.status)
}

#[test]
fn a_report_means_the_linked_service_else_the_service_of_its_name_else_a_thing() {
    let mut graph = graph(&[("Orders", Healthy, &[("  PAYMENTS ", Down), ("Redis", Healthy)])]);
    assert_eq!(
        edges(&graph.snapshot()),
        [
            (Key::Service(1), external("payments"), Down),
            (Key::Service(1), external("redis"), Healthy)
        ]
    );
    graph.apply(Change::Service(service(2, "Payments", Healthy)));
    graph.apply(Change::Service(service(3, "Cache", Healthy)));
    let linked = Dependency { linked: Some(3), ..dependency(1_002, "Redis", Healthy) };
    graph.apply(Change::Dependency { service: 1, dependency: linked });
    assert_eq!(
        edges(&graph.snapshot()),
        [(Key::Service(1), Key::Service(2), Down), (Key::Service(1), Key::Service(3), Healthy)]
    );
    // A renamed and a removed service leave their reports to the thing of that name.
    graph.apply(Change::Service(service(2, "Billing", Healthy)));
    graph.apply(Change::Removed { service: 3 });
    assert_eq!(
        edges(&graph.snapshot()),
        [
            (Key::Service(1), external("payments"), Down),
            (Key::Service(1), external("redis"), Healthy)
        ]
    );
    // A link waits for its service.
    graph.apply(Change::Service(service(3, "Cache", Healthy)));
    assert_eq!(edges(&graph.snapshot())[0], (Key::Service(1), Key::Service(3), Healthy));
}

#[test]
fn a_service_that_reports_itself_leans_on_nothing() {
    let graph = graph(&[("Orders", Healthy, &[(" orders", Down)])]);
    assert_eq!((graph.nodes(), graph.edges()), (1, 0));
}

#[test]
fn reports_of_one_node_are_one_edge_with_the_worst_of_them() {
    let graph = graph(&[("Orders", Healthy, &[("db", Healthy), ("DB", Down), ("Db ", Skipped)])]);
    let snapshot = graph.snapshot();
    let [edge] = snapshot.edges() else { panic!("{:?}", snapshot.edges()) };
    assert_eq!((edge.status, edge.count, edge.missing), (Down, 3, false));
    assert_eq!(snapshot.dependencies(edge), [id(1_001_001), id(1_001_002), id(1_001_003)]);
    assert_eq!(edge.since, Some(at(1_002)));
}

#[test]
fn a_thing_is_what_those_say_who_know() {
    for (said, expected) in [
        (&[Down, Healthy] as &[_], Down),
        (&[Degraded, Healthy], Degraded),
        (&[Unknown, Healthy, Skipped], Healthy),
        (&[Skipped, Unknown], Unknown),
        (&[Skipped, Skipped], Skipped),
    ] {
        let leans: Vec<[(&str, Status); 1]> = said.iter().map(|&status| [("db", status)]).collect();
        let names: Vec<String> = (0..said.len()).map(|n| format!("s{n}")).collect();
        let services: Vec<_> =
            names.iter().zip(&leans).map(|(name, leans)| (&**name, Healthy, &leans[..])).collect();
        let snapshot = graph(&services).snapshot();
        assert_eq!(status(&snapshot, &external("db")), Some(expected), "{said:?}");
    }
}

#[test]
fn what_a_stale_service_says_is_unknown_until_it_is_fresh() {
    let mut graph = graph(&[("A", Down, &[("db", Down)]), ("B", Healthy, &[("db", Healthy)])]);
    graph.apply(Change::Stale { service: 1, since: Some(at(77)) });
    let snapshot = graph.snapshot();
    assert_eq!(status(&snapshot, &external("db")), Some(Healthy));
    assert_eq!((snapshot.edges()[0].status, snapshot.edges()[0].since), (Unknown, Some(at(77))));
    let topology = graph.topology();
    graph.apply(Change::Stale { service: 2, since: Some(at(78)) });
    let snapshot = graph.snapshot();
    let place = snapshot.place(&external("db")).unwrap();
    let node = snapshot.node(place).unwrap();
    assert_eq!((node.status, node.since), (Unknown, Some(at(78))));
    graph.apply(Change::Stale { service: 1, since: None });
    assert_eq!(status(&graph.snapshot(), &external("db")), Some(Down));
    assert_eq!(graph.topology(), topology, "nobody has to move");
}

#[test]
fn what_is_missing_is_unknown_and_marked() {
    let mut graph = graph(&[("A", Healthy, &[("db", Down)])]);
    let missing = Dependency { missing_since: Some(at(9)), ..dependency(1_001, "db", Down) };
    graph.apply(Change::Dependency { service: 1, dependency: missing });
    let snapshot = graph.snapshot();
    let edge = &snapshot.edges()[0];
    assert_eq!((edge.status, edge.missing, edge.since), (Unknown, true, Some(at(9))));
    assert_eq!(status(&snapshot, &external("db")), Some(Unknown));
    assert_eq!(graph.missing().collect::<Vec<_>>(), [(1, 1_001, at(9))]);
    graph.apply(Change::Forgotten { service: 1, dependency: 1_001 });
    assert_eq!((graph.nodes(), graph.edges(), graph.missing().count()), (1, 0, 0));
}

#[test]
fn a_thing_is_unhealthy_since_the_first_who_says_so_and_healthy_since_the_last() {
    for (status, since) in [(Down, 1_001), (Healthy, 2_001)] {
        let leans: &[_] = &[("db", status)];
        let snapshot = graph(&[("A", Healthy, leans), ("B", Healthy, leans)]).snapshot();
        let place = snapshot.place(&external("db")).unwrap();
        assert_eq!(snapshot.node(place).unwrap().since, Some(at(since)), "{status:?}");
    }
}

#[test]
fn what_says_the_opposite_is_marked() {
    for (is, said, contradicts) in [
        (Healthy, Down, true),
        (Healthy, Degraded, true),
        (Down, Healthy, true),
        (Down, Degraded, false),
        (Degraded, Healthy, false),
        (Unknown, Down, false),
        (Down, Unknown, false),
    ] {
        let snapshot = graph(&[("A", Healthy, &[("B", said)]), ("B", is, &[])]).snapshot();
        assert_eq!(snapshot.edges()[0].contradicts, contradicts, "{is:?} {said:?}");
    }
}

#[test]
fn versions_count_what_changed_and_nothing_else() {
    let mut graph = graph(&[("A", Healthy, &[("db", Healthy)])]);
    let versions = |graph: &Graph| (graph.version(), graph.topology());
    let before = versions(&graph);
    graph.apply(Change::Service(service(1, "A", Healthy)));
    let same = vec![dependency(1_001, "db", Healthy)];
    graph.apply(Change::Dependencies { service: 1, dependencies: same });
    graph.apply(Change::Status { service: 9, status: Down, since: at(1) });
    graph.apply(Change::Removed { service: 9 });
    graph.apply(Change::Forgotten { service: 1, dependency: 9 });
    assert_eq!(versions(&graph), before);

    graph.apply(Change::Status { service: 1, status: Down, since: at(5) });
    let turned = versions(&graph);
    assert!(turned.0 > before.0 && turned.1 == before.1);
    let turned_report = dependency(1_001, "db", Down);
    graph.apply(Change::Dependency { service: 1, dependency: turned_report });
    assert_eq!(graph.topology(), before.1);
    graph.apply(Change::Dependency { service: 1, dependency: dependency(1_002, "mq", Healthy) });
    assert!(graph.topology() > before.1);
}

#[test]
fn what_tells_nothing_of_links_does_not_count_as_a_clue() {
    let mut graph = graph(&[("A", Healthy, &[("db", Healthy)])]);
    let db = || dependency(1_001, "db", Healthy);
    let before = graph.clues();
    graph.apply(Change::Status { service: 1, status: Down, since: at(5) });
    graph.apply(Change::Stale { service: 1, since: Some(at(6)) });
    for one in [Dependency { status: Down, since: at(7), ..db() }, db()] {
        graph.apply(Change::Dependency { service: 1, dependency: one });
    }
    assert_eq!(graph.clues(), before);

    let a = || service(1, "A", Healthy);
    for change in [
        Change::Service(Service { name: "a".into(), ..a() }),
        Change::Service(Service { host: Some("a.example.org".into()), ..a() }),
        Change::Dependency { service: 1, dependency: Dependency { name: "DB".into(), ..db() } },
        Change::Dependency {
            service: 1,
            dependency: Dependency { hosts: ["b.example.org".into()].into(), ..db() },
        },
        // Somebody comes whose name it is, and goes.
        Change::Service(service(2, "Db", Healthy)),
        Change::Removed { service: 2 },
        Change::Forgotten { service: 1, dependency: 1_001 },
    ] {
        let before = graph.clues();
        graph.apply(change.clone());
        assert!(graph.clues() > before, "{change:?}");
    }
}

#[test]
fn a_thing_is_called_as_most_call_it() {
    let snapshot = graph(&[
        ("A", Healthy, &[("DB", Healthy)]),
        ("B", Healthy, &[("Db", Healthy)]),
        ("C", Healthy, &[("Db", Healthy)]),
    ])
    .snapshot();
    let place = snapshot.place(&external("db")).unwrap();
    assert_eq!(&*snapshot.node(place).unwrap().name, "Db");
}

#[test]
fn names_that_were_swapped_mean_each_other() {
    let mut graph =
        graph(&[("A", Healthy, &[]), ("B", Healthy, &[]), ("C", Healthy, &[("a", Down)])]);
    for (number, name) in [(1, "B"), (2, "A")] {
        graph.apply(Change::Service(Service { name: name.into(), ..service(number, "", Healthy) }));
    }
    assert_eq!(edges(&graph.snapshot()), [(Key::Service(3), Key::Service(2), Down)]);
}
