//! What a no means. Pure.

use std::time::Duration;

use mainstay_outbound::WebAnswer;
use serde_json::Value;

use crate::providers::error::{Conflict, ProviderError, told};
use crate::providers::machine::MAX_WORD;

/// How long Fly is left alone when it says only that we ask too often.
pub(super) const LEFT_ALONE: Duration = Duration::from_secs(1);

/// What Fly calls a machine that can't do that from where it is.
const PRECONDITION: &str = "failed_precondition";

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
        412 if said.is_lingering() => conflict(Conflict::Lingering),
        412 => conflict(Conflict::State),
        // It may have been done before the time was over.
        408 if effect != Effect::Reads => ProviderError::Ambiguous(detail),
        500..=599 if effect == Effect::Makes => ProviderError::Ambiguous(detail),
        408 | 500..=599 => ProviderError::Unreachable(detail),
        _ => ProviderError::Invalid(detail),
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
    /// `{"error","status"?}`, `{"message"}`, `{"status":"error","code","message"?}`, or plain text.
    fn of(answer: &WebAnswer) -> Self {
        let body = serde_json::from_slice::<Value>(&answer.body).unwrap_or(Value::Null);
        let text = |name: &str| {
            let text = told(body.get(name)?.as_str()?);
            (!text.is_empty()).then_some(text)
        };
        let plain = || told(&String::from_utf8_lossy(&answer.body));
        let is_json = body.is_object();
        let message = text("error").or_else(|| text("message"));
        let message = message.unwrap_or_else(|| if is_json { String::new() } else { plain() });
        // That it is an error says its status.
        let code = text("code").or_else(|| text("status").filter(|word| word != "error"));
        Self { message, code: code.unwrap_or_default() }
    }

    fn is(&self, code: &str) -> bool {
        self.code == code || self.message == code || self.message.starts_with(&format!("{code}:"))
    }

    fn has(&self, words: &str) -> bool {
        [&self.message, &self.code].iter().any(|said| said.to_ascii_lowercase().contains(words))
    }

    fn has_no_room(&self) -> bool {
        ["capacity", "insufficient resources", "no room"].iter().any(|words| self.has(words))
    }

    /// A failed precondition without a word may be this one, which ends by itself.
    fn is_lingering(&self) -> bool {
        let is_mute = self.message.is_empty() || self.message == PRECONDITION;
        self.has("still active") || is_mute && self.is(PRECONDITION)
    }

    fn detail(&self, status: u16) -> String {
        let said = if self.message.is_empty() { &self.code } else { &self.message };
        format!("{status} {said}").trim_end().to_owned()
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
        let mute = r#"{"status":"error","code":"not_found"}"#;
        assert_eq!(refused(404, mute), ProviderError::Gone("404 not_found".to_owned()));
        let empty = r#"{"error":"","code":"not_found","message":""}"#;
        assert_eq!(refused(404, empty), ProviderError::Gone("404 not_found".to_owned()));
        let only = r#"{"status":"error"}"#;
        assert_eq!(refused(404, only), ProviderError::Gone("404".to_owned()));
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
    }

    #[test]
    fn a_machine_that_lingers_is_known_in_every_shape_and_by_no_other_status() {
        let active = "machine still active, refusing to start";
        let created = "unable to start machine from current state: 'created'";
        let coded = |words: &str| {
            format!(r#"{{"status":"error","code":"failed_precondition","message":"{words}"}}"#)
        };
        for (words, kind) in [(active, Conflict::Lingering), (created, Conflict::State)] {
            for body in [
                format!(r#"{{"error":"failed_precondition: {words}"}}"#),
                format!(r#"{{"error":"{words}","status":"failed_precondition"}}"#),
                format!(r#"{{"message":"failed_precondition: {words}"}}"#),
                format!(r#"{{"message":"{words}","code":"failed_precondition"}}"#),
                coded(words),
                format!("failed_precondition: {words}"),
                words.to_owned(),
            ] {
                assert_eq!(conflict(412, &body), Some(kind), "{body}");
            }
        }
        // Without a word it may be this one; with another code, or none at all, it is not.
        for body in [
            r#"{"status":"error","code":"failed_precondition"}"#,
            r#"{"status":"error","code":"failed_precondition","message":""}"#,
            r#"{"error":"failed_precondition"}"#,
            "failed_precondition",
        ] {
            assert_eq!(conflict(412, body), Some(Conflict::Lingering), "{body}");
        }
        for body in ["", "{}", "no", r#"{"status":"error","code":"volume_in_use"}"#] {
            assert_eq!(conflict(412, body), Some(Conflict::State), "{body}");
        }
        for status in [301, 400, 401, 403, 404, 408, 409, 410, 422, 429, 500, 502, 503] {
            assert_ne!(conflict(status, &coded(active)), Some(Conflict::Lingering), "{status}");
        }
    }

    #[test]
    fn what_is_said_by_a_code_alone_is_told() {
        let region = refused(422, r#"{"status":"error","code":"invalid_region"}"#);
        assert_eq!(region, ProviderError::Invalid("422 invalid_region".to_owned()));
        let lease = r#"{"status":"error","code":"lease_held"}"#;
        assert_eq!(conflict(409, lease), Some(Conflict::Leased));
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
