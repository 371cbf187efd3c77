//! How recording goes, for readiness.

use mainstay_base::Timestamp;

/// How recording goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RecorderHealth {
    /// How many results wait to be written.
    pub waiting: usize,
    /// Since when the database refuses them.
    pub failing_since: Option<Timestamp>,
}
