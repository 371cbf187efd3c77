//! What is broken because of what, and whom it hurts, in examples.

use mainstay_graph::Status::{Degraded, Down, Healthy, Unknown};
use mainstay_graph::{Change, Dependency, Snapshot, causes, components, radius};

use crate::house::{arrows, at, dependency, graph, names, place};

fn roots(snapshot: &Snapshot) -> Vec<Vec<String>> {
    causes::find(snapshot).roots.iter().map(|root| names(snapshot, &root.members)).collect()
}

#[test]
fn the_database_is_why_the_shop_is_down() {
    let snapshot = graph(&[
        ("Shop", Degraded, &[("Checkout", Degraded), ("Search", Healthy)]),
        ("Checkout", Degraded, &[("db", Down)]),
        ("Search", Healthy, &[("db", Unknown)]),
    ])
    .snapshot();
    let found = causes::find(&snapshot);
    assert_eq!(roots(&snapshot), [["db"]]);
    let root = &found.roots[0];
    assert_eq!((root.hurts, root.since, root.contradicted), (3, Some(at(2_001)), false));
    // Search leans on it and is well.
    assert_eq!(root.affected, 2);
    let blame = found.blame(place(&snapshot, "Shop")).unwrap();
    assert_eq!((blame.roots.as_slice(), blame.count), (&[0][..], 1));
    assert_eq!(found.blame(place(&snapshot, "Search")), None);
}

#[test]
fn a_circle_that_fails_is_one_root_cause() {
    let statuses = [Down, Degraded, Down, Degraded, Healthy];
    let snapshot = arrows(&statuses, &[(0, 1), (1, 2), (2, 0), (3, 0), (4, 3)]).snapshot();
    assert_eq!(roots(&snapshot), [["s1", "s2", "s3"]]);
    assert_eq!(causes::find(&snapshot).roots[0].hurts, 2);
}

#[test]
fn a_circle_with_one_healthy_node_is_no_circle_that_fails() {
    let snapshot = arrows(&[Down, Healthy, Down], &[(0, 1), (1, 2), (2, 0)]).snapshot();
    // The third leans on the first, which fails by itself as far as anybody can see.
    assert_eq!(roots(&snapshot), [["s1"]]);
    assert_eq!(causes::find(&snapshot).roots[0].hurts, 2);
}

#[test]
fn what_is_unknown_is_no_cause() {
    let snapshot = graph(&[("A", Degraded, &[("db", Unknown)])]).snapshot();
    assert_eq!(roots(&snapshot), [["A"]]);
}

#[test]
fn a_cause_that_is_contradicted_says_so() {
    let snapshot = graph(&[("A", Degraded, &[("B", Down)]), ("B", Healthy, &[])]).snapshot();
    let found = causes::find(&snapshot);
    assert_eq!(roots(&snapshot), [["A"]]);
    assert!(found.roots[0].contradicted, "B says that it is fine");
    let snapshot = graph(&[("A", Healthy, &[("B", Healthy)]), ("B", Down, &[])]).snapshot();
    assert!(causes::find(&snapshot).roots[0].contradicted, "A says that B is fine");
}

#[test]
fn a_thing_fails_since_the_first_who_finds_it_failing_however_badly() {
    let mut graph = graph(&[("A", Degraded, &[]), ("B", Degraded, &[]), ("C", Healthy, &[])]);
    for (service, status, since) in [(1, Degraded, 40), (2, Down, 70), (3, Healthy, 10)] {
        let said = Dependency { since: at(since), ..dependency(service, "db", status) };
        graph.apply(Change::Dependency { service, dependency: said });
    }
    let snapshot = graph.snapshot();
    let root = &causes::find(&snapshot).roots[0];
    assert_eq!(
        (names(&snapshot, &root.members), root.since),
        (vec!["db".to_owned()], Some(at(40)))
    );
    // It is down since the first who says just that.
    assert_eq!(snapshot.node(place(&snapshot, "db")).unwrap().since, Some(at(70)));
}

