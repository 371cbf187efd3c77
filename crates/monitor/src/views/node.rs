//! What is known of one node of the graph: how it is, because of what, whom it hurts, and what everybody
//! says of it who reports it. Pure; the handle reads the reports.

use std::cmp::Reverse;
use std::collections::HashMap;

use mainstay_base::{Id, Timestamp};
use mainstay_graph::{Edge, radius};
use serde::Serialize;
use utoipa::ToSchema;

use super::dependency::Dependency;
use super::now::{NowHurt, hurt};
use crate::graph::Picture;
use crate::graph::show;
use crate::graph::view::{GraphNodeName, GraphRootCause};

/// The most reports of one node that are read.
pub const MOST_REPORTS: usize = 50;

/// What is known of a service or of a thing that services lean on.
#[derive(Debug, Serialize, ToSchema)]
pub struct NodeDetail {
    /// The node.
    pub node: GraphNodeName,
    /// Since when it is as it is.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub since: Option<Timestamp>,
    /// Since when it is degraded or down without a break, whichever of the two; `null` while it is neither.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub failing_since: Option<Timestamp>,
    /// The root cause that it is, alone or with others; `null` when it is none.
    #[schema(required)]
    pub root_cause: Option<GraphRootCause>,
    /// How many services lean on it, however far.
    pub hurts: usize,
    /// How many of them are degraded or down because of it.
    pub affected: usize,
    /// Those services, up to twelve: first who is affected, and the nearest first.
    pub hurt: Vec<NowHurt>,
    /// What each says who reports it, the worst first, up to fifty.
    pub reports: Vec<NodeReport>,
    /// How many reports there are.
    pub report_count: usize,
}

/// What a service says of a node.
#[derive(Debug, Serialize, ToSchema)]
pub struct NodeReport {
    /// The name of the service.
    pub service_name: String,
    /// What it reports.
    pub dependency: Dependency,
}

/// What the graph tells, and which reports to read.
#[derive(Debug)]
pub(super) struct Sketch {
    pub(super) detail: NodeDetail,
    /// The dependencies with the names of their services, the worst first.
    pub(super) reports: Vec<(Id, String)>,
}

/// The node at a place, if there is one.
pub(super) fn sketch(picture: &Picture, place: usize) -> Option<Sketch> {
    let snapshot = &picture.snapshot;
    let node = snapshot.node(place)?;
    let root = picture.causes.roots.iter().find(|root| root.members.contains(&place));
    let affected = match node.status.is_unhealthy() {
        true => radius::affected(snapshot, &[place], snapshot.nodes().len()).len(),
        false => 0,
    };
    let (reports, report_count) = reports(picture, place);
    let detail = NodeDetail {
        node: show::name(picture, place)?,
        since: node.since,
        failing_since: node.failing_since,
        root_cause: root.map(|root| show::cause(picture, root)),
        hurts: radius::of(snapshot, place).len(),
        affected,
        hurt: hurt(picture, &[place]),
        reports: Vec::new(),
        report_count,
    };
    Some(Sketch { detail, reports })
}

impl Sketch {
    /// The dependencies to read.
    pub(super) fn dependencies(&self) -> Vec<String> {
        self.reports.iter().map(|(id, _)| id.to_string()).collect()
    }

    /// The whole, with the reports that were read, in their order. One that is gone by now is left out.
    pub(super) fn fill(self, read: Vec<Dependency>) -> NodeDetail {
        let mut read: HashMap<Id, Dependency> = read.into_iter().map(|one| (one.id, one)).collect();
        let reports = self.reports.into_iter().filter_map(|(id, service_name)| {
            Some(NodeReport { service_name, dependency: read.remove(&id)? })
        });
        NodeDetail { reports: reports.collect(), ..self.detail }
    }
}

fn reports(picture: &Picture, place: usize) -> (Vec<(Id, String)>, usize) {
    let snapshot = &picture.snapshot;
    let mut heard: Vec<&Edge> = snapshot.edges_to(place).collect();
    let count = heard.iter().fold(0_usize, |count, edge| count.saturating_add(edge.count));
    heard.sort_by_key(|edge| (Reverse(edge.status), edge.since, edge.from));
    let of = |edge: &&Edge| {
        let name = snapshot.node(edge.from).map(|node| node.name.to_string()).unwrap_or_default();
        let ids = snapshot.dependencies(edge).iter();
        ids.map(|id| (*id, name.clone())).collect::<Vec<_>>()
    };
    (heard.iter().flat_map(of).take(MOST_REPORTS).collect(), count)
}
