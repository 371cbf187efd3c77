//! What an answer of the Responses API says. Pure.

use mainstay_outbound::{FetchError, FetchErrorKind, WebAnswer};
use serde_json::Value;

use super::LlmAnswer;
use super::error::{LlmError, MAX_RAW};
use super::question::Format;

/// The longest answer, as it comes over the network.
pub(crate) const MAX_ANSWER: usize = 1024 * 1024;

/// The longest word of the provider that is told on.
const MAX_WORD: usize = 64;

/// What came of one question.
#[derive(Debug)]
pub(crate) enum Reply {
    /// An answer, or why there is none.
    Ended(Result<LlmAnswer, LlmError>),
    /// The provider does not answer in this form.
    FormatRefused,
}

/// What an answer says, asked for in this form.
pub(crate) fn read(answer: &WebAnswer, model: &str, format: Format) -> Reply {
    let body = serde_json::from_slice::<Value>(&answer.body).ok();
    let status = answer.status;
    let code = || body.as_ref().and_then(|body| word(body.pointer("/error/code")?));
    let retry_after = answer.retry_after();
    Reply::Ended(match (status, &body) {
        (200..=299, Some(body)) => completed(body, model),
        (200..=299, None) => Err(LlmError::Failed(
            "the provider of the language model answered with something else than JSON; check LLM_BASE_URL".to_owned(),
        )),
        (400 | 422, Some(body)) if format == Format::Schema && refuses_format(body) => {
            return Reply::FormatRefused;
        }
        (429, _) => Err(LlmError::RateLimited { code: code(), retry_after }),
        (500..=599, _) => Err(LlmError::Provider5xx { status, retry_after }),
        (400..=499, _) => Err(LlmError::Provider4xx { status, code: code() }),
        _ => Err(LlmError::Failed(format!(
            "the provider of the language model answered with the status {status}, which means nothing here; check LLM_BASE_URL"
        ))),
    })
}

/// What a call that failed says. Where it went is not told: whoever owns the file is shown this.
pub(crate) fn failed(error: &FetchError, limit: std::time::Duration) -> LlmError {
    match error.kind() {
        FetchErrorKind::Timeout => LlmError::Timeout { limit },
        FetchErrorKind::TooLarge => LlmError::Failed(format!(
            "the answer of the language model is longer than {MAX_ANSWER} bytes; try another LLM_MODEL"
        )),
        FetchErrorKind::BlockedAddress | FetchErrorKind::RedirectBlocked => LlmError::Failed(
            format!("the language model is not asked: {}; check LLM_BASE_URL", error.unnamed()),
        ),
        _ => LlmError::Network(error.unnamed().to_owned()),
    }
}

/// A body that the provider calls an answer.
fn completed(body: &Value, asked: &str) -> Result<LlmAnswer, LlmError> {
    match body.get("status").and_then(Value::as_str) {
        // Compatible servers may leave it out.
        Some("completed") | None => {}
        Some("incomplete") => return Err(incomplete(body)),
        Some("failed") => return Err(provider_failed(body)),
        Some(_) => {
            return Err(LlmError::Failed(
                "the provider of the language model answered before the model had; check LLM_BASE_URL".to_owned(),
            ));
        }
    }
    let raw = output(body)?;
    let json = serde_json::from_str(unfenced(&raw))
        .map_err(|_| LlmError::InvalidJson { raw: bounded(&raw).to_owned() })?;
    let model = model_name(body.get("model").and_then(Value::as_str), asked);
    Ok(LlmAnswer { json, raw, model })
}

/// The name of the model as it may be kept, whatever the provider calls it.
fn model_name(told: Option<&str>, asked: &str) -> String {
    let clean = |name: &str| {
        let seen = name.chars().filter(|one| !one.is_control());
        seen.take(MAX_WORD).collect::<String>().trim().to_owned()
    };
    told.map(clean).filter(|name| !name.is_empty()).unwrap_or_else(|| clean(asked))
}

