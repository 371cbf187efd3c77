//! When a repeated thing is due: again, and for the first time.

use std::time::Duration;

use mainstay_base::Moment;

/// When something that was due at `due` is due again: `due` plus as many whole intervals, at least
/// one, as it takes not to lie before `now`. What was missed meanwhile is not made up.
#[must_use]
pub fn next_due_after(due: Moment, interval: Duration, now: Moment) -> Moment {
    let late = now.since(due).as_nanos();
    match late.checked_rem(interval.as_nanos()) {
        // Without an interval there is no grid to keep.
        None => due.max(now),
        Some(_) if late == 0 => due.plus(interval),
        Some(0) => now,
        Some(over) => now.plus(interval.saturating_sub(Duration::from_nanos_u128(over))),
    }
}

/// How long after the start the service of this `number` is first due, less than `interval`.
///
/// Numbers in a row come to lie evenly over the interval, however many there are; so do hashes of
/// ids. The same number always gives the same answer.
#[must_use]
pub fn spread(number: u64, interval: Duration) -> Duration {
    /// The golden ratio's part of 2^64: its multiples divide a circle most evenly.
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    let part = u128::from(number.wrapping_mul(GOLDEN) >> 32);
    Duration::from_nanos_u128((interval.as_nanos().saturating_mul(part)) >> 32)
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
    fn an_interval_runs_from_the_due_time() {
        for (due, interval, now, next) in [
            (100, 5, 100, 105),
            (100, 5, 102, 105),
            (100, 5, 104, 105),
            // On the grid is on time, not missed.
            (100, 5, 105, 105),
            (100, 5, 106, 110),
            (100, 5, 123, 125),
            // Polled before it was due: the due poll is the one that was made.
            (100, 5, 90, 105),
            (100, 0, 123, 123),
            (100, 0, 90, 100),
        ] {
            let given = next_due_after(at(due), seconds(interval), at(now));
            assert_eq!(given, at(next), "{due} {interval} {now}");
        }
    }

    #[test]
    fn the_far_end_of_time_holds() {
        let end = Moment::from_origin(Duration::MAX);
        assert_eq!(next_due_after(end, seconds(1), end), end);
        assert_eq!(next_due_after(at(0), Duration::MAX, at(1)), end);
        assert!(spread(u64::MAX, Duration::MAX) < Duration::MAX);
    }

    #[test]
    fn first_due_times_lie_evenly_over_the_interval() {
        const SERVICES: u64 = 1_000;
        let interval = seconds(30);
        let mut parts = [0_u32; 100];
        for number in 0..SERVICES {
            let offset = spread(number, interval);
            assert_eq!(offset, spread(number, interval));
            parts[usize::try_from(offset.as_millis() / 300).unwrap()] += 1;
        }
        assert!(parts.iter().all(|count| (8..=12).contains(count)), "{parts:?}");
    }

    #[test]
    fn nothing_is_spread_over_nothing() {
        assert_eq!(spread(7, Duration::ZERO), Duration::ZERO);
    }
}
