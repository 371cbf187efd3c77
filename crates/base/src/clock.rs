//! The one source of time.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::time::{Moment, Timestamp};

/// Tells the time. Everything that needs `now` takes one, so that tests can move it.
pub trait Clock: Send + Sync + 'static {
    /// The wall clock: for what is recorded and shown. It may step backwards.
    fn now(&self) -> Timestamp;

    /// The steady clock: for measuring and waiting. It never steps backwards.
    fn moment(&self) -> Moment;
}

/// The machine's own clocks.
#[derive(Debug, Clone)]
pub struct SystemClock {
    origin: Instant,
}

impl SystemClock {
    /// Starts the steady clock at zero.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the real clock that others are given")]
    pub fn new() -> Self {
        Self { origin: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the real clock that others are given")]
    fn now(&self) -> Timestamp {
        // A machine whose clock stands before 1970 is shown as 1970 rather than stopped.
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
    }

    fn moment(&self) -> Moment {
        Moment::from_origin(self.origin.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steady_clock_never_goes_back() {
        let clock = SystemClock::new();
        let first = clock.moment();
        let second = clock.moment();
        assert!(second >= first);
    }

    #[test]
    fn the_wall_clock_is_past_the_day_this_was_written() {
        assert!(SystemClock::new().now() > Timestamp::from_millis(1_700_000_000_000));
    }
}
