//! What happens when a resource does not settle in time.

use std::fmt;
use std::time::Duration;

use crate::observed::Observed;
use crate::reason::Reason;

/// What a poller knows when its time is over. `R` is the poll's result: by its type where a caller
/// decides ([`Watch::on_timeout_with`](crate::Watch::on_timeout_with)), without it in an error.
#[derive(Debug, Clone)]
pub struct TimeoutInfo<R = Observed> {
    /// How long the poller ran.
    pub elapsed: Duration,
    /// How many polls it started.
    pub poll_count: u64,
    /// How many polls its guard did not let through.
    pub skipped_count: u64,
    /// What the last poll that completed answered.
    pub last_result: Option<R>,
    /// Which limit was reached.
    pub limit: Limit,
}

/// Which limit ended a poller that had not settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// The time that it was given.
    Time,
    /// The polls that it was given.
    Polls,
    /// The sequence ended and would wait no longer.
    Sequence,
}

/// What to do when a resource did not settle in time.
#[derive(Debug, Clone, Default)]
pub enum OnTimeout {
    /// The poller stops, and that is no failure.
    Ignore,
    /// It fails with [`PollerError::Timeout`](crate::PollerError::Timeout).
    #[default]
    Fail,
    /// It fails with this reason.
    Error(Reason),
}

impl OnTimeout {
    /// Fails with this reason.
    pub fn error(reason: impl Into<Reason>) -> Self {
        Self::Error(reason.into())
    }
}

impl<R> TimeoutInfo<R> {
    pub(crate) fn map<S>(self, change: impl FnOnce(R) -> S) -> TimeoutInfo<S> {
        let Self { elapsed, poll_count, skipped_count, last_result, limit } = self;
        let last_result = last_result.map(change);
        TimeoutInfo { elapsed, poll_count, skipped_count, last_result, limit }
    }
}

impl<R> fmt::Display for TimeoutInfo<R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let polls = if self.poll_count == 1 { "poll" } else { "polls" };
        let why = match self.limit {
            Limit::Time => "its time was over",
            Limit::Polls => "it had no more polls",
            Limit::Sequence => "the sequence would wait no longer",
        };
        let Self { elapsed, poll_count, skipped_count, .. } = self;
        // To the millisecond: what is finer, nobody reads.
        let millis = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        let elapsed = Duration::from_millis(millis);
        write!(formatter, "did not settle: {why} after {elapsed:?} ({poll_count} {polls}")?;
        match skipped_count {
            0 => formatter.write_str(")"),
            skipped => write!(formatter, ", {skipped} skipped)"),
        }
    }
}
