//! What the room refuses, and why it could not answer.

use mainstay_events::EventError;
use mainstay_jobs::JobsError;
use mainstay_store::StoreError;

use crate::model::{BadWindow, MAX_FILE_BYTES, MAX_FILES_PER_USER, UnknownStatus};
use crate::name::NotATranscript;
use crate::objects::ObjectError;
use crate::reports::BesideError;
use crate::shares::{MAX_SHARES_PER_FILE, SHARE_TIMES};
use crate::turns::MAX_UPLOADS_PER_USER;

/// A refusal, or a failure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportsError {
    /// No provider is configured.
    #[error(
        "no language model is configured, so no report can be made; set LLM_API_KEY, or LLM_PROVIDER and LLM_BASE_URL, and restart Mainstay"
    )]
    NotConfigured,
    /// The name is that of another kind of file.
    #[error(transparent)]
    Name(#[from] NotATranscript),
    /// It has too many bytes.
    #[error("a transcript may have {MAX_FILE_BYTES} bytes; send it in parts of the call")]
    TooLarge,
    /// It has no bytes.
    #[error("the file is empty; send a transcript with at least one line")]
    Empty,
    /// The time of the incident is none.
    #[error(transparent)]
    Window(#[from] BadWindow),
    /// The user has as many files as one may have.
    #[error("you have {MAX_FILES_PER_USER} files, which is the limit; delete some first")]
    TooManyFiles,
    /// The user has as many uploads under way as one may have.
    #[error(
        "{MAX_UPLOADS_PER_USER} of your files are being uploaded now, which is the limit; send the next when one of them is there"
    )]
    TooManyUploads,
    /// As many uploads are under way as may be.
    #[error("too many files are being uploaded now; try again in a moment")]
    Busy,
    /// The caller has no such file.
    #[error("you have no file with this id; it may have been deleted")]
    NotFound,
    /// The report is not there.
    #[error("report_not_ready")]
    NotReady,
    /// Only a failed file can be tried again.
    #[error("the file has not failed, so there is nothing to try again")]
    NotFailed,
    /// A failed file whose original is not there.
    #[error(
        "the upload of this file failed, so there is nothing to make a report of; upload it again"
    )]
    NeverStored,
    /// The upload was ended by somebody else: it took too long, or the file was deleted.
    #[error("the file was deleted or given up while it was uploaded; upload it again")]
    Interrupted,
    /// The file has as many shares as one may have.
    #[error("the file has {MAX_SHARES_PER_FILE} shares, which is the limit; revoke some first")]
    TooManyShares,
    /// A share can't last so long or so short.
    #[error(
        "a share lasts {} to {} seconds; give a number in between",
        SHARE_TIMES.start().as_secs(),
        SHARE_TIMES.end().as_secs()
    )]
    BadExpiry,
    /// There is no such share, or it has expired.
    #[error("this link leads nowhere; it may have expired, so ask for another")]
    UnknownShare,
    /// The share was taken back.
    #[error("this link was taken back by whoever made it; ask for another")]
    RevokedShare,
    /// The original could not be stored.
    #[error("the file could not be stored; try again later, and see the log if it goes on")]
    Storage(#[source] ObjectError),
    /// The job could not be queued.
    #[error("the file was stored and its report could not be queued; upload it again")]
    Enqueue(#[source] Box<ReportsError>),
    /// The report could not be read.
    #[error("report_fetch_failed")]
    Fetch,
    /// An event could not be made.
    #[error(transparent)]
    Event(#[from] EventError),
    /// The queue did not do it.
    #[error(transparent)]
    Jobs(#[from] JobsError),
    /// The database names a status that there is not.
    #[error(transparent)]
    Status(#[from] UnknownStatus),
    /// What goes with the change, such as its line of the audit log, could not be written.
    #[error("what goes with the change was not written: {0}")]
    Beside(#[from] BesideError),
    /// The database did not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ReportsError {
    /// Whether the same call may succeed a little later.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Store(error) => error.is_transient(),
            Self::Jobs(error) => error.is_transient(),
            Self::Storage(error) => error.is_transient(),
            Self::Enqueue(error) => error.is_transient(),
            Self::Busy | Self::TooManyUploads => true,
            _ => false,
        }
    }
}
