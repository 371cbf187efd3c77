//! Stands here until the prompt does.

use mainstay_base::Timestamp;

/// What the monitor recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedTimeline {
    /// From when on.
    pub from: Timestamp,
    /// Until when.
    pub to: Timestamp,
    /// What happened, oldest first.
    pub entries: Vec<RecordedEntry>,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedEntry {
    /// When.
    pub at: Timestamp,
    /// What.
    pub what: String,
}
