//! Why a poll failed.

use std::fmt;

/// A poll that failed: what happened, told so that a person can act on it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PollFailure {
    /// Which kind of failure.
    pub kind: FailureKind,
    /// One sentence, without credentials and inner stacks.
    pub message: String,
}

impl PollFailure {
    /// The endpoint answered with a status that is no success.
    #[must_use]
    pub fn of_status(status: u16) -> Self {
        let status = match status {
            401 => "401 Unauthorized: it wants to know who asks".to_owned(),
            403 => "403 Forbidden: it does not let Mainstay ask".to_owned(),
            404 => "404 Not Found: nothing is at this path".to_owned(),
            429 => "429 Too Many Requests".to_owned(),
            500 => "500 Internal Server Error".to_owned(),
            502 => "502 Bad Gateway".to_owned(),
            503 => "503 Service Unavailable".to_owned(),
            504 => "504 Gateway Timeout".to_owned(),
            other => other.to_string(),
        };
        let message =
            format!("the health endpoint answered {status}; only 2xx counts as an answer");
        Self { kind: FailureKind::HttpStatus, message }
    }
}

/// The kinds of failure, which callers and alerts can tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FailureKind {
    /// The name of the host is not known.
    Dns,
    /// Nobody takes connections there.
    ConnectRefused,
    /// The connection did not come about in time.
    ConnectTimeout,
    /// The encryption failed: a certificate, mostly.
    Tls,
    /// The answer was not there in time.
    Timeout,
    /// The answer says that something is wrong.
    HttpStatus,
    /// The answer is longer than allowed.
    TooLarge,
    /// The answer leads elsewhere, where Mainstay does not go.
    RedirectBlocked,
    /// The address is one that Mainstay does not call.
    BlockedAddress,
    /// The answer can't be read.
    BadBody,
}

impl FailureKind {
    /// Every kind.
    pub const ALL: [Self; 10] = [
        Self::Dns,
        Self::ConnectRefused,
        Self::ConnectTimeout,
        Self::Tls,
        Self::Timeout,
        Self::HttpStatus,
        Self::TooLarge,
        Self::RedirectBlocked,
        Self::BlockedAddress,
        Self::BadBody,
    ];

    /// Its name on the wire, in metrics and in the database.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dns => "dns",
            Self::ConnectRefused => "connect_refused",
            Self::ConnectTimeout => "connect_timeout",
            Self::Tls => "tls",
            Self::Timeout => "timeout",
            Self::HttpStatus => "http_status",
            Self::TooLarge => "too_large",
            Self::RedirectBlocked => "redirect_blocked",
            Self::BlockedAddress => "blocked_address",
            Self::BadBody => "bad_body",
        }
    }

    /// The kind of this name, if there is one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
