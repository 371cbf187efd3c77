//! The graph at one moment: dense, immutable, in an order that does not depend on how it came about.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use mainstay_base::{Id, Timestamp};

use crate::change::Key;
use crate::dense::Lists;
use crate::graph::{Graph, Reporter};
use crate::status::Status;

/// The most dependencies that an edge names; it counts all of them.
pub const MOST_NAMED: usize = 8;

/// The graph at one moment. A node is named by its place in [`Snapshot::nodes`].
#[derive(Debug, Clone)]
pub struct Snapshot {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    ids: Vec<Id>,
    /// What each node leans on, in the order of the edges.
    outgoing: Lists,
    /// Who leans on each node.
    incoming: Lists,
    version: u64,
    topology: u64,
}

/// A service, or a thing that services lean on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// What names it.
    pub key: Key,
    /// The id of a service.
    pub id: Option<Id>,
    /// How it is called.
    pub name: Arc<str>,
    /// How it is.
    pub status: Status,
    /// Since when it has this status. An external thing is degraded or down since the first of those who
    /// say just that now; anything else it is since the last who says so.
    pub since: Option<Timestamp>,
    /// Since when it fails without a break, however badly: an external thing since the first of those did
    /// who find it failing now. `None` while it does not.
    pub failing_since: Option<Timestamp>,
}

/// What one service says of one node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// The service that leans on `to`.
    pub from: usize,
    /// What it leans on.
    pub to: usize,
    /// What the service says of it.
    pub status: Status,
    /// Since when.
    pub since: Option<Timestamp>,
    /// Since when the service says without a break that it fails, however badly.
    pub failing_since: Option<Timestamp>,
    /// Whether the service does not report it any more.
    pub missing: bool,
    /// How many dependencies of the service stand behind it.
    pub count: usize,
    /// Whether it says the opposite of what its end is: failing while that is healthy, or healthy
    /// while that is down.
    pub contradicts: bool,
    ids: (usize, usize),
}

impl Snapshot {
    pub(crate) fn of(graph: &Graph) -> Self {
        let mut snapshot = Self {
            nodes: nodes_of(graph),
            edges: Vec::with_capacity(graph.edges()),
            ids: Vec::new(),
            outgoing: Lists::default(),
            incoming: Lists::default(),
            version: graph.version(),
            topology: graph.topology(),
        };
        let index = Index::of(graph);
        for (from, reporter) in graph.reporters().values().enumerate() {
            snapshot.add_edges(from, reporter, &index);
        }
        let len = snapshot.nodes.len();
        let edges = snapshot.edges.iter();
        snapshot.outgoing = Lists::new(len, edges.clone().map(|edge| (edge.from, edge.to)));
        snapshot.incoming = Lists::new(len, edges.map(|edge| (edge.to, edge.from)));
        snapshot.date_externals();
        snapshot.date_failing_externals();
        snapshot
    }

    /// Every node: services by number, then external things by key.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Every edge, in the order of the nodes.
    #[must_use]
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// A node by its place.
    #[must_use]
    pub fn node(&self, place: usize) -> Option<&Node> {
        self.nodes.get(place)
    }

    /// The place of the node with this key.
    #[must_use]
    pub fn place(&self, key: &Key) -> Option<usize> {
        self.nodes.binary_search_by(|node| node.key.cmp(key)).ok()
    }

    /// The place of the service with this id.
    #[must_use]
    pub fn place_of(&self, id: Id) -> Option<usize> {
        self.nodes.iter().position(|node| node.id == Some(id))
    }

    /// What a node leans on.
    #[must_use]
    pub fn leans_on(&self, place: usize) -> &[usize] {
        self.outgoing.of(place)
    }

    /// Who leans on a node.
    #[must_use]
    pub fn leaned_on_by(&self, place: usize) -> &[usize] {
        self.incoming.of(place)
    }

    /// The edges that begin at a node.
    #[must_use]
    pub fn edges_of(&self, place: usize) -> &[Edge] {
        self.edges.get(self.outgoing.range(place)).unwrap_or_default()
    }

    /// The edges that end at a node, in the order of who says so.
    pub fn edges_to(&self, place: usize) -> impl Iterator<Item = &Edge> {
        self.leaned_on_by(place).iter().filter_map(move |&from| {
            // The edges of a node are in the order of their ends.
            let edges = self.edges_of(from);
            let found = edges.binary_search_by_key(&place, |edge| edge.to).ok()?;
            edges.get(found)
        })
    }

    /// The ids of the first dependencies behind an edge, at most [`MOST_NAMED`].
    #[must_use]
    pub fn dependencies(&self, edge: &Edge) -> &[Id] {
        self.ids.get(edge.ids.0..edge.ids.1).unwrap_or_default()
    }

    /// The version of the graph that it was taken of.
    #[must_use]
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// The version of nodes and edges that it was taken of.
    #[must_use]
    pub const fn topology(&self) -> u64 {
        self.topology
    }

