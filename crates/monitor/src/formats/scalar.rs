//! One value of an item, whatever kind of JSON it is: the readers decide what they take.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::bounds::MAX_LATENCY;
use crate::report::HealthState;

/// The codes that are kept, wide enough for those of databases and of exits.
const CODES: std::ops::RangeInclusive<i64> = i32::MIN as i64..=i32::MAX as i64;

const MILLIS_PER_SECOND: f64 = 1_000.0;

/// A value, with arrays and objects told as such and no more.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) enum Scalar<'a> {
    /// Not there, or null.
    #[default]
    Missing,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(Cow<'a, str>),
    /// An array or an object.
    Nested,
}

impl<'a> Scalar<'a> {
    /// The same of a value that was read already.
    pub(crate) fn of(value: Option<&'a Value>) -> Self {
        match value {
            None | Some(Value::Null) => Self::Missing,
            Some(Value::Bool(value)) => Self::Bool(*value),
            Some(Value::Number(value)) => {
                let float = || value.as_f64().map_or(Self::Missing, Self::Float);
                value.as_i64().map_or_else(float, Self::Integer)
            }
            Some(Value::String(text)) => Self::Text(Cow::Borrowed(text)),
            Some(Value::Array(_) | Value::Object(_)) => Self::Nested,
        }
    }

    pub(crate) const fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }

    /// This, or `other` where this is missing.
    pub(crate) fn or(self, other: Self) -> Self {
        if self.is_missing() { other } else { self }
    }

    /// The text of a string that is not blank.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) if !text.trim().is_empty() => Some(text),
            _ => None,
        }
    }

    /// The text of a string, a number or a boolean.
    pub(crate) fn shown(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Missing | Self::Nested => None,
            Self::Bool(value) => Some(Cow::Borrowed(if *value { "true" } else { "false" })),
            Self::Integer(value) => Some(Cow::Owned(value.to_string())),
            Self::Float(value) => Some(Cow::Owned(Value::from(*value).to_string())),
            Self::Text(text) => Some(Cow::Borrowed(text)),
        }
    }

    pub(crate) const fn boolean(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The state of the numbers 0, 1 and 2.
    pub(crate) fn state(&self) -> Option<HealthState> {
        HealthState::from_number(self.integer()?)
    }

    /// A status code.
    pub(crate) fn code(&self) -> Option<i64> {
        self.integer().filter(|code| CODES.contains(code))
    }

    /// A number of milliseconds, to the microsecond.
    pub(crate) fn latency(&self) -> Option<Duration> {
        match self {
            Self::Integer(millis) => bounded(Duration::from_millis(u64::try_from(*millis).ok()?)),
            Self::Float(millis) => latency_of_millis(*millis),
            _ => None,
        }
    }

    /// A whole number, also as some languages write it: `200.0`.
    fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(*value),
            #[expect(clippy::cast_possible_truncation, reason = "a cast of a float saturates")]
            Self::Float(value) if value.fract() == 0.0 => Some(*value as i64),
            _ => None,
        }
    }
}

/// A latency of so many milliseconds, to the microsecond; none where it can't be one.
pub(crate) fn latency_of_millis(millis: f64) -> Option<Duration> {
    latency_of_seconds(millis / MILLIS_PER_SECOND)
}

/// A latency of so many seconds, to the microsecond; none where it can't be one.
pub(crate) fn latency_of_seconds(seconds: f64) -> Option<Duration> {
    let exact = bounded(Duration::try_from_secs_f64(seconds).ok()?)?;
    let rounded = exact.saturating_add(Duration::from_nanos(500)).as_micros();
    Some(Duration::from_micros(u64::try_from(rounded).ok()?))
}

fn bounded(latency: Duration) -> Option<Duration> {
    (latency <= MAX_LATENCY).then_some(latency)
}

impl<'de> Deserialize<'de> for Scalar<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Scalar::Missing)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Scalar::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Scalar::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(i64::try_from(value).map_or(Scalar::Float(value as f64), Scalar::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Scalar::Float(value))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Nested)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Nested)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scalar(json: &str) -> Scalar<'_> {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_latency_is_kept_to_the_microsecond_and_within_its_bounds() {
        for (json, micros) in [
            ("0", Some(0)),
            ("12", Some(12_000)),
            ("12.5", Some(12_500)),
            ("0.1", Some(100)),
            ("0.0004", Some(0)),
            ("0.0005", Some(1)),
            ("1.2345678", Some(1_235)),
            ("86400000", Some(86_400_000_000)),
            ("86400001", None),
            ("-1", None),
            ("-0.5", None),
            ("1e300", None),
            ("18446744073709551615", None),
            (r#""12""#, None),
            ("true", None),
            ("[12]", None),
        ] {
            let read = scalar(json).latency();
            assert_eq!(read, micros.map(Duration::from_micros), "{json}");
        }
    }

    #[test]
    fn a_code_is_a_whole_number_of_32_bits() {
        for (json, code) in [
            ("200", Some(200)),
            ("200.0", Some(200)),
            ("-1", Some(-1)),
            ("0", Some(0)),
            ("2147483647", Some(2_147_483_647)),
            ("2147483648", None),
            ("1e300", None),
            ("200.5", None),
            (r#""200""#, None),
        ] {
            assert_eq!(scalar(json).code(), code, "{json}");
        }
    }

    #[test]
    fn a_value_is_the_same_whether_it_was_read_before_or_not() {
        for json in
            ["null", "true", "1", "-1", "1.5", "18446744073709551615", r#""a""#, "[1]", "{}"]
        {
            let value: Value = serde_json::from_str(json).unwrap();
            assert_eq!(Scalar::of(Some(&value)), scalar(json), "{json}");
        }
    }

    #[test]
    fn the_text_of_a_value_is_as_it_was_written() {
        for (json, shown) in [
            ("null", None),
            ("[1]", None),
            ("{}", None),
            ("true", Some("true")),
            ("200", Some("200")),
            ("0.5", Some("0.5")),
            (r#""Up""#, Some("Up")),
        ] {
            assert_eq!(scalar(json).shown().as_deref(), shown, "{json}");
        }
    }
}
