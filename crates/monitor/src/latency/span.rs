//! Spans of time, in milliseconds since 1970 UTC.

/// Five minutes in milliseconds.
pub(crate) const FIVE_MINUTES_MS: i64 = 300_000;

/// An hour in milliseconds.
pub(crate) const HOUR_MS: i64 = 3_600_000;

/// A day in milliseconds.
pub(crate) const DAY_MS: i64 = 86_400_000;

/// From `start` to before `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: i64,
    pub(crate) end: i64,
}

impl Span {
    /// Of `length`, from `start` on.
    pub(crate) const fn new(start: i64, length: i64) -> Self {
        Self { start, end: start.saturating_add(length) }
    }

    pub(crate) const fn length(self) -> i64 {
        self.end.saturating_sub(self.start)
    }

    /// What of it is in `from..to`; it may be empty.
    pub(crate) fn within(self, from: i64, to: i64) -> Self {
        let start = self.start.max(from);
        Self { start, end: self.end.min(to).max(start) }
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.end <= self.start
    }
}

/// The last multiple of `length` that is not after `at`.
pub(crate) const fn floor(at: i64, length: i64) -> i64 {
    at.saturating_sub(at.rem_euclid(length))
}
