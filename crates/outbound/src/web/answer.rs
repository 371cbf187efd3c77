//! What came back.

use std::time::Duration;

use bytes::Bytes;
use hyper::header::HeaderValue;

/// An answer, whatever its status: whether that is a failure, the caller decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebAnswer {
    /// The status of the last answer, after redirects.
    pub status: u16,
    /// The body, unpacked and whole.
    pub body: Bytes,
    /// The time from the call to the last byte, redirects and connecting included.
    pub latency: Duration,
    content_type: Option<HeaderValue>,
    retry_after: Option<Duration>,
    request_id: Option<HeaderValue>,
}

/// The longest name of a request that is told on.
const MAX_REQUEST_ID: usize = 128;

impl WebAnswer {
    /// An answer without a content type: for those who stand in for the world.
    #[must_use]
    pub const fn new(status: u16, body: Bytes, latency: Duration) -> Self {
        Self { status, body, latency, content_type: None, retry_after: None, request_id: None }
    }

    /// Whether the status is one of success.
    #[must_use]
    pub const fn is_success(&self) -> bool {
        matches!(self.status, 200..=299)
    }

    /// What the server says that the body is, where that is plain text.
    #[must_use]
    pub fn content_type(&self) -> Option<&str> {
        self.content_type.as_ref().and_then(|value| value.to_str().ok())
    }

    /// How long the server asks to be left alone, from when it answered.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// What the server calls this request, for whoever asks its people about it.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        let text = self.request_id.as_ref()?.to_str().ok()?;
        text.get(..text.floor_char_boundary(MAX_REQUEST_ID))
    }

    pub(crate) fn with_headers(
        self,
        content_type: Option<HeaderValue>,
        retry_after: Option<Duration>,
        request_id: Option<HeaderValue>,
    ) -> Self {
        Self { content_type, retry_after, request_id, ..self }
    }
}
