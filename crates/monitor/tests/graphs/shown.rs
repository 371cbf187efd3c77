//! What is left out of a graph that is too large to show.

use mainstay_base::{Id, Timestamp};
use mainstay_graph::{Change, Dependency, Graph, Places, Service, Status};
use mainstay_monitor::graph::Picture;
use mainstay_monitor::graph::show::{self, Most};
use mainstay_monitor::graph::view::GraphView;

fn id(number: i64) -> Id {
    format!("019a8b3c-0000-7000-8000-{number:012x}").parse().unwrap()
}

/// `Shop` leans on things from a to z, of which only `z` is down.
fn picture() -> Picture {
    let mut graph = Graph::default();
    graph.apply(Change::Service(Service {
        number: 1,
        id: id(1),
        name: "Shop".into(),
        host: None,
        status: Status::Degraded,
        since: Timestamp::from_millis(1),
        failing_since: None,
        stale_since: None,
    }));
    let dependencies = ('a'..='z').zip(100..).map(|(name, number)| Dependency {
        number,
        id: id(number),
        name: name.to_string().into(),
        status: if name == 'z' { Status::Down } else { Status::Healthy },
        since: Timestamp::from_millis(number),
        failing_since: None,
        missing_since: None,
        linked: None,
        hosts: Box::default(),
    });
    graph.apply(Change::Dependencies { service: 1, dependencies: dependencies.collect() });
    Picture::of(&graph, &Places::new())
}

fn told(view: &GraphView) -> (Vec<&str>, Vec<&str>, Vec<&str>, bool) {
    let name = |place: usize| view.nodes[place].name.as_str();
    let nodes = view.nodes.iter().map(|node| node.name.as_str()).collect();
    let ends = view.edges.iter().map(|edge| name(edge.to)).collect();
    let causes = view.root_causes.iter().map(|cause| cause.nodes[0].name.as_str()).collect();
    (nodes, ends, causes, view.truncated)
}

#[test]
fn what_fails_is_left_out_last() {
    let picture = picture();
    for (nodes, edges, expected) in [
        (4, 9, (&["Shop", "a", "b", "z"] as &[_], &["a", "b", "z"] as &[_], true)),
        (4, 2, (&["Shop", "a", "b", "z"], &["a", "z"], true)),
        (2, 9, (&["Shop", "z"], &["z"], true)),
        (1, 9, (&["Shop"], &[], true)),
    ] {
        let view = show::whole_within(&picture, Most { nodes, edges });
        let (nodes, ends, causes, truncated) = told(&view);
        assert_eq!((&*nodes, &*ends, truncated), expected);
        // The cause is named, whether or not its node is shown.
        assert_eq!(causes, ["z"]);
        assert_eq!(view.nodes[0].root_causes, [0]);
    }
    let view = show::whole(&picture);
    assert_eq!((view.nodes.len(), view.edges.len(), view.truncated), (27, 26, false));
}
