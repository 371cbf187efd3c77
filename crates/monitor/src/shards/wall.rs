//! The database's clock, as this instance knows it: two instances whose clocks disagree store the same
//! times all the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use mainstay_base::{Clock, Moment, Timestamp};

/// Nothing was learned yet.
const UNKNOWN: i64 = i64::MIN;

/// Shows the time of the database: the steady clock of this machine, set by what the database said.
/// Until it has said something, and where it has no clock of its own, the wall clock counts.
pub struct DatabaseClock {
    inner: Arc<dyn Clock>,
    /// What the database's clock showed at the origin of the steady clock, in ms.
    origin: AtomicI64,
}

impl DatabaseClock {
    /// Knows nothing of the database yet.
    #[must_use]
    pub fn new(inner: Arc<dyn Clock>) -> Self {
        Self { inner, origin: AtomicI64::new(UNKNOWN) }
    }

    /// The database said `said` to a question of the moment `asked`, and its answer was there at
    /// `answered`.
    pub fn learn(&self, said: Timestamp, asked: Moment, answered: Moment) {
        let doubt = millis(answered.since(asked));
        let middle = millis(since_origin(asked)).saturating_add(doubt / 2);
        let measured = said.as_millis().saturating_sub(middle);
        let known = self.origin.load(Ordering::Relaxed);
        if known == UNKNOWN || is_beyond(known, measured, doubt) {
            self.origin.store(measured, Ordering::Relaxed);
        }
    }
}

impl Clock for DatabaseClock {
    fn now(&self) -> Timestamp {
        match self.origin.load(Ordering::Relaxed) {
            UNKNOWN => self.inner.now(),
            origin => {
                let passed = millis(since_origin(self.inner.moment()));
                Timestamp::from_millis(origin.saturating_add(passed))
            }
        }
    }

    fn moment(&self) -> Moment {
        self.inner.moment()
    }
}

impl std::fmt::Debug for DatabaseClock {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("DatabaseClock")
    }
}

/// Whether two measurements differ by more than the way of the answer explains: otherwise the clock
/// would tremble with the network.
fn is_beyond(known: i64, measured: i64, doubt: i64) -> bool {
    known.abs_diff(measured) > doubt.unsigned_abs().saturating_add(1)
}

fn since_origin(moment: Moment) -> Duration {
    moment.since(Moment::from_origin(Duration::ZERO))
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstay_testkit::FakeClock;

    #[test]
    fn five_minutes_of_skew_are_gone_after_one_answer() {
        let inner = Arc::new(FakeClock::new());
        let wall = DatabaseClock::new(Arc::clone(&inner) as _);
        assert_eq!(wall.now(), inner.now(), "nothing else is known");
        let database = |at: Timestamp| at.plus(Duration::from_secs(300));
        let asked = inner.moment();
        inner.advance(Duration::from_millis(10));
        let said = database(inner.now());
        inner.advance(Duration::from_millis(10));
        wall.learn(said, asked, inner.moment());
        assert_eq!(wall.now(), database(inner.now()));
        inner.advance(Duration::from_secs(60));
        assert_eq!(wall.now(), database(inner.now()));
    }

    #[test]
    fn the_own_wall_clock_may_step() {
        let inner = Arc::new(FakeClock::new());
        let wall = DatabaseClock::new(Arc::clone(&inner) as _);
        let (said, asked) = (inner.now(), inner.moment());
        wall.learn(said, asked, asked);
        inner.step_wall(Timestamp::from_millis(0));
        inner.advance(Duration::from_secs(1));
        assert_eq!(wall.now(), said.plus(Duration::from_secs(1)));
    }

    #[test]
    fn it_does_not_tremble_but_follows_a_drift() {
        let inner = Arc::new(FakeClock::new());
        let wall = DatabaseClock::new(Arc::clone(&inner) as _);
        let start = inner.now();
        wall.learn(start, inner.moment(), inner.moment());
        let asked = inner.moment();
        inner.advance(Duration::from_millis(40));
        wall.learn(start.plus(Duration::from_millis(39)), asked, inner.moment());
        assert_eq!(wall.now(), start.plus(Duration::from_millis(40)), "within the doubt");
        wall.learn(start.plus(Duration::from_millis(45)), inner.moment(), inner.moment());
        assert_eq!(wall.now(), start.plus(Duration::from_millis(45)));
    }
}
