//! One event, before it has a number: its kind and its fields.

use std::fmt;

use serde_json::{Map, Value};

use crate::error::EventError;

/// The longest kind.
pub const MAX_KIND: usize = 64;

/// The most bytes of an event as its followers get it.
pub const MAX_FRAME: usize = 64 * 1024;

/// What a frame holds beside the fields: the kind, the number, the stream, the time.
const FRAME_ROOM: usize = 256;

/// The most bytes of the fields, as JSON.
pub const MAX_FIELDS: usize = MAX_FRAME - FRAME_ROOM;

/// The fields that every event has anyhow.
pub const RESERVED_FIELDS: [&str; 4] = ["type", "seq", "stream", "at"];

/// What happened, checked: it fits whatever stream it is added to.
#[derive(Clone, PartialEq, Eq)]
pub struct Event {
    kind: String,
    fields: String,
}

impl Event {
    /// An event of `kind` (1 to 64 of `a-z`, `0-9`, `_`, `:`) with `fields` of its own.
    ///
    /// # Errors
    /// [`EventError`] when the kind is none, a field is reserved or the whole is too large.
    pub fn new(kind: &str, fields: &Map<String, Value>) -> Result<Self, EventError> {
        if !is_kind(kind) {
            return Err(EventError::Kind { length: kind.len() });
        }
        for field in RESERVED_FIELDS {
            if fields.contains_key(field) {
                return Err(EventError::Reserved { kind: kind.to_owned(), field });
            }
        }
        let text = serde_json::to_string(fields)
            .map_err(|cause| EventError::Fields { kind: kind.to_owned(), cause })?;
        if text.len() > MAX_FIELDS {
            let (kind, bytes) = (kind.to_owned(), text.len());
            return Err(EventError::TooLarge { kind, bytes, limit: MAX_FIELDS });
        }
        Ok(Self { kind: kind.to_owned(), fields: text })
    }

    /// What kind of thing happened.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The fields as one line of JSON, a whole object.
    #[must_use]
    pub fn fields(&self) -> &str {
        &self.fields
    }
}

/// Whether `text` can be the kind of an event.
#[must_use]
pub fn is_kind(text: &str) -> bool {
    (1..=MAX_KIND).contains(&text.len())
        && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b':'))
}

impl fmt::Debug for Event {
    /// The fields may be anything, so only their size is printed.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Event");
        shown.field("kind", &self.kind).field("bytes", &self.fields.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fields(value: &Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn a_kind_is_a_short_plain_word() {
        let longest = "a".repeat(MAX_KIND);
        for kind in ["worker_state_changed", "status:change", "a", "net2", &longest] {
            assert!(Event::new(kind, &Map::new()).is_ok(), "{kind}");
        }
        let too_long = "a".repeat(MAX_KIND + 1);
        for kind in ["", "Worker", "a-b", "a b", "a\n", "ä", &too_long] {
            let refused = Event::new(kind, &Map::new());
            assert!(matches!(refused, Err(EventError::Kind { .. })), "{kind}");
        }
    }

    #[test]
    fn a_reserved_field_is_refused() {
        for field in RESERVED_FIELDS {
            let refused = Event::new("a", &fields(&json!({ field: 1 })));
            assert!(matches!(refused, Err(EventError::Reserved { .. })), "{field}");
        }
        assert!(Event::new("a", &fields(&json!({"inner": {"type": 1}}))).is_ok());
    }

    #[test]
    fn the_largest_fields_fit_and_one_byte_more_does_not() {
        let around = r#"{"text":""}"#.len();
        let text = "x".repeat(MAX_FIELDS - around);
        assert_eq!(
            Event::new("a", &fields(&json!({ "text": text }))).unwrap().fields().len(),
            MAX_FIELDS
        );
        let more = "x".repeat(MAX_FIELDS - around + 1);
        let refused = Event::new("a", &fields(&json!({ "text": more })));
        assert!(matches!(refused, Err(EventError::TooLarge { .. })));
        let hundred = "x".repeat(100 * 1024);
        let refused = Event::new("a", &fields(&json!({ "text": hundred })));
        assert!(matches!(refused, Err(EventError::TooLarge { .. })));
    }

    #[test]
    fn fields_are_one_line_whatever_they_hold() {
        let event = Event::new("a", &fields(&json!({"text": "one\r\ntwo\u{0}\u{2028}"}))).unwrap();
        assert!(!event.fields().contains(['\n', '\r', '\0']));
    }
}
