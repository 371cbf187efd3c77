//! What changed lately, and what changes most.

use mainstay_base::{Id, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::report::DependencyStatus;

/// How many changes one page looks through at most, of whatever kind: who goes on finds the rest.
pub const LOOKED_THROUGH: i64 = 50_000;

/// A service or a dependency that changed its status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ActivityItem {
    /// The number of the change: a later one has a higher one.
    #[schema(value_type = String, example = "4711")]
    #[serde(serialize_with = "as_text")]
    pub id: i64,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// The service.
    #[schema(value_type = String)]
    pub service_id: Id,
    /// Its name now.
    pub service_name: String,
    /// The dependency; `null` when the service itself changed.
    #[schema(value_type = Option<String>, required)]
    pub dependency_id: Option<Id>,
    /// Its name, as the service reports it.
    #[schema(required)]
    pub dependency_name: Option<String>,
    /// What that stands for now: the service that it is linked to, or else its name by the aliases.
    #[schema(required, example = "Orders database")]
    pub canonical_name: Option<String>,
    /// What it was; `null` for a dependency that was not known before.
    #[schema(required)]
    pub previous: Option<String>,
    /// What it became.
    #[schema(required, example = "down")]
    pub current: Option<String>,
}

/// Which changes are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Activity {
    /// Only those after this one.
    pub after: Option<i64>,
    /// Only those before this one.
    pub before: Option<i64>,
    /// How many, up to [`super::list::MAX_PAGE`].
    pub limit: u32,
    /// Which of them.
    pub filter: ActivityFilter,
}

/// What narrows changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActivityFilter {
    /// Only those of a service or a dependency whose name holds this, in any case.
    pub search: Option<String>,
    /// Only those to this status.
    pub status: Option<DependencyStatus>,
    /// Only those of this service and of what it leans on.
    pub service: Option<Id>,
    /// Only those of services themselves, or only those of what they lean on.
    pub of: Option<ActivityOf>,
}

/// What changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActivityOf {
    /// Services.
    Service,
    /// What they lean on.
    Dependency,
}

/// A service or a dependency that changed its status often.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Unstable {
    /// The service.
    #[schema(value_type = String)]
    pub service_id: Id,
    /// Its name.
    pub service_name: String,
    /// The dependency; `null` for the service itself.
    #[schema(value_type = Option<String>, required)]
    pub dependency_id: Option<Id>,
    /// Its name, as the service reports it.
    #[schema(required)]
    pub dependency_name: Option<String>,
    /// What that stands for now: the service that it is linked to, or else its name by the aliases.
    #[schema(required, example = "Orders database")]
    pub canonical_name: Option<String>,
    /// How often its status changed in the last 24 hours.
    pub transitions: i64,
    /// When it last did.
    #[schema(value_type = String, format = DateTime)]
    pub last_change_at: Timestamp,
}

/// Numbers of JavaScript do not reach so far.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
pub(crate) fn as_text<S: serde::Serializer>(id: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(id)
}
