//! A line of the board.

use mainstay_base::{Id, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::polling::CircuitState;
use crate::status::ServiceStatus;
use crate::views::service::DependencyCounts;

/// The most services of one board; of more, those that come last by name are left out.
pub const MAX_LINES: usize = 50_000;

/// Every service, by name.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Board {
    /// The services.
    pub items: Vec<BoardItem>,
    /// Whether there are more than a board has room for.
    pub is_cut: bool,
}

/// What an unhealthy service has to do with what is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BoardCause {
    /// It fails by itself: it is a root cause, or a part of one.
    Root,
    /// It fails because of something that it leans on.
    Affected,
}

/// A service in one line.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct BoardItem {
    /// Its id.
    #[schema(value_type = String)]
    pub id: Id,
    /// Its name.
    #[schema(example = "Orders")]
    pub name: String,
    /// Whose it is.
    #[schema(required)]
    pub team: Option<String>,
    /// Whether it is polled.
    pub is_active: bool,
    /// How often it is asked.
    #[schema(example = 30_000)]
    pub poll_interval_ms: i64,
    /// How it is.
    pub status: ServiceStatus,
    /// What it has to do with what is broken; `null` when it is not degraded or down, or the graph was not
    /// read yet.
    #[schema(required)]
    pub cause: Option<BoardCause>,
    /// Since when.
    #[schema(value_type = String, format = DateTime)]
    pub status_since: Timestamp,
    /// Since when it is degraded or down without a break, whichever of the two; `null` while it is neither.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub failing_since: Option<Timestamp>,
    /// What keeps it from being asked in vain.
    pub breaker: CircuitState,
    /// What 95 of 100 checks of the slowest thing that it leans on did not exceed, in the last quarter of
    /// an hour that is summed up and since; `null` when it reported none.
    #[schema(required)]
    pub p95_ms: Option<f64>,
    /// Whether parts of its last answer could not be read.
    pub has_warnings: bool,
    /// How many dependencies have each status.
    pub dependency_counts: DependencyCounts,
}
