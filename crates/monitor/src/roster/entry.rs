//! One service in the roster, with its guards.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Moment;
use mainstay_breaker::{Breaker, Permit, Saved, State};
use mainstay_kernel::{Backoff, Ticket};

use super::places::Place;
use crate::watch::Watch;

/// A service and what guards its polls.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) watch: Arc<Watch>,
    pub(super) breaker: Breaker,
    /// The state of the breaker that was told last.
    pub(super) circuit: State,
    pub(super) backoff: Backoff,
    /// When it is to be polled by its interval or its wait, whatever the bounds say.
    pub(super) due: Moment,
    /// When it is looked at next, unless a poll is under way.
    pub(super) planned: Option<Ticket>,
    /// When its last poll began.
    pub(super) last_polled: Option<Moment>,
    /// The number of its last poll: a later result has a higher one.
    pub(super) poll_seq: i64,
    /// The poll under way.
    pub(super) flying: Option<Flying>,
    /// How many times in a row a bound refused it.
    pub(super) refused: Refused,
    /// It is handed over to another instance: this poll is its last here.
    pub(super) is_retiring: bool,
}

/// A poll under way.
#[derive(Debug)]
pub(super) struct Flying {
    /// Which take-off: a result of another one is stale.
    pub(super) attempt: Attempt,
    pub(super) permit: Permit<'static>,
    /// Which moment its interval runs from.
    pub(super) due: Moment,
    pub(super) since: Moment,
    pub(super) manual: bool,
}

/// Names one take-off of one service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Attempt {
    /// Counts the take-offs of all services.
    pub(super) count: u64,
    /// Where the service stood. Somebody else may stand there since, but with another count.
    pub(super) place: Place,
}

/// How often in a row a host's bound refused a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Refused {
    #[default]
    No,
    Once,
    /// From here on it stands in the line of its host.
    Again(Turn),
}

/// Where a service stands in the line of its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Turn {
    /// Counts the services that ever stood in a line.
    pub(super) number: u64,
    /// A slot was given back, and it is looked at on the next point of the grid.
    pub(super) is_called: bool,
}

/// What is carried over a restart, as durations: two processes share no steady clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// The number of its last poll.
    pub poll_seq: i64,
    /// Its breaker.
    pub breaker: Saved,
    /// Its failures in a row, for the backoff.
    pub backoff: u32,
    /// When its next poll was to be, if it was ever polled.
    pub planned: Option<crate::decide::Planned>,
    /// How long ago its last poll was.
    pub polled: Option<Duration>,
}

impl Memory {
    /// Of a service that was polled, was well, and has been left alone since for longer than it should.
    #[must_use]
    pub const fn missed() -> Self {
        let breaker = Saved {
            state: State::Closed,
            forced: false,
            failures: 0,
            open_remaining: Duration::ZERO,
            generation: 0,
        };
        let planned = Some(crate::decide::Planned::Missed(Duration::MAX));
        Self { poll_seq: 1, breaker, backoff: 0, planned, polled: None }
    }
}
