//! What was known of one node of the graph at a moment of the past. Pure; the handle reads what was said.

use std::cmp::Reverse;
use std::collections::HashMap;

use mainstay_base::{Id, Timestamp};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::node::{NodeDetail, Sketch, sketch};
use super::now::NowHurt;
use crate::graph::Picture;
use crate::graph::show;
use crate::graph::view::{GraphNodeName, GraphRootCause};
use crate::past::{PastDependency, PastMoment, PastState};
use crate::report::DependencyStatus;

/// The most of what a service leans on that is told as failing.
pub const MOST_SAID: usize = 20;

/// What was known of a service, or of a thing that services leaned on, at a moment.
#[derive(Debug, Serialize, ToSchema)]
pub struct NodeThen {
    /// The moment.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// The node as it was.
    pub node: GraphNodeName,
    /// Since when it was so.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub since: Option<Timestamp>,
    /// Why it could not be polled then, if it is a service and could not.
    #[schema(required)]
    pub error_message: Option<String>,
    /// The root cause that it was, alone or with others; `null` when it was none.
    #[schema(required)]
    pub root_cause: Option<GraphRootCause>,
    /// How many services leaned on it, however far.
    pub hurts: usize,
    /// How many of them were degraded or down because of it.
    pub affected: usize,
    /// Those services, up to twelve: first who was affected, and the nearest first.
    pub hurt: Vec<NowHurt>,
    /// What each said who reported it, the worst first, up to fifty.
    pub reports: Vec<ReportThen>,
    /// How many reports there were.
    pub report_count: usize,
    /// What it said was degraded or down of what it leaned on itself, the worst first, up to twenty; of a
    /// thing nothing is known.
    pub says: Vec<DependencyThen>,
}

/// What a service said of a node.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReportThen {
    /// The service.
    #[schema(value_type = String)]
    pub service_id: Id,
    /// Its name then.
    pub service_name: String,
    /// What it reported.
    pub dependency: DependencyThen,
}

/// A dependency as it was, with what is not recorded as it is now.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DependencyThen {
    /// Its id.
    #[schema(value_type = String)]
    pub id: Id,
    /// Its name, as the service reported it.
    #[schema(example = "orders-db")]
    pub name: String,
    /// Its name by the aliases then.
    #[schema(example = "Orders database")]
    pub canonical_name: String,
    /// How it was: `unknown` while its service could not be polled or did not report it.
    pub status: DependencyStatus,
    /// Since when.
    #[schema(value_type = String, format = DateTime)]
    pub status_since: Timestamp,
    /// Since when its service did not report it.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub missing_since: Option<Timestamp>,
    /// What was wrong then, as its service told it: any JSON.
    #[schema(required)]
    pub error: Option<Value>,
    /// What was wrong then, in words.
    #[schema(required)]
    pub error_message: Option<String>,
    /// What kind of thing it is, as it is now.
    #[serde(rename = "type")]
    #[schema(example = "database")]
    pub kind: String,
    /// What it is for, as it is now.
    #[schema(required)]
    pub description: Option<String>,
    /// What breaks without it, as it is now.
    #[schema(required)]
    pub impact: Option<String>,
    /// Whom to ask, as it is now.
    #[schema(value_type = Option<Object>, required)]
    pub contact: Option<Value>,
}

/// What is read of a dependency beside the state: what was wrong then, and what it is now.
#[derive(Debug, Default)]
pub(super) struct Words {
    pub(super) error: Option<Value>,
    pub(super) error_message: Option<String>,
    pub(super) kind: String,
    pub(super) description: Option<String>,
    pub(super) impact: Option<String>,
    pub(super) contact: Option<Value>,
}

/// What the graph of a moment tells, and what to read of it.
#[derive(Debug)]
pub(super) struct SketchThen {
    at: Timestamp,
    sketch: Sketch,
    /// The number of the service that it is.
    pub(super) service: Option<i64>,
    /// The dependencies behind the reports, by their ids, with their services.
    reported: HashMap<Id, (Id, Fact)>,
    says: Vec<Fact>,
}

