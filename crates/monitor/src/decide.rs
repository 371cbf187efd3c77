//! When a service is due next. Pure.

use std::time::Duration;

use mainstay_base::Moment;
use mainstay_kernel::{next_due_after, spread};

use crate::policy::GRID;

/// Over how long what another instance has missed is spread at most.
const MOST_SPREAD: Duration = Duration::from_secs(3);

/// How a poll ended, as far as the guards care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The endpoint answered, and the answer could be read.
    Success,
    /// It did not, or it could not.
    Failure {
        /// How long the backoff says to wait, from the failure.
        wait: Duration,
    },
    /// It was given up: nothing is known of the endpoint.
    GivenUp,
    /// Nobody was asked.
    NotBegun,
}

/// When a service is due after a poll that was due at `due` and ended at `now`.
///
/// Intervals run from the due time, waits from the failure, and the later one holds.
#[must_use]
pub fn due_after_poll(due: Moment, interval: Duration, ending: Ending, now: Moment) -> Moment {
    let regular = next_due_after(due, interval, now);
    match ending {
        Ending::Success | Ending::GivenUp => regular,
        Ending::NotBegun => due,
        Ending::Failure { wait } => regular.max(now.plus(wait)),
    }
}

/// When a service is due that comes (back) into the roster: `planned` is how long until it was to be
/// polled by what was recorded, `None` when it has never been.
///
/// Never polled is due now. A plan that lies ahead is kept, but no further away than `longest`, since
/// the wall clock may have stepped. What was missed meanwhile is spread by `place`, so that a restart
/// makes no burst: over as long as it was missed for, since as many came due in that time, and over one
/// interval at most.
#[must_use]
pub fn due_at_start(
    planned: Option<Planned>,
    interval: Duration,
    longest: Duration,
    place: u64,
    now: Moment,
) -> Moment {
    match planned {
        None => now,
        Some(Planned::In(ahead)) => now.plus(ahead.min(longest.max(interval))),
        Some(Planned::Missed(since)) => now.plus(spread(place, since.min(interval))),
    }
}

/// What was recorded of the next poll when Mainstay stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Planned {
    /// It lies ahead.
    In(Duration),
    /// It should have been so long ago.
    Missed(Duration),
}

impl Planned {
    /// The same, where nobody waits for long: another instance polled it, and its result is missed
    /// already. How many begin at once is bounded by the pace of the roster.
    #[must_use]
    pub fn taken_over(self) -> Self {
        match self {
            Self::Missed(since) => Self::Missed(since.min(MOST_SPREAD)),
            ahead @ Self::In(_) => ahead,
        }
    }
}

/// The first point of the grid that is not before `at`.
#[must_use]
pub fn on_grid(at: Moment) -> Moment {
    let origin = Moment::from_origin(Duration::ZERO);
    let over = at.since(origin).as_nanos() % GRID.as_nanos();
    match over {
        0 => at,
        _ => at.plus(GRID.saturating_sub(Duration::from_nanos_u128(over))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Moment {
        Moment::from_origin(Duration::from_secs(seconds))
    }

    fn seconds(count: u64) -> Duration {
        Duration::from_secs(count)
    }

    #[test]
    fn intervals_run_from_the_due_time_and_waits_from_the_failure() {
        let failure = |wait| Ending::Failure { wait: seconds(wait) };
        for (due, interval, ending, now, next) in [
            (100, 5, Ending::Success, 101, 105),
            // Late by a tick, and still on its own grid.
            (100, 5, Ending::Success, 104, 105),
            // What was missed is not made up.
            (100, 5, Ending::Success, 117, 120),
            // The first failure waits one second: the interval is longer.
            (100, 30, failure(1), 110, 130),
            // The wait is longer than what is left of the interval, and runs from the failure.
            (100, 30, failure(64), 110, 174),
            (100, 5, failure(1), 110, 111),
            (100, 30, Ending::GivenUp, 101, 130),
            (100, 30, Ending::NotBegun, 101, 100),
            // Both at once.
            (100, 30, failure(20), 110, 130),
        ] {
            let given = due_after_poll(at(due), seconds(interval), ending, at(now));
            assert_eq!(given, at(next), "{due} {interval} {ending:?} {now}");
        }
    }

    #[test]
    fn a_service_that_comes_back_is_due_when_it_was_to_be() {
        let longest = seconds(300);
        for (planned, interval, next) in [
            (None, 30, 1_000),
            (Some(Planned::In(seconds(7))), 30, 1_007),
            (Some(Planned::In(seconds(250))), 30, 1_250),
            (Some(Planned::In(seconds(90_000))), 30, 1_300),
            (Some(Planned::In(seconds(3_000))), 3_600, 4_000),
        ] {
            assert_eq!(due_at_start(planned, seconds(interval), longest, 1, at(1_000)), at(next));
        }
    }

    #[test]
    fn what_was_missed_is_spread_over_one_interval() {
        let due = |place| {
            let missed = Some(Planned::Missed(seconds(90)));
            let due = due_at_start(missed, seconds(30), seconds(300), place, at(50));
            due.since(at(50))
        };
        let mut all: Vec<_> = (0..100).map(due).collect();
        all.sort_unstable();
        assert!(all.iter().all(|wait| *wait < seconds(30)));
        let widest = all.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).max();
        assert!(widest < Some(seconds(1)), "{widest:?}");
    }

    #[test]
    fn what_was_just_missed_waits_no_longer_than_it_was_missed() {
        for place in 0..100 {
            let missed = Some(Planned::Missed(Duration::from_millis(100)));
            let due = due_at_start(missed, seconds(30), seconds(300), place, at(50));
            assert!(due.since(at(50)) < Duration::from_millis(100), "{place}");
        }
    }

    #[test]
    fn what_another_instance_has_missed_waits_three_seconds_at_most() {
        let missed = Planned::Missed(seconds(25)).taken_over();
        let wait = |place| {
            let due = due_at_start(Some(missed), seconds(30), seconds(300), place, at(50));
            due.since(at(50))
        };
        assert!((0..100).all(|place| wait(place) < seconds(3)));
        assert!((0..100).any(|place| wait(place) > seconds(2)), "it is spread all the same");
        let ahead = Planned::In(seconds(7));
        assert_eq!(ahead.taken_over(), ahead);
    }

    #[test]
    fn the_grid_is_met_from_below() {
        let millis = |count| Moment::from_origin(Duration::from_millis(count));
        for (given, point) in [(0, 0), (1, 50), (50, 50), (51, 100), (99, 100), (100, 100)] {
            assert_eq!(on_grid(millis(given)), millis(point), "{given}");
        }
    }
}
