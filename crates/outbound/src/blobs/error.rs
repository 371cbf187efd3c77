//! Why a blob could not be stored or read, or storing can't be started. No text holds a secret, a path
//! of this host or an inner address: it may be shown to whoever owns the file.

use std::borrow::Cow;
use std::io;
use std::time::Duration;

use mainstay_breaker::Verdict;

/// What kind of failure it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlobErrorKind {
    /// There is no such blob.
    Missing,
    /// It is larger than the caller takes.
    TooLarge,
    /// Another try may do better.
    Transient,
    /// No other try will do better, until somebody changes something.
    Permanent,
}

impl BlobErrorKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Missing, Self::TooLarge, Self::Transient, Self::Permanent];

    /// The word for it in logs and metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::TooLarge => "too_large",
            Self::Transient => "transient",
            Self::Permanent => "permanent",
        }
    }
}

/// A call that failed: its kind, and a sentence that a person can act on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BlobError {
    kind: BlobErrorKind,
    message: Cow<'static, str>,
    retry_after: Option<Duration>,
}

impl BlobError {
    /// What kind of failure it was.
    #[must_use]
    pub const fn kind(&self) -> BlobErrorKind {
        self.kind
    }

    /// Whether another try may do better.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        matches!(self.kind, BlobErrorKind::Transient)
    }

    /// Set where the storage was not even asked, because it failed so often of late: when to ask again.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    pub(crate) fn new(kind: BlobErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, message: message.into(), retry_after: None }
    }

    pub(crate) fn transient(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(BlobErrorKind::Transient, message)
    }

    pub(crate) fn permanent(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(BlobErrorKind::Permanent, message)
    }

    pub(crate) fn missing() -> Self {
        Self::new(BlobErrorKind::Missing, "there is no such object in the storage")
    }

    pub(crate) fn too_large(most: usize) -> Self {
        let message = format!("the stored object is larger than the {most} bytes that are read");
        Self::new(BlobErrorKind::TooLarge, message)
    }

    pub(crate) fn timeout(limit: Duration) -> Self {
        Self::transient(format!("the storage did not answer within {limit:?}; check its load"))
    }

    pub(crate) fn left_alone(wait: Duration) -> Self {
        let message = format!(
            "the object storage failed so often that it is left alone for {} s; check S3_ENDPOINT and its log",
            wait.as_secs().max(1)
        );
        Self { retry_after: Some(wait), ..Self::transient(message) }
    }

    pub(crate) fn ended() -> Self {
        Self::permanent("the upload has failed before; begin it again")
    }

    /// What it means to the breaker: a storage that answers is well, also when it says no.
    pub(crate) const fn verdict(&self) -> Verdict {
        if self.is_transient() { Verdict::Failure } else { Verdict::Success }
    }
}

/// What an error of the folder says. The path stays unsaid.
impl From<io::Error> for BlobError {
    fn from(error: io::Error) -> Self {
        use io::ErrorKind as Kind;
        match error.kind() {
            Kind::NotFound => Self::missing(),
            Kind::StorageFull | Kind::QuotaExceeded | Kind::FileTooLarge => Self::transient(
                "the storage folder has no room left; free some on the disk of MAINSTAY_DATA_DIR",
            ),
            Kind::PermissionDenied | Kind::ReadOnlyFilesystem => Self::permanent(
                "the storage folder can't be written or read; check its owner and permissions below MAINSTAY_DATA_DIR",
            ),
            Kind::NotADirectory | Kind::IsADirectory | Kind::AlreadyExists => Self::permanent(
                "the storage folder holds something else in the object's place; look into the folder below MAINSTAY_DATA_DIR",
            ),
            kind => Self::transient(format!(
                "the storage folder failed ({kind}); check the disk of MAINSTAY_DATA_DIR"
            )),
        }
    }
}

/// Why storing can't be started.
#[derive(Debug, thiserror::Error)]
pub enum BlobsError {
    /// The folder can't be used.
    #[error("the storage folder {} can't be made or used: {source}; check its owner and permissions", .path.display())]
    Folder {
        /// The folder.
        path: std::path::PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A setting that can't be used. It is named, and not repeated.
    #[error("{name} {problem}")]
    Setting {
        /// Its name in the environment.
        name: &'static str,
        /// What is wrong with it, and what to give.
        problem: &'static str,
    },
    /// The client can't be prepared.
    #[error("the object storage can't be called: {0}")]
    Client(#[from] crate::web::WebError),
    /// The guard can't be prepared.
    #[error("the pace of the object storage can't be kept: {0}")]
    Pace(#[from] mainstay_breaker::ConfigError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_disk_says_is_sorted() {
        use BlobErrorKind::{Missing, Permanent, Transient};
        for (given, kind) in [
            (io::ErrorKind::NotFound, Missing),
            (io::ErrorKind::StorageFull, Transient),
            (io::ErrorKind::QuotaExceeded, Transient),
            (io::ErrorKind::Interrupted, Transient),
            (io::ErrorKind::Other, Transient),
            (io::ErrorKind::PermissionDenied, Permanent),
            (io::ErrorKind::ReadOnlyFilesystem, Permanent),
            (io::ErrorKind::NotADirectory, Permanent),
        ] {
            let error = BlobError::from(io::Error::new(given, "/srv/hidden"));
            assert_eq!(error.kind(), kind, "{given}");
            assert!(!error.to_string().contains("hidden"), "{error}");
            assert_eq!(error.is_transient(), error.verdict() == Verdict::Failure);
        }
    }
}
