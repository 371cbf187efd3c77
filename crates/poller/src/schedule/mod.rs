//! When a poller polls and how long it may: [`Schedule`] says it, `check` refuses what can't be meant,
//! and `pace` goes by it.

mod check;
mod pace;

use std::time::Duration;

pub use check::ScheduleError;
pub(crate) use pace::{Pace, Progress, Seen, Step};

/// No poller polls more often.
pub const MIN_INTERVAL: Duration = Duration::from_millis(1);
/// No poller runs longer.
pub const MAX_WITHIN: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// When a poller polls and how long it may. The interval and the time are always given; the rest has
/// defaults. The same can be said on a [`Watch`](crate::Watch) directly.
///
/// ```
/// use mainstay_poller::{Schedule, Span};
///
/// let schedule = Schedule::every(500.ms()).within(30.s()).jitter(0.1).poll_timeout(2.s());
/// assert!(schedule.check().is_ok());
/// assert_eq!(
///     Schedule::every(0.ms()).within(30.s()).check().unwrap_err().to_string(),
///     "the interval is 0ns: it must be at least 1ms",
/// );
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use = "a schedule does nothing until a poller goes by it"]
pub struct Schedule {
    interval: Duration,
    within: Duration,
    rhythm: Rhythm,
    poll_timeout: Option<Duration>,
    backoff: Option<Backoff>,
    jitter: f64,
    max_polls: Option<u64>,
}

/// An interval that still needs a time: [`Every::within`] gives it one.
#[derive(Debug, Clone, Copy)]
#[must_use = "an interval needs a time: within(…)"]
pub struct Every(Duration);

/// From where the interval is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Rhythm {
    /// From the end of the poll before.
    #[default]
    Delay,
    /// From the beginning of the poller.
    Rate,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Backoff {
    factor: f64,
    max: Duration,
}

impl Schedule {
    /// Polls at once, and then every `interval`.
    pub fn every(interval: Duration) -> Every {
        Every(interval)
    }

    /// Counts intervals from the beginning of the poller, not from the end of the poll before. A poll
    /// that takes longer than the interval leaves the missed ones out.
    pub fn at_fixed_rate(mut self) -> Self {
        self.rhythm = Rhythm::Rate;
        self
    }

    /// How long one poll may take. One that takes longer is dropped and has no result; polling goes on.
    pub fn poll_timeout(mut self, timeout: Duration) -> Self {
        self.poll_timeout = Some(timeout);
        self
    }

    /// Multiplies the interval by `factor` after every poll that brought no event, up to `max`. After
    /// an event it begins anew.
    pub fn backoff(mut self, factor: f64, max: Duration) -> Self {
        self.backoff = Some(Backoff { factor, max });
        self
    }

    /// Makes each interval longer or shorter by up to this share of it, by chance, so that many pollers
    /// do not ask at the same moment.
    pub fn jitter(mut self, share: f64) -> Self {
        self.jitter = share;
        self
    }

    /// How many polls there may be. After the last one, `on_timeout` decides at once.
    pub fn max_polls(mut self, polls: u64) -> Self {
        self.max_polls = Some(polls);
        self
    }

    /// Refuses what can't be meant. A poller does that before it starts.
    ///
    /// # Errors
    /// When a value is out of its bounds.
    pub fn check(&self) -> Result<(), ScheduleError> {
        check::check(self)
    }

    pub(crate) fn time(&self) -> Duration {
        self.within
    }

    pub(crate) fn time_of_poll(&self) -> Option<Duration> {
        self.poll_timeout
    }
}

impl Every {
    /// For how long: a hard deadline, at which also a poll under way is dropped.
    pub fn within(self, time: Duration) -> Schedule {
        Schedule {
            interval: self.0,
            within: time,
            rhythm: Rhythm::default(),
            poll_timeout: None,
            backoff: None,
            jitter: 0.0,
            max_polls: None,
        }
    }
}