/// What the state of a moment holds of a dependency.
#[derive(Debug, Clone)]
struct Fact {
    id: Id,
    name: String,
    canonical_name: String,
    status: DependencyStatus,
    since: Timestamp,
    missing_since: Option<Timestamp>,
}

/// The node of this name at a moment, if there was one.
pub(super) fn sketch_then(
    picture: &Picture,
    moment: &PastMoment,
    node: &str,
) -> Option<SketchThen> {
    let sketch = sketch(picture, show::find(picture, node)?)?;
    let state = &moment.state;
    let own = node.parse::<Id>().ok();
    let service = state.services().find(|(_, one)| Some(one.id) == own).map(|(number, _)| number);
    let wanted: HashMap<Id, ()> = sketch.reports.iter().map(|(id, _)| (*id, ())).collect();
    let (mut reported, mut says) = (HashMap::new(), Vec::new());
    for (_, one) in state.dependencies() {
        if wanted.contains_key(&one.id)
            && let Some(reporter) = state.service(one.service_no)
        {
            reported.insert(one.id, (reporter.id, Fact::of(state, one)));
        }
        if Some(one.service_no) == service && is_failing(state.shown(one)) {
            says.push(Fact::of(state, one));
        }
    }
    says.sort_by_key(|one| (Reverse(is_down(one.status)), one.since, one.id));
    says.truncate(MOST_SAID);
    Some(SketchThen { at: moment.at, sketch, service, reported, says })
}

impl SketchThen {
    /// The dependencies of which words are read.
    pub(super) fn dependencies(&self) -> Vec<String> {
        let ids = self.reported.keys().chain(self.says.iter().map(|one| &one.id));
        ids.map(ToString::to_string).collect()
    }

    /// The whole, with the words that were read. What is forgotten by now has none.
    pub(super) fn fill(
        mut self,
        error_message: Option<String>,
        words: &HashMap<Id, Words>,
    ) -> NodeThen {
        let NodeDetail { node, since, root_cause, hurts, affected, hurt, report_count, .. } =
            self.sketch.detail;
        let reports = self.sketch.reports.into_iter().filter_map(|(id, service_name)| {
            let (service_id, fact) = self.reported.remove(&id)?;
            Some(ReportThen { service_id, service_name, dependency: fact.told(words) })
        });
        NodeThen {
            at: self.at,
            node,
            since,
            error_message,
            root_cause,
            hurts,
            affected,
            hurt,
            reports: reports.collect(),
            report_count,
            says: self.says.into_iter().map(|one| one.told(words)).collect(),
        }
    }
}

impl Fact {
    fn of(state: &PastState, one: &PastDependency) -> Self {
        let stale_since = state.service(one.service_no).and_then(|service| service.stale_since);
        let hidden = [one.missing_since, stale_since].into_iter().flatten().min();
        Self {
            id: one.id,
            name: one.name.clone(),
            canonical_name: one.canonical_name.clone(),
            status: state.shown(one),
            since: hidden.unwrap_or(one.said_since),
            missing_since: one.missing_since,
        }
    }

    fn told(self, words: &HashMap<Id, Words>) -> DependencyThen {
        let none = Words::default();
        let words = words.get(&self.id).unwrap_or(&none);
        DependencyThen {
            id: self.id,
            name: self.name,
            canonical_name: self.canonical_name,
            status: self.status,
            status_since: self.since,
            missing_since: self.missing_since,
            error: words.error.clone(),
            error_message: words.error_message.clone(),
            kind: words.kind.clone(),
            description: words.description.clone(),
            impact: words.impact.clone(),
            contact: words.contact.clone(),
        }
    }
}

const fn is_failing(status: DependencyStatus) -> bool {
    matches!(status, DependencyStatus::Degraded | DependencyStatus::Down)
}

const fn is_down(status: DependencyStatus) -> bool {
    matches!(status, DependencyStatus::Down)
}
