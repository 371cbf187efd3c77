//! A clock that stands still until a test moves it.

use std::sync::Mutex;
use std::time::Duration;

use mainstay_base::{Clock, Moment, SystemClock, Timestamp};
use mainstay_store::Db;

/// Where a fake clock starts: 2026-01-01T00:00:00Z.
pub const START: Timestamp = Timestamp::from_millis(1_767_225_600_000);

/// A clock that stands still until a test moves it.
#[derive(Debug)]
pub struct FakeClock {
    hands: Mutex<Hands>,
}

#[derive(Debug, Clone, Copy)]
struct Hands {
    wall: Timestamp,
    steady: Duration,
}

impl FakeClock {
    /// Stands at [`START`].
    #[must_use]
    pub fn new() -> Self {
        Self { hands: Mutex::new(Hands { wall: START, steady: Duration::ZERO }) }
    }

    /// Moves both clocks on.
    pub fn advance(&self, duration: Duration) {
        let mut hands = self.hands.lock().expect("no test panics while it holds the clock");
        hands.wall = hands.wall.plus(duration);
        hands.steady = hands.steady.saturating_add(duration);
    }

    /// Sets the wall clock alone, as an administrator or a time server does.
    pub fn step_wall(&self, wall: Timestamp) {
        self.hands.lock().expect("no test panics while it holds the clock").wall = wall;
    }

    fn read(&self) -> Hands {
        *self.hands.lock().expect("no test panics while it holds the clock")
    }
}

/// Sets the clock that PostgreSQL tells of itself to a test's own. Until then whatever a test records is
/// as old as the two are apart, so this comes before anything looks for what is overdue.
pub fn set_database_clock(db: &Db, clock: &FakeClock) {
    db.shift_clock(clock.now().as_millis() - SystemClock::new().now().as_millis());
}

impl Default for FakeClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Timestamp {
        self.read().wall
    }

    fn moment(&self) -> Moment {
        Moment::from_origin(self.read().steady)
    }
}
