//! Refuses schedules that can't be meant.

use std::time::Duration;

use super::{Backoff, MAX_WITHIN, MIN_INTERVAL, Schedule};

/// What is wrong with a schedule.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// Polls would come without a pause.
    #[error("the interval is {0:?}: it must be at least {MIN_INTERVAL:?}")]
    Interval(Duration),
    /// There would be no time for a poll, or a time without an end.
    #[error("the time to settle is {0:?}: it must be more than nothing and at most {MAX_WITHIN:?}")]
    Within(Duration),
    /// Every poll would be dropped.
    #[error("the timeout of a poll is zero: it must be more than nothing")]
    PollTimeout,
    /// Intervals would shrink, or grow without an end.
    #[error("the backoff's factor is {0}: it must be a number from 1 to 1000")]
    BackoffFactor(f64),
    /// The interval would be longer than the longest.
    #[error("the backoff's longest interval is {max:?}, but the first is {interval:?} already")]
    BackoffMax {
        /// The longest interval.
        max: Duration,
        /// The first one.
        interval: Duration,
    },
    /// It is no share.
    #[error("the jitter is {0}: it must be a share from 0 to 1")]
    Jitter(f64),
    /// The poller would never poll.
    #[error("the most polls are zero: there must be at least one")]
    MaxPolls,
}

pub(super) fn check(schedule: &Schedule) -> Result<(), ScheduleError> {
    let Schedule { interval, within, poll_timeout, backoff, jitter, max_polls, rhythm: _ } =
        *schedule;
    if interval < MIN_INTERVAL {
        return Err(ScheduleError::Interval(interval));
    }
    if within.is_zero() || within > MAX_WITHIN {
        return Err(ScheduleError::Within(within));
    }
    if poll_timeout.is_some_and(|timeout| timeout.is_zero()) {
        return Err(ScheduleError::PollTimeout);
    }
    if !(0.0..=1.0).contains(&jitter) {
        return Err(ScheduleError::Jitter(jitter));
    }
    if max_polls == Some(0) {
        return Err(ScheduleError::MaxPolls);
    }
    backoff.map_or(Ok(()), |backoff| check_backoff(backoff, interval))
}

fn check_backoff(backoff: Backoff, interval: Duration) -> Result<(), ScheduleError> {
    let Backoff { factor, max } = backoff;
    if !(1.0..=1000.0).contains(&factor) {
        return Err(ScheduleError::BackoffFactor(factor));
    }
    if max < interval {
        return Err(ScheduleError::BackoffMax { max, interval });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Schedule {
        Schedule::every(Duration::from_millis(500)).within(Duration::from_secs(30))
    }

    #[test]
    fn what_is_at_a_bound_is_fine() {
        let shortest = Schedule::every(MIN_INTERVAL).within(MAX_WITHIN);
        for schedule in [
            shortest.clone(),
            shortest.backoff(1.0, MIN_INTERVAL),
            good().jitter(0.0),
            good().jitter(1.0),
            good().max_polls(1),
            good().poll_timeout(Duration::from_nanos(1)),
            good().backoff(1000.0, Duration::from_secs(1)),
        ] {
            assert_eq!(schedule.check(), Ok(()), "{schedule:?}");
        }
    }

    #[test]
    fn what_is_out_of_bounds_is_named() {
        let second = Duration::from_secs(1);
        let too_long = MAX_WITHIN + Duration::from_nanos(1);
        for (schedule, told) in [
            (Schedule::every(Duration::from_micros(999)).within(second), "the interval is 999µs"),
            (Schedule::every(second).within(Duration::ZERO), "the time to settle is 0ns"),
            (Schedule::every(second).within(too_long), "the time to settle is 31622400.0"),
            (good().poll_timeout(Duration::ZERO), "the timeout of a poll is zero"),
            (good().backoff(0.9, second), "the backoff's factor is 0.9"),
            (good().backoff(f64::NAN, second), "the backoff's factor is NaN"),
            (good().backoff(1001.0, second), "the backoff's factor is 1001"),
            (good().backoff(2.0, Duration::from_millis(499)), "the backoff's longest interval is"),
            (good().jitter(-0.1), "the jitter is -0.1"),
            (good().jitter(1.1), "the jitter is 1.1"),
            (good().jitter(f64::NAN), "the jitter is NaN"),
            (good().max_polls(0), "the most polls are zero"),
        ] {
            let error = schedule.check().unwrap_err().to_string();
            assert!(error.starts_with(told), "{error}");
        }
    }
}
