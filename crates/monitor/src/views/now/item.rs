//! What people get.

use mainstay_base::{Id, Timestamp};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::graph::view::GraphNodeName;
use crate::report::DependencyStatus;

/// What is broken, and how many are how.
#[derive(Debug, Serialize, ToSchema)]
pub struct Now {
    /// How many are how.
    pub counts: NowCounts,
    /// What everything else is broken because of: the one that hurts most services first.
    pub items: Vec<NowCause>,
    /// Whether there are more than are listed.
    pub is_cut: bool,
}

/// How many are how. Services that are switched off count as inactive, and as nothing else.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct NowCounts {
    /// What fails by itself: services, external things, and circles of them that fail together.
    pub root_causes: usize,
    /// How many of the root causes have a service among them.
    pub root_services: usize,
    /// Services that are degraded or down because of something that they lean on.
    pub affected: usize,
    /// Services that are well.
    pub healthy: usize,
    /// Services of which nobody knows.
    pub unknown: usize,
    /// Services that are switched off.
    pub inactive: usize,
    /// All services.
    pub services: usize,
}

/// Something that fails by itself, or a circle of nodes that fail together.
#[derive(Debug, Serialize, ToSchema)]
pub struct NowCause {
    /// The first of its nodes.
    pub nodes: Vec<GraphNodeName>,
    /// How many nodes it has.
    pub node_count: usize,
    /// The worst that one of them is.
    pub status: DependencyStatus,
    /// Since when the first of them fails without a break, whether degraded or down.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub since: Option<Timestamp>,
    /// Since when the first of them is as bad as `status`: later than `since` where it was degraded before
    /// it went down.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub status_since: Option<Timestamp>,
    /// How many other services lean on it, however far.
    pub hurts: usize,
    /// How many of them are degraded or down because of it.
    pub affected: usize,
    /// Whether somebody says the opposite of how it is, or it says so of somebody.
    pub contradicted: bool,
    /// What is wrong, in the words of the last poll of the service, or else of the newest of those who
    /// find it failing.
    #[schema(required)]
    pub error_message: Option<String>,
    /// What breaks without it, as those say who find it failing, or else who lean on it.
    #[schema(required)]
    pub impact: Option<String>,
    /// Whom to ask, as those say who find it failing, or else who lean on it.
    #[schema(value_type = Option<Object>, required)]
    pub contact: Option<Value>,
    /// What it is for, as those say who find it failing, or else who lean on it.
    #[schema(required)]
    pub description: Option<String>,
    /// The team of the first service among its nodes that has one: whom to ask where nobody says.
    #[schema(required)]
    pub team: Option<String>,
    /// Who says the opposite of how it is, and of whom it says so; up to five.
    pub disputes: Vec<NowDispute>,
    /// Who finds it failing, the worst first, up to five.
    pub reported_by: Vec<NowReporter>,
    /// How many services find it failing.
    pub reporter_count: usize,
    /// The services that lean on it, up to twelve: first who is affected, and the nearest first.
    pub hurt: Vec<NowHurt>,
    /// The services to poll to know more: itself, or who finds it failing; up to five.
    #[schema(value_type = Vec<String>)]
    pub service_ids: Vec<Id>,
}

/// A service that finds something failing.
#[derive(Debug, Serialize, ToSchema)]
pub struct NowReporter {
    /// The service.
    #[schema(value_type = String)]
    pub service_id: Id,
    /// Its name.
    pub service_name: String,
    /// The dependency that it reports.
    #[schema(value_type = String)]
    pub dependency_id: Id,
    /// What it says of it.
    pub status: DependencyStatus,
}

/// A service that says the opposite of how something is: that it fails while it is healthy, or that it
/// is healthy while it is down.
#[derive(Debug, Serialize, ToSchema)]
pub struct NowDispute {
    /// The service.
    pub by: GraphNodeName,
    /// What it speaks of.
    pub of: GraphNodeName,
    /// What it says of it.
    pub says: DependencyStatus,
}

/// A service that leans on what fails.
#[derive(Debug, Serialize, ToSchema)]
pub struct NowHurt {
    /// The service.
    pub id: String,
    /// Its name.
    pub name: String,
    /// How it is now.
    pub status: DependencyStatus,
    /// Whether it is degraded or down because of what fails.
    pub affected: bool,
    /// Over how many edges it leans on what fails.
    pub distance: usize,
    /// The next node on a shortest way to what fails, as in `nodes` or `hurt`.
    pub via: String,
}
