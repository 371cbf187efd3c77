//! How a poller fails, and why one could not be started. Each message says what happened; whose it is
//! stands beside it, in a [`Status`](crate::Status) or a [`Failure`](crate::Failure).

use std::backtrace::Backtrace;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::raised::Raised;
use crate::reason::Reason;
use crate::schedule::ScheduleError;
use crate::timeout::TimeoutInfo;

/// How a poller failed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum PollerError {
    /// The poll panicked.
    PollError {
        /// What it said.
        panic: String,
        /// Where.
        backtrace: Arc<Backtrace>,
    },
    /// The handler panicked, or another function that looks at results.
    HandlerError {
        /// What it said.
        panic: String,
        /// Where.
        backtrace: Arc<Backtrace>,
    },
    /// The function that decides about a timeout panicked.
    OnTimeoutError {
        /// What it said.
        panic: String,
        /// Where.
        backtrace: Arc<Backtrace>,
    },
    /// The resource did not settle.
    Timeout(TimeoutInfo),
    /// The handler said so, or what decides about a timeout.
    Custom(Reason),
    /// Its events found no room: nobody had drained the queue.
    QueueFull {
        /// How many events the queue holds.
        capacity: usize,
    },
}

/// Why a poller was not started.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Its options contradict each other or are out of bounds.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// There are too many.
    #[error("{bound} pollers are active, and there may be no more: wait for some, or stop them")]
    TooManyPollers {
        /// How many there may be.
        bound: usize,
    },
    /// There is nobody to run it.
    #[error("a poller needs a tokio runtime to run on: start it within one")]
    NoRuntime,
}

impl PollerError {
    pub(crate) fn poll(raised: Raised) -> Self {
        let Raised { panic, backtrace } = raised;
        Self::PollError { panic, backtrace }
    }

    pub(crate) fn handler(raised: Raised) -> Self {
        let Raised { panic, backtrace } = raised;
        Self::HandlerError { panic, backtrace }
    }

    pub(crate) fn on_timeout(raised: Raised) -> Self {
        let Raised { panic, backtrace } = raised;
        Self::OnTimeoutError { panic, backtrace }
    }

    /// Where the panic began, if it was one.
    #[must_use]
    pub fn backtrace(&self) -> Option<&Backtrace> {
        match self {
            Self::PollError { backtrace, .. }
            | Self::HandlerError { backtrace, .. }
            | Self::OnTimeoutError { backtrace, .. } => Some(backtrace),
            Self::Timeout(_) | Self::Custom(_) | Self::QueueFull { .. } => None,
        }
    }
}

impl fmt::Display for PollerError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PollError { panic, .. } => write!(formatter, "poll raised: {panic}"),
            Self::HandlerError { panic, .. } => write!(formatter, "handler raised: {panic}"),
            Self::OnTimeoutError { panic, .. } => write!(formatter, "on_timeout raised: {panic}"),
            Self::Timeout(info) => info.fmt(formatter),
            Self::Custom(reason) => reason.fmt(formatter),
            Self::QueueFull { capacity } => write!(
                formatter,
                "the event queue is full with {capacity} events: drain it more often, or give it more room"
            ),
        }
    }
}

impl Error for PollerError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            // Its own text is shown already: what is below it comes next.
            Self::Custom(reason) => reason.source().and_then(Error::source),
            _ => None,
        }
    }
}
