//! What a no means. Pure.

use std::time::Duration;

use mainstay_outbound::WebAnswer;
use serde_json::Value;

use crate::providers::error::{Conflict, ProviderError, told};
use crate::providers::machine::MAX_WORD;

/// How long Fly is left alone when it says only that we ask too often.
pub(super) const LEFT_ALONE: Duration = Duration::from_secs(1);

/// What a question may have had done by the time that it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// Nothing.
    Reads,
    /// Something that may be done again.
    Changes,
    /// Something that must not be made twice.
    Makes,
}

/// What an answer that is no success means.
pub(super) fn read(answer: &WebAnswer, effect: Effect) -> ProviderError {
    let said = Said::of(answer);
    let detail = said.detail(answer.status);
    let conflict = |kind| ProviderError::Conflict { kind, detail: detail.clone() };
    if said.is("insufficient_capacity") {
        return conflict(Conflict::Capacity);
    }
    if said.is("name_taken") || said.has("unique machine name violation") {
        return conflict(Conflict::NameTaken);
    }
    match answer.status {
        300..=399 => {
            let text = format!("{detail}; it sends us elsewhere: check its base URL");
            ProviderError::Unreachable(text)
        }
        401 | 403 => ProviderError::Denied(detail),
        404 => ProviderError::Gone(detail),
        429 => ProviderError::Throttled { retry_after: answer.retry_after().unwrap_or(LEFT_ALONE) },
        409 if said.has("lease") => conflict(Conflict::Leased),
        409 if said.has("version") => conflict(Conflict::Version),
        409 | 412 if said.has_no_room() => conflict(Conflict::Capacity),
        409 => conflict(Conflict::Other),
        412 => conflict(Conflict::State),
        // It may have been done before the time was over.
        408 if effect != Effect::Reads => ProviderError::Ambiguous(detail),
        500..=599 if effect == Effect::Makes => ProviderError::Ambiguous(detail),
        408 | 500..=599 => ProviderError::Unreachable(detail),
        _ => ProviderError::Invalid(detail),
    }
}

/// Whether a machine was stopped a moment ago, and does not start yet.
pub(super) fn is_lingering(error: &ProviderError) -> bool {
    match error {
        ProviderError::Conflict { kind: Conflict::State, detail } => {
            detail.contains("failed_precondition") && detail.contains("still active")
        }
        _ => false,
    }
}

/// The machine that has the name already, where Fly says which one.
pub(super) fn holder_of_name(detail: &str) -> Option<String> {
    let (_, rest) = detail.split_once("machine ID ")?;
    let is_part = |letter: &char| letter.is_ascii_alphanumeric();
    let id: String = rest.chars().take_while(is_part).take(MAX_WORD).collect();
    (!id.is_empty()).then_some(id)
}

/// What Fly wrote, in any of its shapes.
struct Said {
    message: String,
    code: String,
}

impl Said {
    /// `{"error","status"?}`, `{"message"}`, `{"status":"error","code","message"}`, or plain text.
    fn of(answer: &WebAnswer) -> Self {
        let body = serde_json::from_slice::<Value>(&answer.body).unwrap_or(Value::Null);
        let text = |name: &str| body.get(name).and_then(Value::as_str).map(told);
        let plain = || told(&String::from_utf8_lossy(&answer.body));
        let is_json = body.is_object();
        let message = text("error").or_else(|| text("message"));
        let message = message.unwrap_or_else(|| if is_json { String::new() } else { plain() });
        let code = text("code").or_else(|| text("status")).unwrap_or_default();
        Self { message, code }
    }

    fn is(&self, code: &str) -> bool {
        self.code == code || self.message.starts_with(&format!("{code}:"))
    }

    fn has(&self, words: &str) -> bool {
        self.message.to_ascii_lowercase().contains(words)
    }

    fn has_no_room(&self) -> bool {
        ["capacity", "insufficient resources", "no room"].iter().any(|words| self.has(words))
    }

