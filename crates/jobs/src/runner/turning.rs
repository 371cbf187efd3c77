//! Whether a runner turns: its loop never waits for long, so that one that has not turned for a while
//! stands still, and its jobs with it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mainstay_base::{Clock, Moment};

/// How much longer than its poll a turn may take.
const MARGIN: Duration = Duration::from_secs(10);

/// Tells whether a runner turns. A clone tells of the same.
#[derive(Clone)]
pub struct Turning {
    clock: Arc<dyn Clock>,
    started: Moment,
    limit: Duration,
    /// Milliseconds from `started` to the last turn.
    last: Arc<AtomicU64>,
}

impl Turning {
    /// Of a runner that looks for jobs every `poll`, and starts now.
    pub(super) fn new(clock: Arc<dyn Clock>, poll: Duration) -> Self {
        let started = clock.moment();
        Self { clock, started, limit: poll.saturating_add(MARGIN), last: Arc::default() }
    }

    /// It has turned.
    pub(super) fn turned(&self, now: Moment) {
        let since = u64::try_from(now.since(self.started).as_millis()).unwrap_or(u64::MAX);
        self.last.store(since, Ordering::Relaxed);
    }

    /// The time since its last turn.
    #[must_use]
    pub fn age(&self) -> Duration {
        let last = Duration::from_millis(self.last.load(Ordering::Relaxed));
        self.clock.moment().since(self.started.plus(last))
    }

    /// Whether that is longer than a turn can take.
    #[must_use]
    pub fn stands_still(&self) -> bool {
        self.age() > self.limit
    }
}

impl std::fmt::Debug for Turning {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Turning").field("age", &self.age()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstay_testkit::FakeClock;

    #[test]
    fn a_runner_stands_still_when_it_has_not_turned_for_its_poll_and_a_while() {
        let clock = Arc::new(FakeClock::new());
        let turning = Turning::new(Arc::clone(&clock) as Arc<dyn Clock>, Duration::from_secs(5));
        clock.advance(Duration::from_secs(15));
        assert!(!turning.stands_still());
        clock.advance(Duration::from_millis(1));
        assert!(turning.stands_still(), "it has never turned");
        turning.turned(clock.moment());
        assert_eq!((turning.age(), turning.stands_still()), (Duration::ZERO, false));
        clock.advance(Duration::from_secs(16));
        assert_eq!((turning.age().as_secs(), turning.stands_still()), (16, true));
    }
}
