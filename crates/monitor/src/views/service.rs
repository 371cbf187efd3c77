//! A service as it is shown.

use mainstay_base::{Id, Timestamp};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::dependency::Dependency;
use crate::polling::{CircuitState, PollErrorView, ScheduleView};
use crate::shards::PolledBy;
use crate::status::ServiceStatus;

/// A service, and how it is.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Service {
    /// Its id.
    #[schema(value_type = String)]
    pub id: Id,
    /// Its name.
    #[schema(example = "Orders")]
    pub name: String,
    /// Whose it is.
    #[schema(required)]
    pub team: Option<String>,
    /// Where it is asked.
    #[schema(example = "https://orders.example.org/health")]
    pub health_endpoint: String,
    /// How its answer is read: `proactive-deps`, `schema` or `status`.
    #[schema(example = "proactive-deps")]
    pub format: String,
    /// Where in its answer the dependencies stand.
    #[schema(value_type = Option<Object>, required)]
    pub schema_config: Option<Value>,
    /// How often it is asked.
    #[schema(example = 30_000)]
    pub poll_interval_ms: i64,
    /// How long one request may take.
    #[schema(example = 10_000)]
    pub timeout_ms: i64,
    /// The names of further headers; their values are never shown.
    pub header_names: Vec<String>,
    /// Whether it is polled.
    pub is_active: bool,
    /// How it is.
    pub status: ServiceStatus,
    /// Since when.
    #[schema(value_type = String, format = DateTime)]
    pub status_since: Timestamp,
    /// Since when it is degraded or down without a break, whichever of the two; `null` while it is neither.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub failing_since: Option<Timestamp>,
    /// How its last poll went; `null` until there is one.
    #[schema(required)]
    pub last_poll: Option<LastPoll>,
    /// What keeps it from being asked in vain.
    pub breaker: BreakerView,
    /// When it is to be polled next, as it was planned at the last poll.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub next_poll_at: Option<Timestamp>,
    /// How many dependencies have each status.
    pub dependency_counts: DependencyCounts,
    /// What of its last answer could not be read.
    pub poll_warnings: Vec<String>,
    /// When it was added.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When its definition was last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

/// How the last poll went.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct LastPoll {
    /// When it ended.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// Whether the endpoint answered, and its answer could be read.
    pub success: bool,
    /// Why it failed.
    #[schema(required)]
    pub error: Option<PollErrorView>,
    /// How long the request took.
    #[schema(required)]
    pub latency_ms: Option<f64>,
}

/// A breaker as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Breaker)]
pub struct BreakerView {
    /// Its state.
    pub state: CircuitState,
    /// Failures in a row.
    pub failures: i64,
    /// When it lets the next poll through.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub retry_at: Option<Timestamp>,
}

/// How many dependencies have each status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, ToSchema)]
pub struct DependencyCounts {
    /// They work.
    pub healthy: i64,
    /// They work, badly.
    pub degraded: i64,
    /// They do not work.
    pub down: i64,
    /// Nobody knows: the service can't be polled.
    pub unknown: i64,
    /// The service leaves them out of its judgement.
    pub skipped: i64,
}

/// A service with what it leans on.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ServiceDetail {
    /// The service.
    #[serde(flatten)]
    pub service: Service,
    /// What it leans on, by name.
    pub dependencies: Vec<Dependency>,
    /// Why it is polled now or not: as the instance that answers knows it, or else as it was recorded
    /// with the last poll; `null` when it is not active, or nobody has polled it yet.
    #[schema(required)]
    pub schedule: Option<ScheduleView>,
    /// The instance that polls it; `null` when it is not active, or nobody does at the moment.
    #[schema(required)]
    pub polled_by: Option<PolledBy>,
}

impl DependencyCounts {
    /// As many, of none of which anything is known.
    #[must_use]
    pub const fn unknown(self) -> Self {
        let all = self.healthy + self.degraded + self.down + self.unknown + self.skipped;
        Self { healthy: 0, degraded: 0, down: 0, unknown: all, skipped: 0 }
    }
}
