//! The small words of a file: durations, statuses, one or many. Each says itself what it may be.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::schema::Text;
use crate::model::StatusSet;

/// A time such as `800ms`, `30s`, `1m30s` or `2h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span(pub(super) Duration);

/// One of something, or a list of it.
#[derive(Debug, Clone)]
pub(super) struct OneOrMany<T>(pub(super) Vec<T>);

/// `201`, `2xx`, or a list of them.
#[derive(Debug, Clone)]
pub(super) struct Statuses(pub(super) StatusSet);

/// What is kept of an answer: a JSONPath, or with whether it is secret.
#[derive(Debug)]
pub(super) struct CaptureForm {
    pub(super) path: String,
    pub(super) secret: Option<bool>,
}

/// `fail`, `ignore` or `{error: text}`.
#[derive(Debug)]
pub(super) enum OnTimeoutForm {
    Fail,
    Ignore,
    Error(String),
}

const SPAN: &str = "a time with its unit is expected, such as 800ms, 30s, 1m or 2h";
const UNQUOTED: &str = "a number or a bool is no text; put it in quotes, such as \"404\"";
const STATUS: &str = "a status is expected, such as 201 or 2xx, or a list of them";

impl Span {
    fn parse(text: &str) -> Option<Self> {
        let mut rest = text.trim();
        let mut sum = Duration::ZERO;
        if rest.is_empty() {
            return None;
        }
        while !rest.is_empty() {
            let digits = rest.find(|letter: char| !letter.is_ascii_digit())?;
            let (number, behind) = rest.split_at_checked(digits)?;
            let end = behind.find(|letter: char| !letter.is_ascii_alphabetic());
            let (unit, left) = behind.split_at_checked(end.unwrap_or(behind.len()))?;
            sum = sum.checked_add(of_unit(number.parse().ok()?, unit)?)?;
            rest = left;
        }
        Some(Self(sum))
    }
}

/// As it is written in a file, in the largest unit that keeps it whole.
impl fmt::Display for Span {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.as_millis();
        let units = [("d", 24 * 60 * 60 * 1_000), ("h", 60 * 60 * 1_000), ("m", 60 * 1_000)];
        let whole = |(_, size): &(&str, u128)| millis > 0 && millis.is_multiple_of(*size);
        match units.into_iter().chain([("s", 1_000)]).find(whole) {
            Some((unit, size)) => write!(formatter, "{}{unit}", millis / size),
            None => write!(formatter, "{millis}ms"),
        }
    }
}

fn of_unit(number: u64, unit: &str) -> Option<Duration> {
    let seconds = |factor: u64| number.checked_mul(factor).map(Duration::from_secs);
    match unit {
        "ms" => Some(Duration::from_millis(number)),
        "s" => seconds(1),
        "m" => seconds(60),
        "h" => seconds(60 * 60),
        "d" => seconds(24 * 60 * 60),
        _ => None,
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reading;
        impl Visitor<'_> for Reading {
            type Value = Span;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a time such as 800ms, 30s, 1m or 2h")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Span, E> {
                Span::parse(text).ok_or_else(|| E::custom(SPAN))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Span, E> {
                Err(E::custom(format!("{number} has no unit; write {number}s, or {number}ms")))
            }

            fn visit_i64<E: Error>(self, _: i64) -> Result<Span, E> {
                Err(E::custom(SPAN))
            }

            fn visit_f64<E: Error>(self, _: f64) -> Result<Span, E> {
                Err(E::custom(SPAN))
            }
        }
        deserializer.deserialize_any(Reading)
    }
}

impl JsonSchema for Span {
    fn schema_name() -> Cow<'static, str> {
        "Time".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^\\s*([0-9]+(ms|s|m|h|d))+\\s*$",
            "description": "A time with its unit, such as 800ms, 30s, 1m30s or 2h.",
        })
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrManyReading(PhantomData))
    }
}