    pub(crate) const fn outgoing(&self) -> &Lists {
        &self.outgoing
    }

    fn add_edges(&mut self, from: usize, reporter: &Reporter, index: &Index<'_>) {
        let stale_since = reporter.service.stale_since;
        for (target, reports) in &reporter.edges {
            let Some(to) = index.place(target) else { continue };
            let Some(status) = reports.said(stale_since.is_some()) else { continue };
            let first = self.ids.len();
            let (mut since, mut failing_since) = (Since::of(status), None);
            for (at, number) in reports.dependencies.iter().enumerate() {
                let Some(held) = reporter.dependencies.get(number) else { continue };
                if at < MOST_NAMED {
                    self.ids.push(held.dependency.id);
                }
                if stale_since.is_some() || held.dependency.said() == status {
                    since.add(held.dependency.said_since(stale_since));
                }
                if status.is_unhealthy() {
                    failing_since = earlier(failing_since, held.dependency.fails_since());
                }
            }
            let is = self.nodes.get(to).map_or(Status::Unknown, |node| node.status);
            self.edges.push(Edge {
                from,
                to,
                status,
                since: since.found,
                failing_since,
                missing: reports.are_missing(),
                count: reports.dependencies.len(),
                contradicts: contradicts(status, is),
                ids: (first, self.ids.len()),
            });
        }
    }

    fn date_externals(&mut self) {
        let mut dates: Vec<Since> = self.nodes.iter().map(|node| Since::of(node.status)).collect();
        for edge in &self.edges {
            let Some(date) = dates.get_mut(edge.to) else { continue };
            if date.status == edge.status {
                edge.since.into_iter().for_each(|since| date.add(since));
            }
        }
        for (node, date) in self.nodes.iter_mut().zip(dates) {
            if matches!(node.key, Key::External(_)) {
                node.since = date.found;
            }
        }
    }

    fn date_failing_externals(&mut self) {
        for edge in &self.edges {
            let Some(node) = self.nodes.get_mut(edge.to) else { continue };
            if matches!(node.key, Key::External(_)) && node.status.is_unhealthy() {
                node.failing_since = earlier(node.failing_since, edge.failing_since);
            }
        }
    }
}

/// The first of both.
fn earlier(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    [one, other].into_iter().flatten().min()
}

/// The places of nodes while edges are added: a search for each would take longer than all the rest.
struct Index<'a> {
    services: HashMap<i64, usize>,
    externals: HashMap<&'a str, usize>,
}

impl<'a> Index<'a> {
    fn of(graph: &'a Graph) -> Self {
        let services: HashMap<i64, usize> = graph.reporters().keys().copied().zip(0..).collect();
        let externals = graph.externals().keys().map(|key| &**key).zip(services.len()..).collect();
        Self { services, externals }
    }

    fn place(&self, key: &Key) -> Option<usize> {
        match key {
            Key::Service(number) => self.services.get(number).copied(),
            Key::External(key) => self.externals.get(&**key).copied(),
        }
    }
}

/// Since when something has a status, by many who say so: the first of them when it is unhealthy, so
/// that it is not younger than what it caused; else the last, so that it is not older than it is.
#[derive(Debug, Clone, Copy)]
struct Since {
    status: Status,
    found: Option<Timestamp>,
}

impl Since {
    const fn of(status: Status) -> Self {
        Self { status, found: None }
    }

    fn add(&mut self, since: Timestamp) {
        let found = self.found.unwrap_or(since);
        let by_status =
            if self.status.is_unhealthy() { found.min(since) } else { found.max(since) };
        self.found = Some(by_status);
    }
}

/// Whether what is said of a node is the opposite of what it is. A degraded one answers: that others
/// find it healthy is no contradiction.
const fn contradicts(said: Status, is: Status) -> bool {
    match is {
        Status::Healthy => said.is_unhealthy(),
        Status::Down => matches!(said, Status::Healthy),
        Status::Degraded | Status::Unknown | Status::Skipped => false,
    }
}

fn nodes_of(graph: &Graph) -> Vec<Node> {
    let services = graph.reporters().iter().map(|(&number, reporter)| Node {
        key: Key::Service(number),
        id: Some(reporter.service.id),
        name: Arc::clone(&reporter.service.name),
        status: reporter.service.status,
        since: Some(reporter.service.since),
        failing_since: reporter.service.fails_since(),
    });
    let externals = graph.externals().iter().map(|(key, external)| Node {
        key: Key::External(Arc::clone(key)),
        id: None,
        name: Arc::clone(external.name().unwrap_or(key)),
        status: external.status(),
        since: None,
        failing_since: None,
    });
    services.chain(externals).collect()
}

/// The places of the nodes that are services.
#[must_use]
pub(crate) fn services(snapshot: &Snapshot) -> Range<usize> {
    let is_service = |node: &Node| matches!(node.key, Key::Service(_));
    0..snapshot.nodes.partition_point(is_service)
}
