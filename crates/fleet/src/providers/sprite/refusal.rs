//! What a no means. Pure.

use std::time::Duration;

use mainstay_outbound::WebAnswer;
use serde::Deserialize;

use crate::providers::error::{Conflict, ProviderError, told};

/// How long Sprites is left alone when it says only that we ask too often.
const LEFT_ALONE: Duration = Duration::from_secs(5);

/// The longest that is taken from an answer.
const MAX_LEFT_ALONE: Duration = Duration::from_hours(1);

#[derive(Debug, Default, Deserialize)]
struct Said {
    #[serde(default)]
    error: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    retry_after_seconds: Option<u64>,
}

/// What an answer that is no success means, for a question that makes something or not.
pub(super) fn read(answer: &WebAnswer, makes: bool) -> ProviderError {
    let said = serde_json::from_slice::<Said>(&answer.body).unwrap_or_default();
    let plain = || told(&String::from_utf8_lossy(&answer.body));
    let text = if said.error.is_empty() { plain() } else { told(&said.message) };
    let detail = format!("{} {} {text}", answer.status, told(&said.error));
    let detail = told(&detail);
    match answer.status {
        _ if said.error == "concurrent_sprite_limit_exceeded" => {
            ProviderError::Conflict { kind: Conflict::Capacity, detail }
        }
        300..=399 => {
            let text = format!("{detail}; it sends us elsewhere: check its base URL");
            ProviderError::Unreachable(text)
        }
        401 | 403 => ProviderError::Denied(detail),
        404 => ProviderError::Gone(detail),
        409 => ProviderError::Conflict { kind: Conflict::State, detail },
        429 => {
            let seconds = said.retry_after_seconds.map(Duration::from_secs);
            let retry_after = answer.retry_after().or(seconds).unwrap_or(LEFT_ALONE);
            ProviderError::Throttled { retry_after: retry_after.min(MAX_LEFT_ALONE) }
        }
        408 | 500..=599 if makes => ProviderError::Ambiguous(detail),
        408 | 500..=599 => ProviderError::Unreachable(detail),
        _ => ProviderError::Invalid(detail),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn refused(status: u16, body: &str) -> ProviderError {
        let body = Bytes::copy_from_slice(body.as_bytes());
        read(&WebAnswer::new(status, body, Duration::ZERO), true)
    }

    #[test]
    fn limits_say_how_long_to_wait() {
        let body = r#"{"error":"sprite_creation_rate_limited","message":"slow down","retry_after_seconds":7}"#;
        let throttled = ProviderError::Throttled { retry_after: Duration::from_secs(7) };
        assert_eq!(refused(429, body), throttled);
        assert_eq!(refused(429, "slow"), ProviderError::Throttled { retry_after: LEFT_ALONE });
        let forever = r#"{"error":"x","retry_after_seconds":999999999}"#;
        assert_eq!(refused(429, forever).retry_after(), Some(MAX_LEFT_ALONE));
    }

    #[test]
    fn every_no_is_one_of_ours() {
        for (status, body, code) in [
            (400, r#"{"error":"invalid_request","message":"name taken"}"#, "invalid"),
            (401, r#"{"error":"unauthorized","message":"x"}"#, "denied"),
            (404, r#"{"error":"not_found","message":"x"}"#, "gone"),
            (429, r#"{"error":"concurrent_sprite_limit_exceeded"}"#, "conflict"),
            (500, "boom", "ambiguous"),
            (404, "plain", "gone"),
        ] {
            assert_eq!(refused(status, body).code(), code, "{status} {body}");
        }
        let answer = WebAnswer::new(502, Bytes::new(), Duration::ZERO);
        assert_eq!(read(&answer, false).code(), "unreachable");
    }
}
