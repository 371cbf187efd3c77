//! An event as its followers get it: framed once, shared by all.

use std::sync::Arc;

use bytes::Bytes;
use mainstay_base::Timestamp;

use crate::stream::Stream;

/// One event of a stream. A clone shares the bytes.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) seq: i64,
    pub(crate) at: Timestamp,
    pub(crate) kind: Arc<str>,
    /// `data: {…}` and an empty line.
    pub(crate) bytes: Bytes,
}

impl Frame {
    /// Frames an event; `fields` is its JSON object.
    pub(crate) fn new(stream: Stream, seq: i64, at: Timestamp, kind: &str, fields: &str) -> Self {
        let inner = fields.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or("");
        let comma = if inner.is_empty() { "" } else { "," };
        let framed = format!(
            "data: {{\"type\":\"{kind}\"{comma}{inner},\"seq\":{seq},\"stream\":\"{stream}\",\"at\":\"{at}\"}}\n\n"
        );
        Self { seq, at, kind: kind.into(), bytes: framed.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Event, MAX_FIELDS, MAX_FRAME, MAX_KIND};
    use serde_json::{Value, json};

    fn data(frame: &Frame) -> Value {
        let text = std::str::from_utf8(&frame.bytes).unwrap();
        let line = text.strip_prefix("data: ").unwrap().strip_suffix("\n\n").unwrap();
        assert!(!line.contains('\n'));
        serde_json::from_str(line).unwrap()
    }

    #[test]
    fn a_frame_is_one_line_of_data_with_the_fields_of_the_source() {
        let at = Timestamp::from_millis(0);
        let frame = Frame::new(Stream::Org, 7, at, "net_state_changed", r#"{"net_id":"n1"}"#);
        assert_eq!(
            data(&frame),
            json!({
                "type": "net_state_changed", "net_id": "n1", "seq": 7, "stream": "org",
                "at": "1970-01-01T00:00:00.000Z",
            })
        );
        let bare = Frame::new(Stream::Org, 8, at, "tick", "{}");
        assert_eq!(data(&bare)["seq"], 8);
    }

    #[test]
    fn the_largest_event_fits_its_frame() {
        let text = "x".repeat(MAX_FIELDS - r#"{"text":""}"#.len());
        let fields = json!({ "text": text });
        let event = Event::new(&"k".repeat(MAX_KIND), fields.as_object().unwrap()).unwrap();
        let stream = Stream::User("01a1e102-8087-7707-8707-070707070707".parse().unwrap());
        let at = Timestamp::from_millis(i64::MAX);
        let frame = Frame::new(stream, i64::MAX, at, event.kind(), event.fields());
        assert!(frame.bytes.len() <= MAX_FRAME, "{}", frame.bytes.len());
    }
}
