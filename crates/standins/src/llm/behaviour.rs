//! What the provider does with a question.

use std::time::Duration;

use serde_json::{Value, json};

/// What the provider does with a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behaviour {
    /// Answers what a good model would, by the schema or in any JSON as it is asked.
    Good,
    /// As [`Behaviour::Good`], after this time.
    Slow(Duration),
    /// As [`Behaviour::Good`], once it is let go.
    Held,
    /// 429, with this many seconds in `Retry-After` where there are any.
    RateLimited(Option<u64>),
    /// A failure of its own, with this status.
    Failing(u16),
    /// The same with a page of five megabytes, as a proxy gives it.
    FailingAtLength(u16),
    /// Says no, with this status and code.
    Refusing(u16, &'static str),
    /// Refuses an answer by schema, and answers well in any JSON.
    NoSchemas,
    /// The model writes something else than JSON.
    NotJson,
    /// The model writes good JSON in a fence of Markdown.
    Fenced,
    /// The model writes JSON that is no report.
    OffSchema,
    /// The model writes a report with HTML in its texts.
    Html,
    /// An answer of five megabytes.
    Huge,
    /// The model refuses to write.
    Unwilling,
    /// The model stops before the end, for this reason.
    Incomplete(&'static str),
    /// A status of success for a failure with this code.
    FailedInside(&'static str),
    /// A page of HTML with a status of success, as a proxy gives it.
    ProxyPage,
    /// Sends to another address.
    Moved,
    /// Hangs up in the middle of the answer.
    HangsUp,
    /// Never answers.
    Silent,
}

/// Five megabytes.
const HUGE: usize = 5 * 1024 * 1024;

/// What is sent back: a status, headers and a body.
#[derive(Debug, Clone)]
pub(crate) struct Sent {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: String,
}

impl Behaviour {
    /// What is sent for a question, where `written` is what a good model would write.
    pub(crate) fn sent(self, question: &Value, written: &Value) -> Sent {
        let format = question.pointer("/text/format/type").and_then(Value::as_str);
        let said = |written: &str| said(question, written);
        let response = |status: &str, content: &Value| response(question, status, content);
        match self {
            Self::Good | Self::Slow(_) | Self::Held | Self::HangsUp | Self::Silent => {
                said(&written.to_string())
            }
            Self::RateLimited(seconds) => {
                let mut sent = error(429, "rate_limit_exceeded", "You are asking too often.");
                sent.headers.extend(seconds.map(|seconds| ("Retry-After", seconds.to_string())));
                sent
            }
            Self::Failing(status) => error(status, "server_error", "The server had an error."),
            Self::FailingAtLength(status) => error(status, "server_error", &"x".repeat(HUGE)),
            Self::Refusing(status, code) => error(status, code, "That can't be done: hunter2."),
            Self::NoSchemas if format == Some("json_schema") => error(
                400,
                "unsupported_parameter",
                "Invalid parameter: 'text.format' of type 'json_schema' is not supported with this model.",
            ),
            Self::NoSchemas => said(&written.to_string()),
            Self::NotJson => said("I am sorry, here is the report: hunter2"),
            Self::Fenced => said(&format!("```json\n{written}\n```")),
            Self::OffSchema => said(&json!({ "title": 17, "verdict": "hunter2" }).to_string()),
            Self::Html => said(&with_html(written).to_string()),
            Self::Huge => said(&json!({ "title": "x".repeat(HUGE) }).to_string()),
            Self::Unwilling => {
                sent(&response("completed", &json!({ "type": "refusal", "refusal": "I can't." })))
            }
            Self::Incomplete(reason) => {
                let body = response("incomplete", &text("{\"title\": \"half"));
                sent(&with(body, "incomplete_details", json!({ "reason": reason })))
            }
            Self::FailedInside(code) => {
                let error = json!({ "code": code, "message": "hunter2" });
                sent(&with(response("failed", &text("")), "error", error))
            }
            Self::ProxyPage => Sent {
                status: 200,
                headers: vec![("Content-Type", "text/html".to_owned())],
                body: "<html><body>Sign in to the network</body></html>".to_owned(),
            },
            Self::Moved => Sent {
                status: 308,
                headers: vec![("Location", "/elsewhere".to_owned())],
                body: String::new(),
            },
        }
    }
}

fn said(question: &Value, written: &str) -> Sent {
    sent(&response(question, "completed", &text(written)))
}

fn text(written: &str) -> Value {
    json!({ "type": "output_text", "text": written, "annotations": [] })
}

/// A thought comes before the message, as reasoning models give it. The model is the one that was asked.
fn response(question: &Value, status: &str, content: &Value) -> Value {
    json!({
        "id": "resp_standin",
        "object": "response",
        "status": status,
        "model": question["model"],
        "error": null,
        "incomplete_details": null,
        "output": [
            { "type": "reasoning", "id": "rs_standin", "summary": [] },
            { "type": "message", "id": "msg_standin", "role": "assistant", "status": status, "content": [content] },
        ],
        "usage": { "input_tokens": 1, "output_tokens": 1, "total_tokens": 2 },
    })
}

fn sent(body: &Value) -> Sent {
    let headers = vec![("Content-Type", "application/json".to_owned())];
    Sent { status: 200, headers, body: body.to_string() }
}

fn error(status: u16, code: &str, message: &str) -> Sent {
    let error = json!({ "message": message, "type": "error", "param": null, "code": code });
    Sent { status, ..sent(&json!({ "error": error })) }
}

fn with_html(written: &Value) -> Value {
    let html = || json!("<img src=x onerror=alert(1)>");
    with(with(written.clone(), "title", html()), "summary", html())
}

fn with(mut object: Value, field: &str, value: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(field.to_owned(), value);
    }
    object
}
