//! Why a mail is not taken, or mail can't be started. No text repeats what it was given: that may
//! hold a recipient, a token or a password.

use std::path::PathBuf;

use super::address::MAX_ADDRESS;
use super::message::{MAX_SUBJECT, MAX_TEXT};
use super::queue::MAX_QUEUED;

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

/// A mail that is not taken.
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
    /// Too much waits already.
    #[error(
        "{MAX_QUEUED} mails wait to be sent already; this one is dropped, look at the mail server"
    )]
    Full,
    /// The process stops.
    #[error("Mainstay stops and takes no more mail; send it again after the start")]
    Stopped,
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
    #[error("the pace of the mail queue can't be kept: {0}")]
    Pace(#[from] mainstay_breaker::ConfigError),
}
