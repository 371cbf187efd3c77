//! How polls turned out and what was wrong, as it changed.

use mainstay_base::Timestamp;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::polling::PollErrorView;
use crate::report::DependencyStatus;

/// A poll that turned out otherwise than the one before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PollHistoryItem {
    /// When it ended.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// Whether it succeeded: then the failures before it are over.
    pub success: bool,
    /// Why it failed.
    #[schema(required)]
    pub error: Option<PollErrorView>,
}

/// What was wrong with a dependency from a moment on.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct DependencyError {
    /// From when on.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// How its service found it then; `null` where that is not known any more.
    #[schema(required)]
    pub status: Option<DependencyStatus>,
    /// What was wrong: any JSON; `null` when nothing was any more.
    #[schema(required)]
    pub error: Option<Value>,
    /// What was wrong, in words; `null` when nothing was any more.
    #[schema(required)]
    pub error_message: Option<String>,
}
