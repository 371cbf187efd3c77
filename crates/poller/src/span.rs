//! Durations that read as they are spoken.

use std::time::Duration;

/// `500.ms()` and `30.s()` for whole numbers.
///
/// ```
/// use mainstay_poller::Span;
///
/// assert_eq!(500.ms() * 60, 30.s());
/// ```
pub trait Span {
    /// So many milliseconds.
    fn ms(self) -> Duration;

    /// So many seconds.
    fn s(self) -> Duration;
}

impl Span for u64 {
    fn ms(self) -> Duration {
        Duration::from_millis(self)
    }

    fn s(self) -> Duration {
        Duration::from_secs(self)
    }
}