    fn detail(&self, status: u16) -> String {
        if self.message.is_empty() {
            format!("{status}")
        } else {
            format!("{status} {}", self.message)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn refused(status: u16, body: &str) -> ProviderError {
        let body = Bytes::copy_from_slice(body.as_bytes());
        read(&WebAnswer::new(status, body, Duration::ZERO), Effect::Changes)
    }

    fn conflict(status: u16, body: &str) -> Option<Conflict> {
        match refused(status, body) {
            ProviderError::Conflict { kind, .. } => Some(kind),
            _ => None,
        }
    }

    #[test]
    fn every_shape_of_an_error_is_read() {
        for body in [
            r#"{"error":"machine not found"}"#,
            r#"{"error":"machine not found","status":"unknown"}"#,
            r#"{"message":"machine not found"}"#,
            r#"{"status":"error","code":"unknown","message":"machine not found"}"#,
            "machine not found",
        ] {
            assert_eq!(refused(404, body), ProviderError::Gone("404 machine not found".to_owned()));
        }
        assert_eq!(refused(404, ""), ProviderError::Gone("404".to_owned()));
        assert_eq!(refused(404, "{}"), ProviderError::Gone("404".to_owned()));
    }

    #[test]
    fn the_kinds_of_a_conflict_are_told_apart() {
        let lease = r#"{"status":"error","message":"machine ID X lease currently held by o@tokens.fly.io, expires at 2026-01-01T00:00:00Z"}"#;
        assert_eq!(conflict(409, lease), Some(Conflict::Leased));
        let version = r#"{"error":"aborted: current_version does not match"}"#;
        assert_eq!(conflict(409, version), Some(Conflict::Version));
        assert_eq!(conflict(409, r#"{"error":"the host has no room"}"#), Some(Conflict::Capacity));
        assert_eq!(conflict(409, r#"{"error":"try later"}"#), Some(Conflict::Other));
        assert_eq!(conflict(409, ""), Some(Conflict::Other));
        let full = r#"{"error":"no room","status":"insufficient_capacity"}"#;
        assert_eq!(conflict(422, full), Some(Conflict::Capacity));
        assert_eq!(
            conflict(409, r#"{"error":"x","status":"name_taken"}"#),
            Some(Conflict::NameTaken)
        );
        let active = r#"{"error":"failed_precondition: machine still active, refusing to start"}"#;
        assert_eq!(conflict(412, active), Some(Conflict::State));
    }

    #[test]
    fn what_fly_has_trouble_with_is_no_word_about_the_machine() {
        for (status, code) in [
            (401, "denied"),
            (403, "denied"),
            (408, "ambiguous"),
            (429, "throttled"),
            (500, "unreachable"),
            (502, "unreachable"),
            (503, "unreachable"),
        ] {
            let error = refused(status, "x");
            assert_eq!(error.code(), code, "{status}");
        }
        assert_eq!(refused(422, r#"{"error":"bad image"}"#).code(), "invalid");
        for (status, effect, code) in [
            (408, Effect::Reads, "unreachable"),
            (408, Effect::Makes, "ambiguous"),
            (502, Effect::Makes, "ambiguous"),
        ] {
            let answer = WebAnswer::new(status, Bytes::new(), Duration::ZERO);
            assert_eq!(read(&answer, effect).code(), code, "{status} {effect:?}");
        }
    }

    #[test]
    fn who_has_the_name_is_told() {
        let said = "409 already_exists: machine ID d8912 already exists with name \"x\"";
        assert_eq!(holder_of_name(said).as_deref(), Some("d8912"));
        assert_eq!(holder_of_name("409 machine ID ../etc"), None);
        assert_eq!(holder_of_name("409 taken"), None);
    }

    #[test]
    fn what_fly_writes_is_bounded_and_clean() {
        let text = format!("a\u{1b}[31m\n\0b{}", "x".repeat(5_000));
        let detail = refused(422, &text).to_string();
        assert!(detail.len() < 400 && !detail.contains(['\u{1b}', '\n', '\0']), "{detail:?}");
    }
}
