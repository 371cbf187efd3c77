//! Why a mail is not sent, or mail can't be started. No text repeats what it was given: that may
//! hold a recipient, a token or a password.

use std::path::PathBuf;
use std::time::Duration;

use super::address::MAX_ADDRESS;
use super::failure::Failure;
use super::message::{MAX_SUBJECT, MAX_TEXT};

/// A text that is no mail address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Not one plain address in ASCII.
    #[error("not one mail address such as ada@example.com; give one, in ASCII")]
    NotAnAddress,
    /// More than SMTP can carry.
    #[error("longer than {MAX_ADDRESS} characters; give a shorter address")]
    TooLong,
}

/// A mail that can't be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MailError {
    /// The recipient can't be written to.
    #[error("the recipient is {0}")]
    To(#[from] AddressError),
    /// The subject could end its header, or is empty.
    #[error("the subject is empty or holds control characters; give one line of text")]
    Subject,
    /// More than a header should hold.
    #[error("the subject is longer than {MAX_SUBJECT} characters; shorten it")]
    SubjectTooLong,
    /// The text holds what no mail program shows.
    #[error("the text holds control characters beside line breaks and tabs; remove them")]
    Text,
    /// More than a notice should hold.
    #[error("the text is longer than {MAX_TEXT} bytes; shorten it")]
    TextTooLong,
    /// The parts do not make a message.
    #[error("the message can't be put together from its parts; report this as a bug")]
    Message,
}

/// Why a mail was not sent, and with it what is to become of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// It can't be written, now or ever.
    #[error("the mail can't be written: {0}")]
    Mail(#[from] MailError),
    /// The server will not take it, whenever it is asked.
    #[error("{why}")]
    Refused {
        /// What the server is like.
        why: Failure,
    },
    /// Another try may do better.
    #[error("{why}; it is tried again later")]
    Later {
        /// What the server is like.
        why: Failure,
    },
    /// The server was not asked: this was no try.
    #[error("the server failed too often of late and is left alone for {retry_after:?}")]
    LeftAlone {
        /// When to ask again, at the latest.
        retry_after: Duration,
    },
}

impl SendError {
    /// A stable word for logs and job lists.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Mail(_) => "unwritable",
            Self::Refused { why } | Self::Later { why } => why.reason(),
            Self::LeftAlone { .. } => "left_alone",
        }
    }
}

impl From<Failure> for SendError {
    fn from(why: Failure) -> Self {
        if why.is_transient() { Self::Later { why } } else { Self::Refused { why } }
    }
}

/// Why mail can't be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The file with the certificates can't be read.
    #[error("the certificates of {} can't be read: {source}; check mail.ca_file", .path.display())]
    CaFile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file holds no certificate.
    #[error("{} holds no certificate in PEM form; check mail.ca_file", .path.display())]
    NoCertificate {
        /// The file.
        path: PathBuf,
    },
    /// TLS can't be prepared.
    #[error("TLS to the mail server can't be prepared: {0}; check mail.server and mail.ca_file")]
    Tls(String),
    /// The pace makes no sense.
    #[error("the pace of mail can't be kept: {0}")]
    Pace(#[from] mainstay_breaker::ConfigError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_has_a_stable_word_and_says_whether_to_try_again() {
        for (error, reason) in [
            (MailError::Message.into(), "unwritable"),
            (Failure::Refused(550).into(), "refused"),
            (Failure::Deferred(451).into(), "deferred"),
            (Failure::NoStartTls.into(), "no_starttls"),
            (Failure::Unfit(String::new()).into(), "unfit"),
            (Failure::Timeout.into(), "timeout"),
            (Failure::Unreachable(String::new()).into(), "unreachable"),
            (Failure::Garbled.into(), "garbled"),
            (SendError::LeftAlone { retry_after: Duration::from_secs(30) }, "left_alone"),
        ] {
            assert_eq!(error.reason(), reason, "{error}");
            let again = matches!(error, SendError::Later { .. });
            let is_transient = ["deferred", "timeout", "unreachable", "garbled"].contains(&reason);
            assert_eq!(again, is_transient, "{error}");
        }
    }
}
