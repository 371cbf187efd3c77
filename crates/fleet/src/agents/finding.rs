//! One finding: the one form of it, for the agent that tells it and for who records it.

use mainstay_base::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::location::{CheckKind, LocationStatus};

/// What one run of a check found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What the check does.
    pub kind: CheckKind,
    /// What it is called.
    pub name: String,
    /// When it ended, by the agent's clock.
    pub at: Timestamp,
    /// How it is.
    pub status: LocationStatus,
    /// How long it took.
    #[serde(default)]
    pub latency_ms: Option<f64>,
    /// What was wrong.
    #[serde(default)]
    pub error: Option<String>,
}
