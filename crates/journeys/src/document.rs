//! The JSON of an answer, at which everything that asks for a part of it looks no more often than may be: what an
//! answer holds is as little ours as the path that is asked of it.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

use crate::bounds::MAX_LOOKS;

/// How many bytes of a text take as long as one value.
const BYTES_OF_A_VALUE: usize = 16;

/// JSON that came back.
#[derive(Debug)]
pub(crate) struct Document {
    value: Value,
    weight: Weight,
    /// How often it may still be looked at.
    left: AtomicU64,
}

/// How much there is to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Weight {
    /// How many values there are; a long text counts as several.
    pub(crate) values: u64,
    /// How many there are if each counts again for every one that it stands in.
    pub(crate) nested: u64,
}

/// Why there is no JSON to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoJson {
    /// It is none.
    Other,
    /// It is nested too deep.
    TooDeep,
    /// A number of it is out of the bounds of all numbers that can be kept.
    Number,
}

/// There would be too many looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "an answer of so many values is too large for all that is asked of it: name the place without `..`, `*` and filters, \
     or ask for a smaller answer"
)]
pub(crate) struct TooLarge;

impl Document {
    pub(crate) fn new(value: Value) -> Self {
        let weight = Weight::of(&value);
        Self { value, weight, left: AtomicU64::new(MAX_LOOKS) }
    }

    /// Reads an answer.
    pub(crate) fn read(body: &[u8]) -> Result<Self, NoJson> {
        serde_json::from_slice(body).map(Self::new).map_err(|error| NoJson::of(&error))
    }

    pub(crate) fn value(&self) -> &Value {
        &self.value
    }

    pub(crate) fn weight(&self) -> Weight {
        self.weight
    }

    /// Looks so often at it, where there are as many looks left.
    pub(crate) fn look(&self, looks: u64) -> Result<(), TooLarge> {
        let order = Ordering::Relaxed;
        let taken = self.left.fetch_update(order, order, |left| left.checked_sub(looks));
        taken.map(drop).map_err(|_| TooLarge)
    }
}

impl Weight {
    pub(crate) fn of(value: &Value) -> Self {
        let mut weight = Self::default();
        weight.add(value, 1);
        weight
    }

    fn add(&mut self, value: &Value, depth: u64) {
        match value {
            Value::Array(items) => {
                items.iter().for_each(|item| self.add(item, depth.saturating_add(1)));
            }
            Value::Object(fields) => {
                for (key, field) in fields {
                    self.count(key.len(), depth);
                    self.add(field, depth.saturating_add(1));
                }
            }
            Value::String(text) => self.count(text.len(), depth),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        self.values = self.values.saturating_add(1);
        self.nested = self.nested.saturating_add(depth);
    }

    fn count(&mut self, bytes: usize, depth: u64) {
        let values = u64::try_from(bytes / BYTES_OF_A_VALUE).unwrap_or(u64::MAX);
        self.values = self.values.saturating_add(values);
        self.nested = self.nested.saturating_add(values.saturating_mul(depth));
    }
}

impl NoJson {
    /// The parser has no other words for it than these.
    fn of(error: &serde_json::Error) -> Self {
        let error = error.to_string();
        match () {
            () if error.starts_with("recursion limit exceeded") => Self::TooDeep,
            () if error.starts_with("number out of range") => Self::Number,
            () => Self::Other,
        }
    }
}

/// After "the answer is …".
impl fmt::Display for NoJson {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Other => "no JSON",
            Self::TooDeep => "JSON that is nested too deep to be read (more than 127 levels)",
            Self::Number => "JSON with a number that is too large to be read, such as 1e400",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_can_not_be_read_is_told_apart() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for (body, why) in [
            ("", NoJson::Other),
            ("{\"a\": tru", NoJson::Other),
            (deep.as_str(), NoJson::TooDeep),
            ("{\"a\": 1e400}", NoJson::Number),
        ] {
            assert_eq!(Document::read(body.as_bytes()).unwrap_err(), why, "{body}");
        }
        assert!(Document::read(b"{\"a\": [1]}").is_ok());
    }

    #[test]
    fn values_are_weighed_by_their_number_depth_and_length() {
        let weigh = |value| {
            let Weight { values, nested } = Weight::of(&value);
            (values, nested)
        };
        assert_eq!(weigh(json!(1)), (1, 1));
        assert_eq!(weigh(json!([[1], 2])), (4, 8));
        assert_eq!(weigh(json!("x".repeat(160))), (11, 11));
        assert_eq!(weigh(json!({"a": {"b": null}})), (3, 6));
    }

    #[test]
    fn looks_come_to_an_end() {
        let document = Document::new(json!(1));
        document.look(MAX_LOOKS - 1).unwrap();
        assert_eq!(document.look(2), Err(TooLarge));
        document.look(1).unwrap();
        assert_eq!(document.look(1), Err(TooLarge));
    }
}
