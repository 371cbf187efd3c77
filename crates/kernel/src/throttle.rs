//! How often somebody may come: a burst at once, and then at a steady rate.
//!
//! It is the generic cell rate algorithm: all that is kept is the moment at which everything let
//! through so far would be paid off at the steady rate. It is no sliding window: somebody who comes
//! steadily at the rate is never refused, and a burst is given back little by little.

use std::time::Duration;

use mainstay_base::Moment;

use crate::limit::{ZeroLimit, at_least_one};

/// How many at once, and how many in the long run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// What one passage costs.
    interval: Duration,
    /// How far ahead of time somebody may be: the cost of the whole burst.
    most_ahead: Duration,
}

/// What is known of one who comes: as little as one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Throttle {
    /// When everything that was let through is paid off.
    paid_off_at: Moment,
}

/// It came too early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many came in this time; come again in {retry_after:?}")]
pub struct Throttled {
    /// After exactly this time one is let through again, and not a nanosecond before.
    pub retry_after: Duration,
}

impl Rate {
    /// `burst` at once, and `count` in each `period` in the long run.
    ///
    /// # Errors
    /// [`ZeroLimit`] names the number that is zero.
    pub fn new(count: u32, period: Duration, burst: u32) -> Result<Self, ZeroLimit> {
        at_least_one("the count of a rate", count as usize)?;
        at_least_one("the burst of a rate", burst as usize)?;
        if period.is_zero() {
            return Err(ZeroLimit { field: "the period of a rate" });
        }
        // Rounded up: a part of a nanosecond less would be more than the count.
        let nanoseconds = period.as_nanos().div_ceil(u128::from(count));
        let interval = Duration::from_nanos_u128(nanoseconds);
        Ok(Self { interval, most_ahead: interval.saturating_mul(burst) })
    }
}

impl Throttle {
    /// Lets one through, or says when to come again; then nothing has changed.
    ///
    /// # Errors
    /// [`Throttled`] says how long to wait.
    pub fn admit(&mut self, rate: &Rate, now: Moment) -> Result<(), Throttled> {
        let ahead = self.paid_off_at.since(now).saturating_add(rate.interval);
        if ahead > rate.most_ahead {
            return Err(Throttled { retry_after: ahead.saturating_sub(rate.most_ahead) });
        }
        self.paid_off_at = now.plus(ahead);
        Ok(())
    }

    /// When everything that was let through is paid off: from then on it is as if nobody had come.
    #[must_use]
    pub fn paid_off_at(&self) -> Moment {
        self.paid_off_at
    }
}

/// Nobody has come yet.
impl Default for Throttle {
    fn default() -> Self {
        Self { paid_off_at: Moment::from_origin(Duration::ZERO) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Moment {
        Moment::from_origin(Duration::from_millis(milliseconds))
    }

    fn wait(milliseconds: u64) -> Result<(), Throttled> {
        Err(Throttled { retry_after: Duration::from_millis(milliseconds) })
    }

    #[test]
    fn a_burst_passes_and_then_one_for_each_interval() {
        let rate = Rate::new(10, Duration::from_secs(1), 3).unwrap();
        let mut throttle = Throttle::default();
        for (now, expected) in [
            (1_000, Ok(())),
            (1_000, Ok(())),
            (1_000, Ok(())),
            (1_000, wait(100)),
            (1_040, wait(60)),
            (1_100, Ok(())),
            (1_100, wait(100)),
            (1_350, Ok(())),
            (1_350, Ok(())),
            (1_350, wait(50)),
            // Whoever stays away longer than the burst takes has no more than the burst.
            (9_000, Ok(())),
            (9_000, Ok(())),
            (9_000, Ok(())),
            (9_000, wait(100)),
        ] {
            assert_eq!(throttle.admit(&rate, at(now)), expected, "{now}");
        }
    }

    #[test]
    fn a_step_back_in_time_gives_nothing_away() {
        let rate = Rate::new(1, Duration::from_secs(1), 1).unwrap();
        let mut throttle = Throttle::default();
        assert_eq!(throttle.admit(&rate, at(5_000)), Ok(()));
        assert_eq!(throttle.admit(&rate, at(4_000)), wait(2_000));
        assert_eq!(throttle.admit(&rate, at(6_000)), Ok(()));
    }

    #[test]
    fn a_rate_that_does_not_divide_is_never_exceeded() {
        let rate = Rate::new(3, Duration::from_nanos(10), 1).unwrap();
        let mut throttle = Throttle::default();
        let passed = (0..1_000_u64)
            .filter(|now| {
                throttle.admit(&rate, Moment::from_origin(Duration::from_nanos(*now))).is_ok()
            })
            .count();
        assert_eq!(passed, 250, "one in four nanoseconds, since one in three would be too many");
    }

    #[test]
    fn the_far_end_of_time_holds() {
        let end = Moment::from_origin(Duration::MAX);
        let rate = Rate::new(1, Duration::MAX, u32::MAX).unwrap();
        let mut throttle = Throttle::default();
        assert_eq!(throttle.admit(&rate, end), Ok(()));
        assert_eq!(throttle.paid_off_at(), end);
    }

    #[test]
    fn a_rate_of_nothing_is_refused_by_name() {
        let second = Duration::from_secs(1);
        for (rate, name) in [
            (Rate::new(0, second, 1), "the count"),
            (Rate::new(1, second, 0), "the burst"),
            (Rate::new(1, Duration::ZERO, 1), "the period"),
        ] {
            assert!(rate.unwrap_err().to_string().starts_with(name));
        }
    }
}
