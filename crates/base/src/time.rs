//! Points in time: [`Timestamp`] for what is recorded, [`Moment`] for what is measured.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Wall-clock time in milliseconds since 1970 UTC: what the database holds and the API shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// From milliseconds since 1970 UTC.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since 1970 UTC.
    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Later by `duration`, held at the far end of time instead of overflowing.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(saturating_millis(duration)))
    }

    /// The time from `earlier` to this, or zero where the wall clock stepped back between them.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        let millis = self.0.saturating_sub(earlier.0);
        Duration::from_millis(u64::try_from(millis).unwrap_or(0))
    }
}

/// RFC 3339 in UTC with milliseconds: `2026-11-15T21:00:00.000Z`.
impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(timestamp) => write!(formatter, "{timestamp:.3}"),
            // Beyond year 9999 RFC 3339 has no words; the bare number is still true.
            Err(_) => write!(formatter, "{}", self.0),
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let parsed: jiff::Timestamp = text.parse().map_err(|_| {
            serde::de::Error::custom("not an RFC 3339 time such as 2026-11-15T21:00:00.000Z")
        })?;
        Ok(Self(parsed.as_millisecond()))
    }
}

/// A point on the steady clock. Only differences mean anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(Duration);

impl Moment {
    /// From the time since the clock's own origin.
    #[must_use]
    pub const fn from_origin(since_origin: Duration) -> Self {
        Self(since_origin)
    }

    /// The time from `earlier` to this, or zero if `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// Later by `duration`, held at the far end of time instead of overflowing.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration))
    }
}

fn saturating_millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_timestamp_is_shown_with_milliseconds_even_when_they_are_zero() {
        assert_eq!(Timestamp::from_millis(0).to_string(), "1970-01-01T00:00:00.000Z");
        assert_eq!(
            Timestamp::from_millis(1_794_776_400_007).to_string(),
            "2026-11-15T21:00:00.007Z"
        );
        assert_eq!(Timestamp::from_millis(-1).to_string(), "1969-12-31T23:59:59.999Z");
    }

    #[test]
    fn a_timestamp_with_an_offset_is_read_as_the_same_instant() {
        let read: Timestamp = serde_json::from_str(r#""2026-11-15T22:00:00.007+01:00""#).unwrap();
        assert_eq!(read, Timestamp::from_millis(1_794_776_400_007));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [r#""yesterday""#, r#""2026-11-15""#, "17", r#""""#] {
            assert!(serde_json::from_str::<Timestamp>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_ends_of_time_hold() {
        let end = Timestamp::from_millis(i64::MAX);
        assert_eq!(end.plus(Duration::MAX), end);
        assert_eq!(end.to_string(), i64::MAX.to_string());
        assert_eq!(Timestamp::from_millis(5).since(Timestamp::from_millis(9)), Duration::ZERO);
        let moment = Moment::from_origin(Duration::MAX);
        assert_eq!(moment.plus(Duration::MAX), moment);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(millis in -62_135_596_800_000_i64..253_402_207_200_000) {
            let timestamp = Timestamp::from_millis(millis);
            let text = serde_json::to_string(&timestamp).unwrap();
            prop_assert_eq!(serde_json::from_str::<Timestamp>(&text).unwrap(), timestamp);
        }
    }
}
