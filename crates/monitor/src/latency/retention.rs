//! How long latencies and what happened are kept, checked once.

use std::time::Duration;

use crate::views::MISSING_SHOWN_FOR;

const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

/// The least and the most time that single polls are kept. Charts of six hours are made of them.
pub const RAW_BOUNDS: (Duration, Duration) = (DAY, days(30));
/// The least and the most time that rows of five minutes are kept. Charts of a week are made of them.
pub const FIVE_MINUTES_BOUNDS: (Duration, Duration) = (days(8), days(400));
/// The least and the most time that hourly rows and what happened are kept. Charts of a month are made
/// of them.
pub const HOURS_BOUNDS: (Duration, Duration) = (days(31), days(3_660));

/// The least and the most time that a dependency is listed which its service does not report any more.
pub const MISSING_BOUNDS: (Duration, Duration) = (HOUR, days(30));

/// How long latencies and what happened are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    raw: Duration,
    five_minutes: Duration,
    hours: Duration,
    missing: Duration,
}

/// A time that is too short or too long.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{what} can't be kept for {} hours; give from {} to {} hours",
    given.as_secs() / HOUR.as_secs(), least.as_secs() / HOUR.as_secs(), most.as_secs() / HOUR.as_secs()
)]
pub struct RetentionError {
    /// What is kept.
    what: &'static str,
    given: Duration,
    least: Duration,
    most: Duration,
}

impl Retention {
    /// Keeps single polls for `raw`, rows of five minutes for `five_minutes`, and hourly rows, status
    /// changes, errors and poll transitions for `hours`; lists for `missing` what is not reported any
    /// more.
    ///
    /// # Errors
    /// [`RetentionError`] names what is out of its bounds.
    pub fn new(
        raw: Duration,
        five_minutes: Duration,
        hours: Duration,
        missing: Duration,
    ) -> Result<Self, RetentionError> {
        check("the latency of each poll", raw, RAW_BOUNDS)?;
        check("latency by five minutes", five_minutes, FIVE_MINUTES_BOUNDS)?;
        check("latency by hours", hours, HOURS_BOUNDS)?;
        check("what is not reported any more", missing, MISSING_BOUNDS)?;
        Ok(Self { raw, five_minutes, hours, missing })
    }

    /// How long single polls are kept, at least: they leave by whole days (UTC).
    #[must_use]
    pub const fn raw(&self) -> Duration {
        self.raw
    }

    /// How long rows of five minutes are kept.
    #[must_use]
    pub const fn five_minutes(&self) -> Duration {
        self.five_minutes
    }

    /// How long hourly rows are kept, and status changes, errors and poll transitions with them.
    #[must_use]
    pub const fn hours(&self) -> Duration {
        self.hours
    }

    /// How long a dependency is listed that its service does not report any more. It is closed then,
    /// and its history stays.
    #[must_use]
    pub const fn missing(&self) -> Duration {
        self.missing
    }
}

impl Default for Retention {
    fn default() -> Self {
        Self { raw: days(2), five_minutes: days(30), hours: days(400), missing: MISSING_SHOWN_FOR }
    }
}

const fn days(count: u64) -> Duration {
    Duration::from_hours(24 * count)
}

fn check(
    what: &'static str,
    given: Duration,
    (least, most): (Duration, Duration),
) -> Result<(), RetentionError> {
    if (least..=most).contains(&given) {
        Ok(())
    } else {
        Err(RetentionError { what, given, least, most })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_those_of_the_specification_and_within_their_bounds() {
        let kept = Retention::default();
        assert_eq!(kept.raw(), Duration::from_hours(48));
        assert_eq!((kept.five_minutes(), kept.hours()), (30 * DAY, 400 * DAY));
        assert_eq!(kept.missing(), DAY);
        let same = Retention::new(kept.raw(), kept.five_minutes(), kept.hours(), kept.missing());
        assert_eq!(same, Ok(kept));
    }

    #[test]
    fn what_is_out_of_its_bounds_is_refused_by_name() {
        for (raw, five_minutes, hours, missing, says) in [
            (
                DAY - HOUR,
                30 * DAY,
                400 * DAY,
                DAY,
                "each poll can't be kept for 23 hours; give from 24 to 720",
            ),
            (
                2 * DAY,
                401 * DAY,
                400 * DAY,
                DAY,
                "latency by five minutes can't be kept for 9624 hours",
            ),
            (2 * DAY, 30 * DAY, DAY, DAY, "latency by hours can't be kept for 24 hours"),
            (2 * DAY, 30 * DAY, 400 * DAY, 31 * DAY, "any more can't be kept for 744 hours"),
        ] {
            let refused =
                Retention::new(raw, five_minutes, hours, missing).unwrap_err().to_string();
            assert!(refused.contains(says), "{refused}");
        }
    }
}
