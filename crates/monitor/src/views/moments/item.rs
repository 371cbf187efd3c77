//! What people get.

use mainstay_base::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::graph::view::GraphNodeKind;
use crate::report::DependencyStatus;

/// The last moments at which something changed.
#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Moments {
    /// The last ten, by `settled_at`, newest first.
    pub items: Vec<Moment>,
    /// Whether so much changed that the oldest of them may have begun earlier than is told, or that there
    /// are more than were looked for.
    pub is_cut: bool,
}

/// What changed by itself within a short time, and what changed because of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Moment {
    /// The number of its first change.
    #[schema(value_type = String, example = "4711")]
    #[serde(serialize_with = "crate::views::activity::as_text")]
    pub id: i64,
    /// When it began.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// When it came to be the last of `path`.
    #[schema(value_type = String, format = DateTime)]
    pub settled_at: Timestamp,
    /// What changed by itself: one, or a circle that changed together. The first of them.
    pub nodes: Vec<MomentNode>,
    /// How many there are.
    pub node_count: usize,
    /// What it was, one after the other, from before the moment to after it: at least two. `null` stands
    /// for what was not known of before.
    #[schema(value_type = Vec<Option<DependencyStatus>>, example = json!(["healthy", "degraded", "down"]))]
    pub path: Vec<Option<DependencyStatus>>,
    /// Who changed because of it, the first five by time.
    pub followers: Vec<String>,
    /// How many changed because of it.
    pub follower_count: usize,
    /// What it failed because of, where that began to fail at another moment and had not ended.
    #[schema(required)]
    pub because: Option<String>,
}

/// A service, or a thing that services lean on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct MomentNode {
    /// The id of a service, or `external:` with the key of a thing.
    #[schema(example = "external:orders database")]
    pub id: String,
    /// Which of the two it is.
    pub kind: GraphNodeKind,
    /// How it is called now.
    #[schema(example = "Orders database")]
    pub name: String,
}