struct OneOrManyReading<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrManyReading<T> {
    type Value = OneOrMany<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("one, or a list")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<OneOrMany<T>, E> {
        T::deserialize(serde::de::value::StrDeserializer::new(text)).map(|one| OneOrMany(vec![one]))
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<OneOrMany<T>, E> {
        Err(E::custom(UNQUOTED))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<OneOrMany<T>, E> {
        Err(E::custom(UNQUOTED))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<OneOrMany<T>, E> {
        Err(E::custom(UNQUOTED))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<OneOrMany<T>, E> {
        Err(E::custom(UNQUOTED))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<OneOrMany<T>, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(OneOrMany)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OneOrMany<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(|one| OneOrMany(vec![one]))
    }
}

impl<T: JsonSchema> JsonSchema for OneOrMany<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("OneOrMany_{}", T::schema_name()).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        // A number alone is told to stand in quotes: as it is read, 1.10 would be 1.1.
        let alone = json!({ "allOf": [one, { "not": { "type": ["number", "boolean"] } }] });
        json_schema!({ "anyOf": [alone, { "type": "array", "items": one }] })
    }
}

impl Statuses {
    /// Reads a value of JSON.
    pub(super) fn of(value: &Value) -> Result<Self, &'static str> {
        let ranges = match value {
            Value::Array(items) if !items.is_empty() => items.iter().map(range).collect(),
            one => range(one).map(|range| vec![range]),
        };
        ranges.map(|ranges| Self(StatusSet { ranges })).ok_or(STATUS)
    }
}

fn range(value: &Value) -> Option<(u16, u16)> {
    let number = match value {
        Value::String(text) => match text.strip_suffix("xx") {
            Some(class) => {
                let class: u16 = class.parse().ok().filter(|class| (1..=5).contains(class))?;
                let first = class.saturating_mul(100);
                return Some((first, first.saturating_add(99)));
            }
            None => text.parse().ok()?,
        },
        value => u16::try_from(value.as_u64()?).ok()?,
    };
    (100..=599).contains(&number).then_some((number, number))
}

impl<'de> Deserialize<'de> for Statuses {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::of(&Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl JsonSchema for Statuses {
    fn schema_name() -> Cow<'static, str> {
        "Status".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let one = json_schema!({ "anyOf": [
            { "type": "integer", "minimum": 100, "maximum": 599 },
            { "type": "string", "pattern": "^[1-5](xx|[0-9]{2})$" },
        ] });
        json_schema!({
            "description": "A status such as 201, a class such as 2xx, or a list of them.",
            "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }],
        })
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WholeCapture {
    /// A JSONPath (RFC 9535) such as $.id.
    path: String,
    /// Whether the value is never shown.
    secret: Option<bool>,
}

impl<'de> Deserialize<'de> for CaptureForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reading;
        impl<'de> Visitor<'de> for Reading {
            type Value = CaptureForm;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a JSONPath such as $.id, or {path: $.id, secret: true}")
            }

            fn visit_str<E: Error>(self, path: &str) -> Result<CaptureForm, E> {
                Ok(CaptureForm { path: path.to_owned(), secret: None })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<CaptureForm, A::Error> {
                let WholeCapture { path, secret } =
                    WholeCapture::deserialize(MapAccessDeserializer::new(map))?;
                Ok(CaptureForm { path, secret })
            }
        }
        deserializer.deserialize_any(Reading)
    }
}

impl JsonSchema for CaptureForm {
    fn schema_name() -> Cow<'static, str> {
        "Capture".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let whole = generator.subschema_for::<WholeCapture>();
        json_schema!({ "anyOf": [
            { "type": "string", "pattern": "^\\$", "description": "A JSONPath (RFC 9535) such as $.id." },
            whole,
        ] })
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TimeoutError {
    /// What is told; timeout.poll_count, timeout.skipped_count and timeout.elapsed_ms can be used.
    #[schemars(with = "Text")]
    error: String,
}

const ON_TIMEOUT: &str = "fail, ignore or {error: text} is expected";

impl<'de> Deserialize<'de> for OnTimeoutForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reading;
        impl<'de> Visitor<'de> for Reading {
            type Value = OnTimeoutForm;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("fail, ignore or {error: text}")
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<OnTimeoutForm, E> {
                match word {
                    "fail" => Ok(OnTimeoutForm::Fail),
                    "ignore" => Ok(OnTimeoutForm::Ignore),
                    _ => Err(E::custom(ON_TIMEOUT)),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OnTimeoutForm, A::Error> {
                let TimeoutError { error } =
                    TimeoutError::deserialize(MapAccessDeserializer::new(map))?;
                Ok(OnTimeoutForm::Error(error))
            }
        }
        deserializer.deserialize_any(Reading)
    }
}

impl JsonSchema for OnTimeoutForm {
    fn schema_name() -> Cow<'static, str> {
        "OnTimeout".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let whole = generator.subschema_for::<TimeoutError>();
        json_schema!({ "anyOf": [{ "type": "string", "enum": ["fail", "ignore"] }, whole] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit() {
        for (text, millis) in [
            ("800ms", 800),
            ("1m", 60_000),
            ("1m30s", 90_000),
            ("2h", 7_200_000),
            (" 1d ", 86_400_000),
        ] {
            assert_eq!(Span::parse(text), Some(Span(Duration::from_millis(millis))), "{text}");
        }
        for text in ["", "1", "s", "1.5s", "1 m", "1min", "-1s", "99999999999999999999s", "1s 2s"] {
            assert_eq!(Span::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_time_is_shown_as_it_is_written() {
        for text in ["0ms", "50ms", "1500ms", "10s", "90s", "1m", "10m", "1h", "7d"] {
            assert_eq!(Span::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Span::parse("604800s").unwrap().to_string(), "7d");
    }

    #[test]
    fn statuses_are_numbers_classes_or_lists() {
        let shown = |value: Value| Statuses::of(&value).map(|statuses| statuses.0.to_string());
        assert_eq!(shown(json!(201)).unwrap(), "201");
        assert_eq!(shown(json!(["2xx", "404", 410])).unwrap(), "2xx or 404 or 410");
        for wrong in [json!(99), json!("6xx"), json!("x"), json!([]), json!(null), json!(2.5)] {
            assert!(Statuses::of(&wrong).is_err(), "{wrong}");
        }
        let set = Statuses::of(&json!(["2xx", 404])).unwrap().0;
        assert!(set.holds(299) && set.holds(404) && !set.holds(300));
    }
}
