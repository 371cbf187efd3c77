//! Makes what people get of a [`Picture`].

use std::collections::BTreeMap;

use mainstay_graph::{Edge, Key, Node, Place, Root, around, components, radius};

use super::picture::Picture;
use super::view::{
    GraphCycle, GraphEdge, GraphHurt, GraphImpact, GraphNode, GraphNodeKind, GraphNodeName,
    GraphRootCause, GraphView,
};

/// The most nodes that are shown.
pub const MOST_NODES: usize = 20_000;
/// The most edges that are shown.
pub const MOST_EDGES: usize = 200_000;
/// The most nodes of a root cause or a cycle that are named.
pub const MOST_MEMBERS: usize = 20;
/// The most cycles that are listed.
pub const MOST_CYCLES: usize = 100;
/// The most services of a blast radius that are listed.
pub const MOST_HURT: usize = 10_000;

/// What stands before the key of a thing that is no service.
const EXTERNAL: &str = "external:";

/// The whole graph.
#[must_use]
pub fn whole(picture: &Picture) -> GraphView {
    let count = picture.snapshot.nodes().len();
    let places: Vec<usize> = (0..count.min(MOST_NODES)).collect();
    let cycles = components::cycles(&picture.components);
    let listed = cycles.iter().take(MOST_CYCLES).map(|members| cycle(picture, members)).collect();
    let is_cut = count > MOST_NODES || cycles.len() > MOST_CYCLES;
    view(picture, &places, Edges::Short, listed, is_cut)
}

/// What stands near a node.
#[must_use]
pub fn around(picture: &Picture, place: usize, depth: usize) -> GraphView {
    let found = around::find(&picture.snapshot, place, depth, around::MOST_NODES);
    let own = picture.components.of(place).map(|own| picture.components.members(own));
    let cycles = own.filter(|members| members.len() > 1).map(|members| cycle(picture, members));
    view(picture, &found.places, Edges::Full, cycles.into_iter().collect(), found.is_cut)
}

/// Whom a node hurts when it fails.
#[must_use]
pub fn impact(picture: &Picture, place: usize) -> Option<GraphImpact> {
    let node = name(picture, place)?;
    let hurt = radius::of(&picture.snapshot, place);
    let direct_count = hurt.iter().filter(|one| one.distance == 1).count();
    let services = hurt
        .iter()
        .take(MOST_HURT)
        .filter_map(|one| {
            let service = picture.snapshot.node(one.place)?;
            Some(GraphHurt {
                id: id(service),
                name: service.name.to_string(),
                status: service.status.into(),
                distance: one.distance,
                only_through_others: one.distance > 1,
                via: picture.snapshot.node(one.via).map(id)?,
            })
        })
        .collect();
    Some(GraphImpact { node, services, service_count: hurt.len(), direct_count })
}

/// The place of the node that is named so.
#[must_use]
pub fn find(picture: &Picture, node: &str) -> Option<usize> {
    match node.strip_prefix(EXTERNAL) {
        Some(key) => picture.snapshot.place(&Key::External(key.into())),
        None => picture.snapshot.place_of(node.parse().ok()?),
    }
}

/// The id of the node of a thing.
pub(super) fn external_id(key: &str) -> String {
    format!("{EXTERNAL}{key}")
}

/// How much is told of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edges {
    Short,
    Full,
}

fn view(
    picture: &Picture,
    places: &[usize],
    edges: Edges,
    cycles: Vec<GraphCycle>,
    is_cut: bool,
) -> GraphView {
    let snapshot = &picture.snapshot;
    let shown: BTreeMap<usize, usize> =
        places.iter().enumerate().map(|(at, &place)| (place, at)).collect();
    let named = places.iter().filter_map(|&place| picture.causes.blame(place));
    let mut roots: Vec<usize> = named.flat_map(|blame| blame.roots.iter().copied()).collect();
    roots.sort_unstable();
    roots.dedup();
    let mut all = places
        .iter()
        .flat_map(|&place| snapshot.edges_of(place))
        .filter_map(|edge| Some((edge, *shown.get(&edge.from)?, *shown.get(&edge.to)?)));
    let listed = all.by_ref().take(MOST_EDGES);
    let listed: Vec<GraphEdge> =
        listed.map(|(edge, from, to)| self::edge(picture, edge, from, to, edges)).collect();
    let truncated = is_cut || all.next().is_some();
    GraphView {
        at: None,
        records_since: None,
        nodes: places.iter().filter_map(|&place| node(picture, place, &roots)).collect(),
        edges: listed,
        root_causes: roots
            .iter()
            .filter_map(|&root| picture.causes.roots.get(root))
            .map(|root| cause(picture, root))
            .collect(),
        cycles,
        truncated,
    }
}

fn node(picture: &Picture, place: usize, roots: &[usize]) -> Option<GraphNode> {
    let node = picture.snapshot.node(place)?;
    let Place { x, y } = picture.places.get(&node.key).copied().unwrap_or_default();
    let blame = picture.causes.blame(place);
    let named = blame.into_iter().flat_map(|blame| &blame.roots);
    Some(GraphNode {
        id: id(node),
        kind: kind(node),
        name: node.name.to_string(),
        status: node.status.into(),
        since: node.since,
        x,
        y,
        root_causes: named.filter_map(|root| roots.binary_search(root).ok()).collect(),
        root_cause_count: blame.map_or(0, |blame| blame.count),
    })
}

fn edge(picture: &Picture, edge: &Edge, from: usize, to: usize, much: Edges) -> GraphEdge {
    let ids = match much {
        Edges::Short => &[],
        Edges::Full => picture.snapshot.dependencies(edge),
    };
    GraphEdge {
        from,
        to,
        status: edge.status.into(),
        missing: edge.missing,
        contradicts: edge.contradicts,
        count: edge.count,
        dependency_ids: ids.to_vec(),
    }
}

fn cause(picture: &Picture, root: &Root) -> GraphRootCause {
    GraphRootCause {
        nodes: names(picture, &root.members),
        node_count: root.members.len(),
        since: root.since,
        hurts: root.hurts,
        contradicted: root.contradicted,
    }
}

fn cycle(picture: &Picture, members: &[usize]) -> GraphCycle {
    GraphCycle { nodes: names(picture, members), node_count: members.len() }
}

fn names(picture: &Picture, places: &[usize]) -> Vec<GraphNodeName> {
    places.iter().take(MOST_MEMBERS).filter_map(|&place| name(picture, place)).collect()
}

fn name(picture: &Picture, place: usize) -> Option<GraphNodeName> {
    let node = picture.snapshot.node(place)?;
    Some(GraphNodeName {
        id: id(node),
        kind: kind(node),
        name: node.name.to_string(),
        status: node.status.into(),
    })
}

fn id(node: &Node) -> String {
    match (&node.key, node.id) {
        (Key::External(key), _) => external_id(key),
        (Key::Service(_), Some(id)) => id.to_string(),
        (Key::Service(number), None) => number.to_string(),
    }
}

const fn kind(node: &Node) -> GraphNodeKind {
    match node.key {
        Key::Service(_) => GraphNodeKind::Service,
        Key::External(_) => GraphNodeKind::External,
    }
}
