//! A point on a breaker's clock.

use std::time::Duration;

/// A point on a breaker's clock, in nanoseconds since an origin of the clock's own choice. Only
/// differences mean anything, and arithmetic is held at the ends instead of overflowing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Moment(u64);

impl Moment {
    /// Nanoseconds since the clock's origin.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the clock's origin.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Later by `duration`.
    #[must_use]
    pub const fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(whole_nanos(duration)))
    }

    /// The time from `earlier` to this, or zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// The nanoseconds of a duration, at most those of 584 years.
pub(crate) const fn whole_nanos(duration: Duration) -> u64 {
    let seconds = duration.as_secs().saturating_mul(1_000_000_000);
    seconds.saturating_add(duration.subsec_nanos() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_time_hold() {
        let end = Moment::from_nanos(u64::MAX);
        assert_eq!(end.plus(Duration::MAX), end);
        assert_eq!(Moment::from_nanos(0).plus(Duration::MAX), end);
        assert_eq!(Moment::from_nanos(0).since(end), Duration::ZERO);
        assert_eq!(end.since(Moment::from_nanos(0)), Duration::from_nanos(u64::MAX));
    }

    #[test]
    fn a_duration_keeps_its_nanoseconds() {
        assert_eq!(whole_nanos(Duration::new(3, 7)), 3_000_000_007);
    }
}
