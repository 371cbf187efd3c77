//! What others are told: [`Event`]s, handed to listeners after the lock is released and in the
//! order in which they happened. [`hub`] keeps the order, [`mailbox`] keeps events for later.

mod hub;
mod mailbox;

pub(crate) use hub::Hub;
pub use hub::Subscription;
pub use mailbox::{Events, MAX_UNREAD};
pub(crate) use mailbox::{Mailbox, Writer};

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::machine::Change;
use crate::moment::Moment;
use crate::state::{Cause, FailureKind, State};

/// How many listeners a breaker may have.
pub const MAX_LISTENERS: usize = 64;

/// Something that happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The state changed, or somebody forced or released it where it stood: then `from` and `to` are
    /// the same.
    StateChange {
        /// What it was.
        from: State,
        /// What it is.
        to: State,
        /// Why.
        cause: Cause,
        /// The generation that began with it.
        generation: u64,
        /// When, by the breaker's clock.
        at: Moment,
    },
    /// A call was refused.
    Reject {
        /// The state that refused it.
        state: State,
        /// When to ask again. Absent where only a person can change it.
        retry_after: Option<Duration>,
    },
    /// A call succeeded.
    Success {
        /// How long it took, if it was measured.
        latency: Option<Duration>,
    },
    /// A call failed.
    Failure {
        /// Why it counted as a failure.
        kind: FailureKind,
        /// How long it took, if it was measured and has ended.
        latency: Option<Duration>,
    },
    /// A call did not end in time. [`Event::Failure`] follows, unless the call was told of as a failure
    /// before, because it was slow in flight.
    Timeout,
    /// A call ended whose generation is over, or a probe that was lost. It moved nothing.
    Stale,
}

/// Something that happened, and to which breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Notice<'a> {
    /// The name of the breaker.
    pub breaker: &'a str,
    /// What happened.
    pub event: Event,
}

/// Somebody who wants to know.
#[derive(Clone)]
pub(crate) struct Listener(Arc<dyn Fn(&Notice<'_>) + Send + Sync>);

impl Listener {
    pub(crate) fn new(listener: impl Fn(&Notice<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(listener))
    }

    fn tell(&self, notice: &Notice<'_>) {
        (self.0)(notice);
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Listener")
    }
}

impl From<Change> for Event {
    fn from(change: Change) -> Self {
        match change {
            Change::State { from, to, cause, generation, at } => {
                Self::StateChange { from, to, cause, generation, at }
            }
            Change::SlowInFlight => Self::Failure { kind: FailureKind::Slow, latency: None },
        }
    }
}
