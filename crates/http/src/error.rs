//! The one error that leaves the surface.
//!
//! The policy:
//! - Whoever calls is told what happened and what to do: a short phrase (`error`), a stable word for
//!   programs (`code`), a sentence (`detail`), the `request_id`, and context beside them.
//! - What failed on our side is told in general words only. Its cause goes into the log, once, with
//!   the request id. No stack, SQL, secret or inner address leaves.
//! - A client's own input is repeated only in part ([`MAX_ECHO_CHARS`]).
//! - 429 and 503 say when to come back (`Retry-After`).
//!
//! A handler returns an [`Error`]; the text is written in one place, by the observing layer, which
//! knows the request's id.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::code::Code;
use crate::limits::{MAX_ECHO_CHARS, RETRY_AFTER};

/// An answer that says what went wrong and what to do.
#[derive(Debug, Clone)]
pub struct Error(Box<Parts>);

#[derive(Debug, Clone)]
struct Parts {
    code: Code,
    detail: String,
    context: BTreeMap<&'static str, Value>,
    retry_after: Option<Duration>,
    cause: Option<Cause>,
}

type Cause = Arc<dyn std::error::Error + Send + Sync>;

/// The body of every error.
#[derive(Debug, Serialize, ToSchema)]
pub struct ErrorBody {
    /// A short phrase for people.
    #[schema(example = "There is nothing here")]
    error: &'static str,
    /// A stable word for programs.
    #[schema(example = "not_found")]
    code: &'static str,
    /// What happened and what to do.
    #[schema(example = "No route is at this path. GET /api/openapi.json lists every route.")]
    detail: String,
    /// The request, as the log names it; also in the header `X-Request-Id`.
    #[schema(example = "019a8b3c-0000-7000-8000-000000000000")]
    request_id: String,
    /// More about this case.
    #[serde(flatten)]
    context: BTreeMap<&'static str, Value>,
}

impl Error {
    /// An error whose `detail` says what happened and what to do.
    #[must_use]
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self(Box::new(Parts {
            code,
            detail: detail.into(),
            context: BTreeMap::new(),
            retry_after: None,
            cause: None,
        }))
    }

    /// A failure on our side: the cause is logged and never shown.
    #[must_use]
    pub fn internal(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        let detail = "Mainstay could not answer. The log has the cause under this request id.";
        let mut error = Self::new(Code::Internal, detail);
        error.0.cause = Some(Arc::from(cause.into()));
        error
    }

    /// Something that Mainstay leans on does not work now: the cause is logged and never shown.
    pub(crate) fn unavailable(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        let detail = "The database is busy or can't be reached now. Try again in a few seconds.";
        let mut error = Self::new(Code::Busy, detail);
        error.0.cause = Some(Arc::from(cause.into()));
        error
    }

    /// Adds a field to the body. The names of the body's own fields are not for this.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        debug_assert!(!["error", "code", "detail", "request_id"].contains(&name));
        self.0.context.insert(name, value.into());
        self
    }

    /// Says when to come back.
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.0.retry_after = Some(wait);
        self
    }

    /// The stable word for what went wrong.
    #[must_use]
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The cause with everything below it, for the log.
    pub(crate) fn cause(&self) -> Option<String> {
        let first: &(dyn std::error::Error + 'static) = self.0.cause.as_deref()?;
        let chain = std::iter::successors(Some(first), |error| error.source());
        Some(chain.map(ToString::to_string).collect::<Vec<_>>().join(": "))
    }

    /// Writes the error into `response`, whose other headers stay.
    pub(crate) fn write(self, response: &mut Response, request_id: &str) {
        let Parts { code, detail, context, retry_after, cause: _ } = *self.0;
        let status = code.status();
        let body = ErrorBody {
            error: code.phrase(),
            code: code.name(),
            detail,
            request_id: request_id.to_owned(),
            context,
        };
        // Strings and numbers always serialise; an empty body would still carry the status.
        *response.body_mut() = Body::from(serde_json::to_vec(&body).unwrap_or_default());
        *response.status_mut() = status;
        response.headers_mut().insert(header::CONTENT_TYPE, APPLICATION_JSON);
        if [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE].contains(&status) {
            let value = retry_after_value(retry_after.unwrap_or(RETRY_AFTER));
            response.headers_mut().insert(header::RETRY_AFTER, value);
        }
    }
}

/// The content type of everything under `/api`.
pub(crate) const APPLICATION_JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Whole seconds, rounded up, so that nobody comes back too early.
pub(crate) fn retry_after_value(wait: Duration) -> HeaderValue {
    HeaderValue::from(wait.as_millis().div_ceil(1000).try_into().unwrap_or(u64::MAX).max(1))
}

/// The first [`MAX_ECHO_CHARS`] characters of a client's input, without control characters.
pub(crate) fn echo(input: &str) -> String {
    let mut characters = input.chars();
    let shown = characters.by_ref().take(MAX_ECHO_CHARS);
    let mut text: String =
        shown.map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect();
    if characters.next().is_some() {
        text.push('…');
    }
    text
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.0.code.name(), self.0.detail)
    }
}

impl std::error::Error for Error {}

/// Only marks the answer: the observing layer writes it, since it knows the request id.
impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let mut response = self.0.code.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("the outer failure")]
    struct Outer(#[source] std::io::Error);

    #[test]
    fn the_whole_chain_of_causes_goes_to_the_log_and_none_of_it_into_the_detail() {
        let error = Error::internal(Outer(std::io::Error::other("10.0.0.7 refused")));
        assert_eq!(error.cause().unwrap(), "the outer failure: 10.0.0.7 refused");
        assert!(!error.to_string().contains("10.0.0.7"));
    }

    #[test]
    fn long_input_is_cut_and_control_characters_are_replaced() {
        assert_eq!(echo("short"), "short");
        assert_eq!(echo("a\u{1b}[31m\n"), "a\u{fffd}[31m\u{fffd}");
        assert_eq!(echo(&"ä".repeat(5000)).chars().count(), MAX_ECHO_CHARS + 1);
    }

    #[test]
    fn a_wait_is_rounded_up_to_whole_seconds_and_never_zero() {
        assert_eq!(retry_after_value(Duration::from_millis(1)), "1");
        assert_eq!(retry_after_value(Duration::from_millis(2001)), "3");
        assert_eq!(retry_after_value(Duration::ZERO), "1");
    }
}
