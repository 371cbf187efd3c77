//! Makes what people get of a [`Picture`].

use std::cmp::Reverse;
use std::collections::HashSet;

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
/// The most root causes that are listed.
pub const MOST_CAUSES: usize = 20_000;
/// The most nodes of a root cause or a cycle that are named.
pub const MOST_MEMBERS: usize = 20;
/// The most cycles that are listed.
pub const MOST_CYCLES: usize = 100;
/// The most services of a blast radius that are listed.
pub const MOST_HURT: usize = 10_000;

/// What stands before the key of a thing that is no service.
const EXTERNAL: &str = "external:";

/// The most that is shown of a graph.
#[derive(Debug, Clone, Copy)]
pub struct Most {
    /// Nodes.
    pub nodes: usize,
    /// Edges.
    pub edges: usize,
}

impl Default for Most {
    fn default() -> Self {
        Self { nodes: MOST_NODES, edges: MOST_EDGES }
    }
}

/// The whole graph.
#[must_use]
pub fn whole(picture: &Picture) -> GraphView {
    whole_within(picture, Most::default())
}

/// The whole graph, without what is left out when there is more: what fails stays, then services.
#[must_use]
pub fn whole_within(picture: &Picture, most: Most) -> GraphView {
    let nodes = picture.snapshot.nodes();
    let mut places: Vec<usize> = (0..nodes.len()).collect();
    let weight = |&place: &usize| {
        let node = picture.snapshot.node(place);
        node.map(|node| (node.status.is_unhealthy(), matches!(node.key, Key::Service(_))))
    };
    keep(&mut places, most.nodes, weight, |&place| place);
    let cycles = components::cycles(&picture.components);
    let listed = cycles.iter().take(MOST_CYCLES).map(|members| cycle(picture, members)).collect();
    let roots: Vec<usize> = (0..picture.causes.roots.len().min(MOST_CAUSES)).collect();
    let is_cut = places.len() < nodes.len()
        || roots.len() < picture.causes.roots.len()
        || cycles.len() > MOST_CYCLES;
    let shown = Shown { places, roots, edges: Edges::Short, most_edges: most.edges, is_cut };
    view(picture, &shown, listed)
}

/// What stands near a node.
#[must_use]
pub fn around(picture: &Picture, place: usize, depth: usize) -> GraphView {
    let found = around::find(&picture.snapshot, place, depth, around::MOST_NODES);
    let own = picture.components.of(place).map(|own| picture.components.members(own));
    let cycles = own.filter(|members| members.len() > 1).map(|members| cycle(picture, members));
    let named = found.places.iter().filter_map(|&place| picture.causes.blame(place));
    let mut roots: Vec<usize> = named.flat_map(|blame| blame.roots.iter().copied()).collect();
    roots.sort_unstable();
    roots.dedup();
    let shown = Shown {
        places: found.places,
        roots,
        edges: Edges::Full,
        most_edges: MOST_EDGES,
        is_cut: found.is_cut,
    };
    view(picture, &shown, cycles.into_iter().collect())
}

/// Whom a node hurts when it fails.
#[must_use]
pub fn impact(picture: &Picture, place: usize) -> Option<GraphImpact> {
    let node = name(picture, place)?;
    let hurt = radius::of(&picture.snapshot, place);
    let affected = affected(picture, place);
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
                affected: affected.contains(&one.place),
                distance: one.distance,
                only_through_others: one.distance > 1,
                via: picture.snapshot.node(one.via).map(id)?,
            })
        })
        .collect();
    let (service_count, affected_count) = (hurt.len(), affected.len());
    Some(GraphImpact { node, services, service_count, affected_count, direct_count })
}

