//! Why a call failed, or calling can't be started. A text never repeats credentials, a header or an
//! inner error: it is shown to whoever watches the service.

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;

use crate::guard::Blocked;

/// The most characters of a message.
pub const MAX_MESSAGE: usize = 300;

/// What is said of a name that is not told.
const UNRESOLVED: &str = "its name, which the log has, can't be resolved; check its spelling, and the DNS servers of the host that Mainstay runs on";

/// What kind of failure it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FetchErrorKind {
    /// The name does not resolve.
    Dns,
    /// Nothing listens there, or there is no way to it.
    ConnectRefused,
    /// No connection in time.
    ConnectTimeout,
    /// No encrypted connection.
    Tls,
    /// No whole answer in time.
    Timeout,
    /// An answer longer than the limit.
    TooLarge,
    /// A redirect that is not followed.
    RedirectBlocked,
    /// An address that is not called.
    BlockedAddress,
    /// An answer that can't be read.
    BadBody,
}

impl FetchErrorKind {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Dns,
        Self::ConnectRefused,
        Self::ConnectTimeout,
        Self::Tls,
        Self::Timeout,
        Self::TooLarge,
        Self::RedirectBlocked,
        Self::BlockedAddress,
        Self::BadBody,
    ];

    /// The word for it in the API, in logs and in metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dns => "dns",
            Self::ConnectRefused => "connect_refused",
            Self::ConnectTimeout => "connect_timeout",
            Self::Tls => "tls",
            Self::Timeout => "timeout",
            Self::TooLarge => "too_large",
            Self::RedirectBlocked => "redirect_blocked",
            Self::BlockedAddress => "blocked_address",
            Self::BadBody => "bad_body",
        }
    }
}

/// A call that failed: its kind, and a sentence that a person can act on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FetchError {
    kind: FetchErrorKind,
    message: Cow<'static, str>,
}

impl FetchError {
    /// A failure with its sentence, which is held to [`MAX_MESSAGE`].
    #[must_use]
    pub fn new(kind: FetchErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        let mut message = message.into();
        if let Some((end, _)) = message.char_indices().nth(MAX_MESSAGE) {
            message.to_mut().truncate(end);
        }
        Self { kind, message }
    }

    /// What kind of failure it was.
    #[must_use]
    pub const fn kind(&self) -> FetchErrorKind {
        self.kind
    }

    /// The sentence.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The sentence for people who did not say whom to call: it does not name that host.
    #[must_use]
    pub fn unnamed(&self) -> &str {
        match self.kind {
            FetchErrorKind::Dns => UNRESOLVED,
            _ => &self.message,
        }
    }

    pub(crate) fn blocked(why: Blocked) -> Self {
        Self::new(FetchErrorKind::BlockedAddress, format!("the address is not called: {why}"))
    }

    pub(crate) fn redirect(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(FetchErrorKind::RedirectBlocked, message)
    }

    pub(crate) fn bad_body(message: &'static str) -> Self {
        Self::new(FetchErrorKind::BadBody, message)
    }

    pub(crate) fn too_large(limit: usize) -> Self {
        let message = format!(
            "the answer is longer than the limit of {limit} bytes; let the endpoint say less"
        );
        Self::new(FetchErrorKind::TooLarge, message)
    }

    pub(crate) fn timeout(limit: Duration) -> Self {
        let message = format!(
            "no complete answer came within {limit:?}; the endpoint is too slow, or needs a longer timeout"
        );
        Self::new(FetchErrorKind::Timeout, message)
    }

    /// The same failure behind a redirect: a blocked address there is the redirect's fault.
    pub(crate) fn behind_redirect(self) -> Self {
        if self.kind != FetchErrorKind::BlockedAddress {
            return self;
        }
        let why = self.message.strip_prefix("the address is not called: ").unwrap_or(&self.message);
        Self::redirect(format!("the redirect is not followed: {why}"))
    }
}

/// Why calling can't be started.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    /// The file with the certificates can't be read.
    #[error("the certificates of {} can't be read: {source}; check outbound.ca_file", .path.display())]
    CaFile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file holds no certificate, or one that is none.
    #[error("{} holds no certificate in PEM form that can be used; check outbound.ca_file", .path.display())]
    NoCertificate {
        /// The file.
        path: PathBuf,
    },
    /// TLS can't be prepared.
    #[error("TLS can't be prepared: {0}; report this as a bug")]
    Tls(String),
    /// Names can't be resolved.
    #[error("the system's DNS configuration can't be used: {0}; check /etc/resolv.conf")]
    Dns(String),
    /// There is no runtime to clear out the pool.
    #[error("calls can only be started inside of the runtime; report this as a bug")]
    NoRuntime,
    /// A bound of zero.
    #[error("{0} is zero, so that nothing could be called; give at least one")]
    ZeroBound(&'static str),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_word_of_its_own() {
        let mut names: Vec<&str> = FetchErrorKind::ALL.iter().map(|kind| kind.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), FetchErrorKind::ALL.len());
    }

    #[test]
    fn a_message_has_an_end() {
        let error = FetchError::new(FetchErrorKind::Dns, "ä".repeat(10 * MAX_MESSAGE));
        assert_eq!(error.message().chars().count(), MAX_MESSAGE);
        assert_eq!(error.to_string(), error.message());
    }

    #[test]
    fn a_blocked_address_behind_a_redirect_is_a_blocked_redirect() {
        let behind = FetchError::blocked(Blocked::OwnDoor).behind_redirect();
        assert_eq!(behind.kind(), FetchErrorKind::RedirectBlocked);
        assert!(behind.message().starts_with("the redirect is not followed: it leads to Mainstay"));
        let slow = FetchError::timeout(Duration::from_secs(10));
        assert_eq!(slow.clone().behind_redirect(), slow);
    }
}
