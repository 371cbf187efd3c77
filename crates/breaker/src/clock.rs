//! The one source of time: the machine's clock, or one that a test moves.

use std::fmt;
use std::sync::Arc;
#[cfg(any(feature = "async", test))]
use std::time::Duration;
#[cfg(not(target_os = "linux"))]
use std::{sync::OnceLock, time::Instant};

use crate::moment::Moment;

/// Tells a breaker the time. It must not go back; where it does, the breaker holds on to the latest
/// moment it has seen. It is asked within calls and under locks: it must be quick, must not panic, and
/// must not use the breaker.
///
/// Only [`Clock::now`] must be said, whatever the features.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use mainstay_breaker::{Breaker, Clock, Moment};
///
/// struct Wall;
///
/// impl Clock for Wall {
///     fn now(&self) -> Moment {
///         let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or(Duration::ZERO);
///         Moment::default().plus(since)
///     }
/// }
///
/// let breaker = Breaker::builder("payments").clock(Wall).build()?;
/// assert!(breaker.enter().is_ok());
/// # Ok::<(), mainstay_breaker::ConfigError>(())
/// ```
pub trait Clock: Send + Sync + 'static {
    /// Now.
    fn now(&self) -> Moment;

    /// Now, at less cost and some milliseconds late: for what is measured in seconds. It has the
    /// same origin as [`Clock::now`].
    fn rough(&self) -> Moment {
        self.now()
    }

    /// Ends after `duration`: for the timeout of a call. Unless a clock has a timer of its own it is
    /// tokio's, which goes by the machine's time and panics outside of a runtime with its timer enabled.
    #[cfg(feature = "async")]
    fn sleep(&self, duration: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Ends when its time has come.
#[cfg(feature = "async")]
pub type Sleep = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

/// The machine's own monotonic clock; its timer is tokio's.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[cfg(target_os = "linux")]
    fn now(&self) -> Moment {
        read(rustix::time::ClockId::Monotonic)
    }

    #[cfg(target_os = "linux")]
    fn rough(&self) -> Moment {
        read(rustix::time::ClockId::MonotonicCoarse)
    }

    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::disallowed_methods, reason = "this is the real clock that others are given")]
    fn now(&self) -> Moment {
        static ORIGIN: OnceLock<Instant> = OnceLock::new();
        Moment::default().plus(ORIGIN.get_or_init(Instant::now).elapsed())
    }
}

#[cfg(target_os = "linux")]
#[inline]
fn read(clock: rustix::time::ClockId) -> Moment {
    let time = rustix::time::clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(time.tv_nsec).unwrap_or(0);
    Moment::from_nanos(seconds.saturating_mul(1_000_000_000).saturating_add(nanos))
}

/// A breaker's clock: the machine's is called without a detour.
#[derive(Clone)]
pub(crate) enum ClockSource {
    System,
    Given(Arc<dyn Clock>),
}

impl ClockSource {
    #[inline]
    pub(crate) fn now(&self) -> Moment {
        match self {
            Self::System => SystemClock.now(),
            Self::Given(clock) => clock.now(),
        }
    }

    #[inline]
    pub(crate) fn rough(&self) -> Moment {
        match self {
            Self::System => SystemClock.rough(),
            Self::Given(clock) => clock.rough(),
        }
    }

    #[cfg(feature = "async")]
    pub(crate) fn sleep(&self, duration: Duration) -> Sleep {
        match self {
            Self::System => SystemClock.sleep(duration),
            Self::Given(clock) => clock.sleep(duration),
        }
    }
}

impl fmt::Debug for ClockSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::System => "System",
            Self::Given(_) => "Given",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rough_clock_is_the_same_clock_a_little_late() {
        let clock = SystemClock;
        let rough = clock.rough();
        let now = clock.now();
        assert!(now >= rough);
        assert!(now.since(rough) < Duration::from_secs(10), "{rough:?} {now:?}");
    }
}
