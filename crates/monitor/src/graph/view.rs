//! What people get of the graph. Edges and root causes name nodes by their place in the list: a graph
//! of thousands is short that way.

use mainstay_base::{Id, Timestamp};
use mainstay_graph::Status;
use serde::Serialize;
use utoipa::ToSchema;

use crate::report::DependencyStatus;

/// What leans on what, how it is, and because of what.
#[derive(Debug, Serialize, ToSchema)]
pub struct GraphView {
    /// The moment of the past that was asked for; `null` for now.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub at: Option<Timestamp>,
    /// Since when there are records of the past; `null` when there are none, and for now. A moment before
    /// has no nodes: nobody knows how it was.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub records_since: Option<Timestamp>,
    /// Services and the external things that they lean on.
    pub nodes: Vec<GraphNode>,
    /// Who leans on what.
    pub edges: Vec<GraphEdge>,
    /// What everything else is broken because of: the one that hurts most services first.
    pub root_causes: Vec<GraphRootCause>,
    /// Nodes that lean on each other in a circle.
    pub cycles: Vec<GraphCycle>,
    /// Whether there is more than is shown: what fails is left out last.
    pub truncated: bool,
}

/// A service, or a thing that services lean on.
#[derive(Debug, Serialize, ToSchema)]
pub struct GraphNode {
    /// The id of a service, or `external:` with the key of a thing.
    #[schema(example = "external:orders database")]
    pub id: String,
    /// Which of the two it is.
    pub kind: GraphNodeKind,
    /// How it is called.
    #[schema(example = "Orders database")]
    pub name: String,
    /// How it is: of a thing, the worst that is known of it.
    pub status: DependencyStatus,
    /// Since when it is so.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub since: Option<Timestamp>,
    /// The slot in its layer.
    pub x: i32,
    /// The layer: edges point to a greater one, except within a cycle.
    pub y: i32,
    /// The first of its root causes, as places in `root_causes`; empty when it is not unhealthy.
    pub root_causes: Vec<usize>,
    /// How many root causes it has.
    pub root_cause_count: usize,
}

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum GraphNodeKind {
    /// A service that is watched.
    Service,
    /// A thing that services lean on.
    External,
}

/// What one service says of one node.
#[derive(Debug, Serialize, ToSchema)]
pub struct GraphEdge {
    /// The service, as a place in `nodes`.
    pub from: usize,
    /// What it leans on, as a place in `nodes`.
    pub to: usize,
    /// What the service says of it.
    pub status: DependencyStatus,
    /// Whether the service does not report it any more.
    #[serde(skip_serializing_if = "is_false")]
    #[schema(required = false)]
    pub missing: bool,
    /// Whether it says the opposite of what the node is; left out when it does not.
    #[serde(skip_serializing_if = "is_false")]
    #[schema(required = false)]
    pub contradicts: bool,
    /// How many dependencies of the service stand behind it; left out when it is one.
    #[serde(skip_serializing_if = "is_one")]
    #[schema(required = false)]
    pub count: usize,
    /// The first of them; only when one service is asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>, required = false)]
    pub dependency_ids: Vec<Id>,
}

/// Something that fails by itself, or a circle of nodes that fail together.
#[derive(Debug, Serialize, ToSchema)]
pub struct GraphRootCause {
    /// The first of its nodes.
    pub nodes: Vec<GraphNodeName>,
    /// How many nodes it has.
    pub node_count: usize,
    /// Since when the first of them fails: a thing since the first of those who find it failing now did
    /// so; a service since when it is as it is, so one that was degraded and went down counts from then.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub since: Option<Timestamp>,
    /// How many other services lean on it, however far.
    pub hurts: usize,
    /// How many of them are degraded or down because of it.
    pub affected: usize,
    /// Whether somebody says the opposite of how it is, or it says so of somebody.
    pub contradicted: bool,
}

/// Nodes that lean on each other in a circle.
#[derive(Debug, Serialize, ToSchema)]
pub struct GraphCycle {
    /// The first of its nodes.
    pub nodes: Vec<GraphNodeName>,
    /// How many nodes it has.
    pub node_count: usize,
}

/// A node by name.
#[derive(Debug, Serialize, ToSchema)]
pub struct GraphNodeName {
    /// As in `nodes`.
    pub id: String,
    /// Whether it is a service.
    pub kind: GraphNodeKind,
    /// How it is called.
    pub name: String,
    /// How it is.
    pub status: DependencyStatus,
}

/// Whom a node hurts when it fails.
#[derive(Debug, Serialize, ToSchema)]
pub struct GraphImpact {
    /// The node.
    pub node: GraphNodeName,
    /// The services that lean on it, however far, the nearest first.
    pub services: Vec<GraphHurt>,
    /// How many there are.
    pub service_count: usize,
    /// How many of them are degraded or down because of it.
    pub affected_count: usize,
    /// How many of them lean on it themselves. The others have it only through these.
    pub direct_count: usize,
}

/// A service that leans on a node.
#[derive(Debug, Serialize, ToSchema)]
pub struct GraphHurt {
    /// The service.
    pub id: String,
    /// How it is called.
    pub name: String,
    /// How it is now.
    pub status: DependencyStatus,
    /// Whether it is degraded or down because of the node.
    pub affected: bool,
    /// Over how many edges it leans on the node.
    pub distance: usize,
    /// Whether it leans on it only through others.
    pub only_through_others: bool,
    /// The next node on a shortest way to it.
    pub via: String,
}

const fn is_false(value: &bool) -> bool {
    !*value
}

const fn is_one(value: &usize) -> bool {
    *value == 1
}

impl From<Status> for DependencyStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Healthy => Self::Healthy,
            Status::Degraded => Self::Degraded,
            Status::Down => Self::Down,
            Status::Unknown => Self::Unknown,
            Status::Skipped => Self::Skipped,
        }
    }
}
