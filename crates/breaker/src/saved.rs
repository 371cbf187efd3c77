//! What a breaker carries over a restart.

use std::time::Duration;

use thiserror::Error;

use crate::state::State;

/// The highest generation that is saved and can be restored: what is left above it lasts longer than any
/// machine.
pub const MAX_SAVED_GENERATION: u64 = 1 << 48;

/// What a breaker carries over a restart. It holds durations, not moments: clocks of two processes
/// have nothing in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Saved {
    /// The state. Half-open comes back as open with nothing remaining.
    pub state: State,
    /// Whether somebody forced the state.
    #[cfg_attr(feature = "serde", serde(default))]
    pub forced: bool,
    /// Consecutive failures, where the detector counts them.
    pub failures: u32,
    /// How much longer it stays open.
    pub open_remaining: Duration,
    /// The generation, at most [`MAX_SAVED_GENERATION`]. A restored breaker has a higher one, so that no
    /// result from before counts.
    pub generation: u64,
}

/// Why something saved can't be restored. Nothing has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "the saved generation {generation} is beyond {MAX_SAVED_GENERATION}: it was not written by a breaker; \
     start without it"
)]
pub struct RestoreError {
    /// What was given.
    pub generation: u64,
}
