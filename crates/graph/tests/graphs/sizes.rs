//! Graphs as large and as lopsided as they come.

use mainstay_graph::Status::{Down, Healthy};
use mainstay_graph::suggest::{self, Clues, Dismissed};
use mainstay_graph::{Change, Graph, Places, Snapshot, causes, components, layout, radius};

use crate::house::{arrows, dependency, service};

fn drawn(snapshot: &Snapshot) -> Places {
    let places = layout::place(snapshot, &Places::new());
    let distinct: std::collections::BTreeSet<_> = places.values().collect();
    assert_eq!(distinct.len(), snapshot.nodes().len());
    places
}

#[test]
fn five_thousand_in_one_circle() {
    let circle: Vec<_> = (0..5_000).map(|node| (node, (node + 1) % 5_000)).collect();
    let snapshot = arrows(&[Down; 5_000], &circle).snapshot();
    assert_eq!(components::cycles(&components::find(&snapshot)).len(), 1);
    let found = causes::find(&snapshot);
    assert_eq!(
        (found.roots.len(), found.roots[0].members.len(), found.roots[0].hurts),
        (1, 5_000, 0)
    );
    assert_eq!(radius::of(&snapshot, 0).len(), 4_999);
    assert!(drawn(&snapshot).values().all(|place| place.y == 0));
}

#[test]
fn a_hundred_thousand_in_a_chain() {
    let statuses = vec![Down; 100_000];
    let chain: Vec<_> = (1..100_000).map(|node| (node - 1, node)).collect();
    let snapshot = arrows(&statuses, &chain).snapshot();
    let found = causes::find(&snapshot);
    assert_eq!((found.roots.len(), found.roots[0].hurts), (1, 99_999));
    let hurt = radius::of(&snapshot, 99_999);
    assert_eq!(radius::path(&hurt, 0).len(), 100_000);
    assert_eq!(drawn(&snapshot).values().map(|place| place.y).max(), Some(99_999));
}

#[test]
fn five_thousand_lean_on_one_and_one_more_comes() {
    let star: Vec<_> = (1..5_000).map(|node| (node, 0)).collect();
    let mut graph = arrows(&[Down; 5_000], &star);
    let before = drawn(&graph.snapshot());
    assert_eq!(causes::find(&graph.snapshot()).roots[0].hurts, 4_999);
    graph.apply(Change::Service(service(5_001, "s5001", Healthy)));
    graph.apply(Change::Dependency {
        service: 5_001,
        dependency: dependency(99_999, "s1", Healthy),
    });
    let after = layout::place(&graph.snapshot(), &before);
    assert!(before.iter().all(|(key, place)| after[key] == *place));
    // The one is renamed: everybody leans on a thing now.
    graph.apply(Change::Service(service(1, "other", Healthy)));
    assert_eq!((graph.nodes(), graph.edges()), (5_002, 5_000));
    let new = layout::place(&graph.snapshot(), &after);
    assert_eq!(new.len(), 5_002);
}

#[test]
fn many_causes_of_many() {
    // Everybody of the first half leans on a hub, which leans on everybody of the second half.
    let half = 2_000;
    let mut leans: Vec<_> = (1..=half).map(|node| (node, 0)).collect();
    leans.extend((half + 1..=2 * half).map(|node| (0, node)));
    let snapshot = arrows(&vec![Down; 2 * half + 1], &leans).snapshot();
    let found = causes::find(&snapshot);
    assert_eq!(found.roots.len(), half);
    assert!(found.roots.iter().all(|root| root.hurts == half + 1));
    assert_eq!(found.blame(1).unwrap().count, half);
}

#[test]
fn thousands_of_things_and_of_services_with_words_in_common() {
    let mut graph = Graph::default();
    for number in 1..=5_000 {
        graph.apply(Change::Service(service(number, &format!("Team {number} orders"), Healthy)));
        let thing = format!("orders of team {}", (number + 1) % 5_000);
        graph.apply(Change::Dependency {
            service: number,
            dependency: dependency(number, &thing, Healthy),
        });
    }
    assert_eq!(
        suggest::find(&Clues::of(&graph), &Dismissed::new()).len(),
        suggest::MOST_SUGGESTIONS
    );
}
