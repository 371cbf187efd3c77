//! A dependency as it is shown.

use mainstay_base::{Id, Timestamp};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::report::DependencyStatus;

/// One thing that a service says it leans on.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Dependency {
    /// Its id.
    #[schema(value_type = String)]
    pub id: Id,
    /// The service that leans on it.
    #[schema(value_type = String)]
    pub service_id: Id,
    /// Its name, as the service reports it.
    #[schema(example = "orders-db")]
    pub name: String,
    /// Its name by the aliases.
    #[schema(example = "Orders database")]
    pub canonical_name: String,
    /// What kind of thing it is.
    #[serde(rename = "type")]
    #[schema(example = "database")]
    pub kind: String,
    /// What it is for.
    #[schema(required)]
    pub description: Option<String>,
    /// What breaks without it.
    #[schema(required)]
    pub impact: Option<String>,
    /// Whom to ask.
    #[schema(value_type = Option<Object>, required)]
    pub contact: Option<Value>,
    /// What was checked.
    #[schema(value_type = Option<Object>, required)]
    pub check_details: Option<Value>,
    /// What its service last said of it.
    pub healthy: bool,
    /// How bad its service last said it is: 0 fine, 1 degraded, 2 down.
    pub state: i64,
    /// The status code of the check.
    #[schema(example = 200)]
    pub code: i64,
    /// How long the check took, when its service last said so.
    #[schema(required)]
    pub latency_ms: Option<f64>,
    /// Whether its service leaves it out of its judgement.
    pub skipped: bool,
    /// What went wrong, as its service tells it: any JSON.
    #[schema(required)]
    pub error: Option<Value>,
    /// What went wrong, in words.
    #[schema(required)]
    pub error_message: Option<String>,
    /// How it is: `unknown` while its service can't be polled or does not report it any more.
    pub status: DependencyStatus,
    /// Since when.
    #[schema(value_type = String, format = DateTime)]
    pub status_since: Timestamp,
    /// Since when it is degraded or down without a break, whichever of the two; `null` while it is neither.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub failing_since: Option<Timestamp>,
    /// When its service last reported it; `null` when it does not any more.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub last_seen_at: Option<Timestamp>,
    /// Since when its service does not report it any more.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub missing_since: Option<Timestamp>,
    /// The service that it is, if somebody said so.
    #[schema(value_type = Option<String>, required)]
    pub linked_service_id: Option<Id>,
}