/// Who is unhealthy because of a node; nobody when it is well.
fn affected(picture: &Picture, place: usize) -> HashSet<usize> {
    let node = picture.snapshot.node(place).filter(|node| node.status.is_unhealthy());
    let all = picture.snapshot.nodes().len();
    let found = node.map(|_| radius::affected(&picture.snapshot, &[place], all));
    found.into_iter().flatten().map(|one| one.place).collect()
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
pub(crate) fn external_id(key: &str) -> String {
    format!("{EXTERNAL}{key}")
}

/// How much is told of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edges {
    Short,
    Full,
}

/// What is shown of a picture.
struct Shown {
    /// The nodes, in their order.
    places: Vec<usize>,
    /// The root causes, in their order.
    roots: Vec<usize>,
    edges: Edges,
    most_edges: usize,
    /// Whether something was left out already.
    is_cut: bool,
}

fn view(picture: &Picture, shown: &Shown, cycles: Vec<GraphCycle>) -> GraphView {
    let (edges, are_cut) = edges(picture, shown);
    let roots = shown.roots.iter().filter_map(|&root| picture.causes.roots.get(root));
    let nodes = shown.places.iter().filter_map(|&place| node(picture, place, &shown.roots));
    GraphView {
        at: None,
        records_since: None,
        nodes: nodes.collect(),
        edges,
        root_causes: roots.map(|root| cause(picture, root)).collect(),
        cycles,
        truncated: shown.is_cut || are_cut,
    }
}

/// The edges between the nodes that are shown, and whether some were left out: what fails stays.
fn edges(picture: &Picture, shown: &Shown) -> (Vec<GraphEdge>, bool) {
    let snapshot = &picture.snapshot;
    let mut listed_at: Vec<Option<usize>> = vec![None; snapshot.nodes().len()];
    for (at, &place) in shown.places.iter().enumerate() {
        if let Some(listed_at) = listed_at.get_mut(place) {
            *listed_at = Some(at);
        }
    }
    let at = |place: usize| listed_at.get(place).copied().flatten();
    let outgoing = shown.places.iter().flat_map(|&place| snapshot.edges_of(place));
    let mut all: Vec<(usize, usize, &Edge)> =
        outgoing.filter_map(|edge| Some((at(edge.from)?, at(edge.to)?, edge))).collect();
    let count = all.len();
    keep(
        &mut all,
        shown.most_edges,
        |(_, _, edge)| edge.status.is_unhealthy(),
        |one| (one.0, one.1),
    );
    let are_cut = all.len() < count;
    let listed = all.into_iter();
    (
        listed.map(|(from, to, edge)| self::edge(picture, edge, from, to, shown.edges)).collect(),
        are_cut,
    )
}

/// Keeps the weightiest of what stands in an order, and the order.
fn keep<T, W: Ord, O: Ord>(
    all: &mut Vec<T>,
    most: usize,
    weight: impl Fn(&T) -> W,
    order: impl Fn(&T) -> O,
) {
    if all.len() > most {
        all.sort_by_key(|one| Reverse(weight(one)));
        all.truncate(most);
        all.sort_by_key(order);
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

/// A root cause as it is listed.
pub(crate) fn cause(picture: &Picture, root: &Root) -> GraphRootCause {
    GraphRootCause {
        nodes: names(picture, &root.members),
        node_count: root.members.len(),
        since: root.since,
        hurts: root.hurts,
        affected: root.affected,
        contradicted: root.contradicted,
    }
}

fn cycle(picture: &Picture, members: &[usize]) -> GraphCycle {
    GraphCycle { nodes: names(picture, members), node_count: members.len() }
}

fn names(picture: &Picture, places: &[usize]) -> Vec<GraphNodeName> {
    places.iter().take(MOST_MEMBERS).filter_map(|&place| name(picture, place)).collect()
}

/// A node by name.
pub(crate) fn name(picture: &Picture, place: usize) -> Option<GraphNodeName> {
    let node = picture.snapshot.node(place)?;
    Some(GraphNodeName {
        id: id(node),
        kind: kind(node),
        name: node.name.to_string(),
        status: node.status.into(),
    })
}

/// What names a node outside.
pub(crate) fn id(node: &Node) -> String {
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
