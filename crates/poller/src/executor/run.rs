//! What came of a sequence.

use std::fmt;

use crate::error::PollerError;
use crate::poller::{PollerId, Status};
use crate::queue::Entry;
use crate::reason::Reason;

/// What came of a sequence.
#[derive(Debug, Clone)]
pub struct Run<E, M = ()> {
    /// Every event, in the order of arrival.
    pub events: Vec<Entry<E>>,
    /// What the events were folded into.
    pub model: M,
    /// How every poller ended, in the order in which they did.
    pub pollers: Vec<Status>,
    /// What failed, in the order of time: at most one in [`Mode::Halt`](crate::Mode::Halt), none in
    /// [`Mode::Log`](crate::Mode::Log) and [`Mode::Disabled`](crate::Mode::Disabled).
    pub failures: Vec<Failure>,
    /// How many commands were executed, those that failed included.
    pub commands_run: usize,
    /// Whether somebody ended the run early: see [`Observer::cancel`](crate::Observer::cancel).
    pub is_cancelled: bool,
}

/// One thing that failed.
#[derive(Debug, Clone)]
pub struct Failure {
    /// Which command of the sequence it belongs to.
    pub command_index: usize,
    /// What failed.
    pub cause: Cause,
}

/// What failed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Cause {
    /// A poller that the command had started.
    Poller {
        /// Which poller.
        id: PollerId,
        /// How.
        error: PollerError,
    },
    /// The command itself.
    Command(Reason),
    /// The model would not take an event of the command or of its poller.
    Model {
        /// The number of the event.
        sequence: u64,
        /// Why not.
        reason: Reason,
    },
    /// The command waited for an event that nobody was left to tell.
    NeverReady,
    /// The command's events found no room in the queue.
    QueueFull {
        /// How many events the queue holds.
        capacity: usize,
    },
    /// The run has more events than can be kept. It ends in every mode.
    TooManyEvents {
        /// How many there may be.
        bound: usize,
    },
}

/// A run that failed: its text lists every failure. Printed by `Debug`, as `unwrap` in a test does, it tells
/// besides what each poller saw last, and where what panicked began.
#[derive(Clone, thiserror::Error)]
#[error("{}", listed(.failures, *.is_cancelled))]
pub struct RunError {
    /// What failed.
    pub failures: Vec<Failure>,
    /// Whether somebody ended it early.
    pub is_cancelled: bool,
}

impl<E, M> Run<E, M> {
    /// Whether the whole sequence ran and nothing failed.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.failures.is_empty() && !self.is_cancelled
    }

    /// The run itself if it was a success.
    ///
    /// # Errors
    /// When it was not.
    pub fn into_result(self) -> Result<Self, RunError> {
        if self.is_success() {
            return Ok(self);
        }
        Err(RunError { failures: self.failures, is_cancelled: self.is_cancelled })
    }
}

fn listed(failures: &[Failure], is_cancelled: bool) -> String {
    let cancelled = is_cancelled.then(|| "the run was cancelled".to_owned());
    let lines: Vec<String> = failures.iter().map(ToString::to_string).chain(cancelled).collect();
    lines.join("\n")
}

impl fmt::Debug for RunError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}")?;
        for failure in &self.failures {
            let Cause::Poller { id, error } = &failure.cause else { continue };
            if let PollerError::Timeout(info) = error {
                write!(formatter, "\nlast result of poller {id}: {:?}", info.last_result)?;
            }
            if let Some(backtrace) = error.backtrace() {
                write!(formatter, "\npoller {id} panicked at:\n{backtrace}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "command {}: {}", self.command_index, self.cause)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Poller { id, error } => write!(formatter, "resource poller {id} error: {error}"),
            Self::Command(reason) => write!(formatter, "command error: {reason}"),
            Self::Model { sequence, reason } => {
                write!(formatter, "event {sequence} error: {reason}")
            }
            Self::NeverReady => formatter.write_str(
                "command error: it waited for an event, and no poller was left that could tell it",
            ),
            Self::QueueFull { capacity } => write!(
                formatter,
                "command error: its events found no room among {capacity}: give the queue more"
            ),
            Self::TooManyEvents { bound } => {
                write!(formatter, "the run has more than {bound} events: split the sequence")
            }
        }
    }
}