#[test]
fn what_was_degraded_before_it_went_down_fails_since_then() {
    let mut graph = graph(&[("A", Healthy, &[]), ("B", Healthy, &[]), ("C", Healthy, &[])]);
    for (status, since) in [(Degraded, 40), (Down, 70)] {
        graph.apply(Change::Status { service: 1, status, since: at(since) });
    }
    for (service, failing, since) in [(2, 30, 60), (3, 45, 50)] {
        let said = dependency(service, "db", Down);
        let said = Dependency { since: at(since), failing_since: Some(at(failing)), ..said };
        graph.apply(Change::Dependency { service, dependency: said });
    }
    let snapshot = graph.snapshot();
    let found = causes::find(&snapshot);
    let told: Vec<_> =
        found.roots.iter().map(|root| (root.failing_since, root.status_since)).collect();
    assert_eq!(told, [(Some(at(30)), Some(at(50))), (Some(at(40)), Some(at(70)))]);

    graph.apply(Change::Status { service: 1, status: Healthy, since: at(80) });
    graph.apply(Change::Status { service: 1, status: Down, since: at(90) });
    let snapshot = graph.snapshot();
    let node = snapshot.node(place(&snapshot, "A")).unwrap();
    assert_eq!((node.failing_since, node.since), (Some(at(90)), Some(at(90))));
}

#[test]
fn the_cause_that_hurts_most_comes_first_and_few_are_named() {
    let mut statuses = vec![Down; 10];
    statuses.push(Healthy);
    let mut leans: Vec<_> = (1..10).map(|to| (0, to)).collect();
    leans.push((10, 7));
    let snapshot = arrows(&statuses, &leans).snapshot();
    let found = causes::find(&snapshot);
    let blame = found.blame(0).unwrap();
    assert_eq!((blame.count, blame.roots.len()), (9, causes::MOST_NAMED));
    assert_eq!(roots(&snapshot)[0], ["s8"]);
}

#[test]
fn the_radius_names_everybody_with_the_nearest_way() {
    let statuses = [Healthy; 5];
    let snapshot = arrows(&statuses, &[(0, 1), (1, 2), (3, 2), (3, 1), (2, 4)]).snapshot();
    let hurt = radius::of(&snapshot, 4);
    let told: Vec<_> = hurt.iter().map(|one| (one.place, one.distance, one.via)).collect();
    assert_eq!(told, [(2, 1, 4), (1, 2, 2), (3, 2, 2), (0, 3, 1)]);
    assert_eq!(radius::path(&hurt, 0), [0, 1, 2, 4]);
    assert!(radius::path(&hurt, 4).is_empty());
}

#[test]
fn only_who_leans_on_it_over_unhealthy_nodes_is_affected() {
    let statuses = [Down, Degraded, Healthy, Degraded, Unknown, Down];
    // The fourth leans on it through the third, which is well: it has another cause.
    let leans = [(1, 0), (2, 0), (3, 2), (4, 0), (5, 1)];
    let snapshot = arrows(&statuses, &leans).snapshot();
    let affected = radius::affected(&snapshot, &[0], usize::MAX);
    let told: Vec<_> = affected.iter().map(|one| (one.place, one.distance, one.via)).collect();
    assert_eq!(told, [(1, 1, 0), (5, 2, 1)]);
    let found = causes::find(&snapshot);
    let counts: Vec<_> = found.roots.iter().map(|root| (root.hurts, root.affected)).collect();
    assert_eq!(counts, [(5, 2), (0, 0)]);
    assert_eq!(radius::affected(&snapshot, &[0], 1).len(), 1);
}

#[test]
fn the_radius_of_a_circle_is_the_circle() {
    let snapshot = arrows(&[Healthy; 3], &[(0, 1), (1, 2), (2, 0)]).snapshot();
    let hurt = radius::of(&snapshot, 0);
    assert_eq!(hurt.iter().map(|one| one.place).collect::<Vec<_>>(), [2, 1]);
    let components = components::find(&snapshot);
    assert_eq!(components::cycles(&components), [&[0, 1, 2]]);
}
