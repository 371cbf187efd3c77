//! The id that ties an answer, its error body and its log lines together.

use axum::http::{HeaderMap, HeaderValue};
use bytes::Bytes;
use mainstay_base::IdSource;

use crate::headers::X_REQUEST_ID;
use crate::limits::MAX_REQUEST_ID_CHARS;

/// The id, for routes that write it down.
#[derive(Debug, Clone)]
pub(crate) struct RequestId(pub(crate) HeaderValue);

/// The client's id if it is harmless in a log, otherwise one of ours.
pub(crate) fn assign(headers: &HeaderMap, ids: &IdSource) -> HeaderValue {
    if let Some(given) = headers.get(&X_REQUEST_ID).filter(|given| is_harmless(given.as_bytes())) {
        return given.clone();
    }
    let id = Bytes::from(ids.next().to_string());
    HeaderValue::from_maybe_shared(id).unwrap_or(UNKNOWN)
}

/// The id as text.
pub(crate) fn text(id: &HeaderValue) -> &str {
    id.to_str().unwrap_or("unknown")
}

// An id of ours is always a valid value; this stands in for the proof.
const UNKNOWN: HeaderValue = HeaderValue::from_static("unknown");

fn is_harmless(given: &[u8]) -> bool {
    (1..=MAX_REQUEST_ID_CHARS).contains(&given.len())
        && given.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_taken_over_only_when_it_is_short_and_plain() {
        let longest = "x".repeat(MAX_REQUEST_ID_CHARS);
        let too_long = "x".repeat(MAX_REQUEST_ID_CHARS + 1);
        for (given, fine) in [
            ("abc", true),
            ("A.b_c-9", true),
            (longest.as_str(), true),
            (too_long.as_str(), false),
            ("", false),
            ("a b", false),
            ("a\nb", false),
            ("a/b", false),
            ("\u{1b}[31m", false),
            ("ä", false),
        ] {
            assert_eq!(is_harmless(given.as_bytes()), fine, "{given:?}");
        }
    }
}
