//! The shapes in which errors come.

use serde_json::json;

use crate::door::Reply;

/// How an error is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ErrorShape {
    /// `{"error": "code: message"}`
    #[default]
    Error,
    /// `{"message": "code: message"}`
    Message,
    /// `{"status": "error", "code", "message"}`
    Coded,
    /// `{"status": "error", "code"}`
    CodeAlone,
    /// Plain text.
    Plain,
}

impl ErrorShape {
    /// Each of them.
    pub const ALL: [Self; 5] =
        [Self::Error, Self::Message, Self::Coded, Self::CodeAlone, Self::Plain];

    pub(crate) fn reply(self, status: u16, code: &str, message: &str) -> Reply {
        let both = format!("{code}: {message}");
        let body = match self {
            Self::Error => json!({ "error": both }),
            Self::Message => json!({ "message": both }),
            Self::Coded => json!({ "status": "error", "code": code, "message": message }),
            Self::CodeAlone => json!({ "status": "error", "code": code }),
            Self::Plain => return Reply::text(status, &both),
        };
        Reply::json(status, &body)
    }
}
