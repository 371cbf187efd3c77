//! The stable codes of errors, each with its status and its short phrase.

use axum::http::StatusCode;

/// What went wrong, in a word that programs can rely on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// The body ended early or could not be read.
    BodyUnreadable,
    /// The body is larger than allowed.
    BodyTooLarge,
    /// The body came too slowly.
    BodyTooSlow,
    /// The request's line and headers are larger than allowed.
    HeadTooLarge,
    /// Something failed on our side.
    Internal,
    /// The body is JSON, but not of the expected shape.
    InvalidBody,
    /// `Host` is missing, doubled or unreadable.
    InvalidHost,
    /// The path is not readable, or a part of it is not of the expected kind.
    InvalidPath,
    /// The query is not of the expected shape.
    InvalidQuery,
    /// The body is not JSON.
    MalformedJson,
    /// The path exists, but not for this method.
    MethodNotAllowed,
    /// The metrics are not open to everyone.
    MetricsNotPublic,
    /// Nothing is at this path.
    NotFound,
    /// The answer took too long.
    TimedOut,
    /// More headers than allowed.
    TooManyHeaders,
    /// `Host` names a site that this is not.
    UnknownHost,
    /// The body is of another kind than JSON.
    UnsupportedMediaType,
}

impl Code {
    /// Every code there is.
    pub const ALL: [Self; 17] = [
        Self::BodyUnreadable,
        Self::BodyTooLarge,
        Self::BodyTooSlow,
        Self::HeadTooLarge,
        Self::Internal,
        Self::InvalidBody,
        Self::InvalidHost,
        Self::InvalidPath,
        Self::InvalidQuery,
        Self::MalformedJson,
        Self::MethodNotAllowed,
        Self::MetricsNotPublic,
        Self::NotFound,
        Self::TimedOut,
        Self::TooManyHeaders,
        Self::UnknownHost,
        Self::UnsupportedMediaType,
    ];

    /// The code as it stands in the answer.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.entry().1
    }

    pub(crate) const fn status(self) -> StatusCode {
        self.entry().0
    }

    pub(crate) const fn phrase(self) -> &'static str {
        self.entry().2
    }

    const fn entry(self) -> (StatusCode, &'static str, &'static str) {
        type Status = StatusCode;
        match self {
            Self::BodyUnreadable => {
                (Status::BAD_REQUEST, "body_unreadable", "The body could not be read")
            }
            Self::BodyTooLarge => {
                (Status::PAYLOAD_TOO_LARGE, "body_too_large", "The body is too large")
            }
            Self::BodyTooSlow => {
                (Status::REQUEST_TIMEOUT, "body_too_slow", "The body came too slowly")
            }
            Self::HeadTooLarge => (
                Status::REQUEST_HEADER_FIELDS_TOO_LARGE,
                "head_too_large",
                "The head of the request is too large",
            ),
            Self::Internal => {
                (Status::INTERNAL_SERVER_ERROR, "internal", "Something failed on our side")
            }
            Self::InvalidBody => (Status::BAD_REQUEST, "invalid_body", "The body is not valid"),
            Self::InvalidHost => (Status::BAD_REQUEST, "invalid_host", "The host is not valid"),
            Self::InvalidPath => (Status::BAD_REQUEST, "invalid_path", "The path is not valid"),
            Self::InvalidQuery => (Status::BAD_REQUEST, "invalid_query", "The query is not valid"),
            Self::MalformedJson => (Status::BAD_REQUEST, "malformed_json", "The body is not JSON"),
            Self::MethodNotAllowed => {
                (Status::METHOD_NOT_ALLOWED, "method_not_allowed", "The method is not allowed here")
            }
            Self::MetricsNotPublic => {
                (Status::FORBIDDEN, "metrics_not_public", "The metrics are not public")
            }
            Self::NotFound => (Status::NOT_FOUND, "not_found", "There is nothing here"),
            Self::TimedOut => {
                (Status::SERVICE_UNAVAILABLE, "timed_out", "The answer took too long")
            }
            Self::TooManyHeaders => (
                Status::REQUEST_HEADER_FIELDS_TOO_LARGE,
                "too_many_headers",
                "There are too many headers",
            ),
            Self::UnknownHost => {
                (Status::MISDIRECTED_REQUEST, "unknown_host", "The host is not known here")
            }
            Self::UnsupportedMediaType => {
                (Status::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", "The body must be JSON")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_code_is_one_snake_case_word_of_its_own_with_an_error_status() {
        let mut seen = HashSet::new();
        for code in Code::ALL {
            let name = code.name();
            assert!(seen.insert(name), "{name} is there twice");
            assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{name}");
            assert!(code.status().is_client_error() || code.status().is_server_error(), "{name}");
            assert!(!code.phrase().ends_with('.'), "{name}");
        }
    }
}
