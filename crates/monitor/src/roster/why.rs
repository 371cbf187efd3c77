//! Why a service is polled now or not: what an operator asks first.

use mainstay_base::Moment;
use mainstay_breaker::State;

use super::Roster;
use super::entry::{Entry, Refused};
use crate::watch::ServiceNumber;

/// What stands between a service and its next poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// When it is due.
    pub due: Moment,
    /// Since when a poll is under way.
    pub in_flight_since: Option<Moment>,
    /// The state of its breaker.
    pub breaker: State,
    /// Failures in a row, as the breaker counts them.
    pub failures: u32,
    /// When the breaker lets the next poll through, if it refuses now.
    pub retry_at: Option<Moment>,
    /// Failures in a row, as the backoff counts them: zero when nothing is put off.
    pub backoff_attempt: u32,
    /// Whether it waits for a slot of its host.
    pub waits_for_host: bool,
    /// How many polls its host has in flight.
    pub host_in_flight: usize,
}

impl Roster {
    /// What stands between a service and its next poll; `None` when it is not polled here.
    #[must_use]
    pub fn schedule_of(&self, number: ServiceNumber, now: Moment) -> Option<Schedule> {
        self.hands.set(now);
        let entry = self.entries.find_entry(number)?;
        Some(self.explain(entry, now))
    }

    fn explain(&self, entry: &Entry, now: Moment) -> Schedule {
        let rejected = entry.breaker.would_reject();
        let saved = entry.breaker.export();
        Schedule {
            due: entry.due,
            in_flight_since: entry.flying.as_ref().map(|flying| flying.since),
            breaker: entry.breaker.state(),
            failures: saved.failures,
            retry_at: rejected.map(|rejected| now.plus(rejected.retry_after.unwrap_or_default())),
            backoff_attempt: entry.backoff.attempt(),
            waits_for_host: entry.refused != Refused::No,
            host_in_flight: self.slots.taken(&entry.watch.endpoint.host),
        }
    }
}