/// What the model wrote.
fn output(body: &Value) -> Result<String, LlmError> {
    let mut text = String::new();
    let items = body.get("output").and_then(Value::as_array).into_iter().flatten();
    let messages = items.filter(|item| is_of(item, "message"));
    let parts = messages.filter_map(|item| item.get("content")?.as_array()).flatten();
    for part in parts {
        if is_of(part, "refusal") {
            return Err(LlmError::Failed(
                "the language model refused to write a report of this transcript; read it for what it may have taken offence at".to_owned(),
            ));
        }
        if is_of(part, "output_text") {
            text.push_str(part.get("text").and_then(Value::as_str).unwrap_or_default());
        }
    }
    if text.trim().is_empty() {
        return Err(LlmError::Failed(
            "the language model wrote nothing; try again, or try another LLM_MODEL".to_owned(),
        ));
    }
    Ok(text)
}

fn incomplete(body: &Value) -> LlmError {
    let reason = body.pointer("/incomplete_details/reason").and_then(word);
    LlmError::Failed(match reason.as_deref() {
        Some("max_output_tokens") => {
            "the language model reached its limit before the report was whole (max_output_tokens); shorten the transcript, or take another LLM_MODEL".to_owned()
        }
        Some("content_filter") => {
            "the provider's content filter stopped the report (content_filter); read the transcript for what it may have stopped at".to_owned()
        }
        other => format!(
            "the language model stopped before the report was whole ({}); try another LLM_MODEL",
            other.unwrap_or("no reason given")
        ),
    })
}

/// The provider says itself that it failed, under a status of success.
fn provider_failed(body: &Value) -> LlmError {
    match body.pointer("/error/code").and_then(word).as_deref() {
        Some("rate_limit_exceeded") => LlmError::RateLimited {
            code: Some("rate_limit_exceeded".to_owned()),
            retry_after: None,
        },
        Some("server_error") => LlmError::Provider5xx { status: 500, retry_after: None },
        code => LlmError::Failed(format!(
            "the provider of the language model failed ({}); check LLM_MODEL",
            code.unwrap_or("no reason given")
        )),
    }
}

/// Whether an error is about the form of the answer, and not about anything else.
fn refuses_format(body: &Value) -> bool {
    let error = body.get("error").unwrap_or(body);
    let texts = ["param", "code", "message"].map(|name| error.get(name).and_then(Value::as_str));
    let plain = [error.as_str(), error.get("detail").and_then(Value::as_str)];
    let names =
        ["json_schema", "response_format", "text.format", "text_format", "structured output"];
    texts.into_iter().chain(plain).flatten().any(|text| {
        let text = text.to_ascii_lowercase();
        names.iter().any(|name| text.contains(name))
    })
}

/// Without the fence that some models put around JSON.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let Some(inner) = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) else {
        return text;
    };
    inner.strip_prefix("json").unwrap_or(inner).trim()
}

fn bounded(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_RAW)).unwrap_or(text)
}

fn is_of(item: &Value, kind: &str) -> bool {
    item.get("type").and_then(Value::as_str) == Some(kind)
}

/// A word such as `invalid_api_key`: what else the provider writes may repeat what it was asked.
fn word(value: &Value) -> Option<String> {
    let text = value.as_str()?;
    let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.';
    let fits = (1..=MAX_WORD).contains(&text.len()) && text.bytes().all(is_fit);
    fits.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_provider_is_not_named_to_whoever_owns_a_file() {
        let message = "the name ollama.internal can't be resolved";
        let error = FetchError::new(FetchErrorKind::Dns, message);
        let told = failed(&error, std::time::Duration::from_secs(1));
        assert_eq!((told.code(), told.is_retriable()), ("llm_network_error", true));
        assert!(told.to_string().contains("its name, which the log has"), "{told}");
        assert!(!told.to_string().contains("ollama"), "{told}");
    }

    #[test]
    fn the_name_of_a_model_is_clean_and_short_whatever_the_provider_says() {
        let long = "m".repeat(1_000);
        for (told, wanted) in [
            (Some("gpt-5-mini-2026"), "gpt-5-mini-2026"),
            (Some("gpt\0-5\u{1b}[31m\n"), "gpt-5[31m"),
            (Some("\0\0"), "asked"),
            (Some("  "), "asked"),
            (Some(""), "asked"),
            (None, "asked"),
            (Some(&*long), &long[..MAX_WORD]),
        ] {
            assert_eq!(model_name(told, "asked"), wanted, "{told:?}");
        }
    }
}
