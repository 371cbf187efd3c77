//! How a poller is.

use std::fmt;
use std::time::Duration;

use crate::error::PollerError;
use crate::observed::Observed;
use crate::timeout::{OnTimeout, TimeoutInfo};

/// The number of a poller among those of its executor or context, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PollerId(pub(crate) u64);

/// How a poller is now, or how it was when it ended.
#[derive(Debug, Clone)]
pub struct Status {
    /// Which poller.
    pub id: PollerId,
    /// Which command of the sequence started it.
    pub command_index: usize,
    /// Whether it runs, or how it ended.
    pub state: State,
    /// How many polls it has started.
    pub poll_count: u64,
    /// How many polls its guard did not let through.
    pub skipped_count: u64,
    /// How many events it has told.
    pub event_count: u64,
    /// How long it has run.
    pub elapsed: Duration,
    /// What the last poll that completed answered.
    pub last_result: Option<Observed>,
}

/// Whether a poller runs, or how it ended.
#[derive(Debug, Clone)]
pub enum State {
    /// It polls.
    Running,
    /// Its handler said so: the resource has settled.
    Done,
    /// The resource did not settle, and that was to be ignored.
    TimedOut,
    /// It was stopped before the resource had settled.
    Stopped,
    /// It failed.
    Failed(PollerError),
}

impl Status {
    /// How it failed, if it did.
    #[must_use]
    pub fn error(&self) -> Option<&PollerError> {
        match &self.state {
            State::Failed(error) => Some(error),
            _ => None,
        }
    }

    /// Whether the resource has settled.
    #[must_use]
    pub fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    /// Whether it still polls.
    #[must_use]
    pub fn is_running(&self) -> bool {
        matches!(self.state, State::Running)
    }
}

impl OnTimeout {
    /// How a poller ends that did not settle.
    pub(super) fn state(self, info: TimeoutInfo) -> State {
        match self {
            Self::Ignore => State::TimedOut,
            Self::Fail => State::Failed(PollerError::Timeout(info)),
            Self::Error(reason) => State::Failed(PollerError::Custom(reason)),
        }
    }
}

impl PollerId {
    /// The number.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for PollerId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
