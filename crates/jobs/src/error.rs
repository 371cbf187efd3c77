//! What the queue refuses, and why it could not answer.

use mainstay_store::StoreError;

use crate::model::{
    KindError, MAX_ATTEMPTS, MAX_PAYLOAD_BYTES, MAX_PRIORITY, MAX_SUBJECT_BYTES, StatusError,
};

/// A refusal, or a failure of the database.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JobsError {
    /// The payload is too large.
    #[error(
        "the payload has {size} bytes, and a job takes {MAX_PAYLOAD_BYTES}; store it elsewhere and give the job its place"
    )]
    PayloadTooLarge {
        /// Its size.
        size: usize,
    },
    /// The subject does not fit.
    #[error("the subject must have 1 to {MAX_SUBJECT_BYTES} bytes and no NUL; shorten it")]
    BadSubject,
    /// The priority is out of bounds.
    #[error("the priority must be from -{MAX_PRIORITY} to {MAX_PRIORITY}; choose one of these")]
    BadPriority,
    /// The number of attempts is out of bounds.
    #[error("a job may be tried 1 to {MAX_ATTEMPTS} times; choose one of these")]
    BadAttempts,
    /// Too many jobs at once.
    #[error("{given} jobs were to be enqueued at once, and {limit} may be; enqueue them in parts")]
    TooMany {
        /// How many were given.
        given: usize,
        /// How many may be.
        limit: usize,
    },
    /// Nothing has this id.
    #[error("no job has this id; it may have been removed by age")]
    NotFound,
    /// Only a failed job can be tried again.
    #[error("the job has not failed, so there is nothing to try again")]
    NotFailed,
    /// The job has ended.
    #[error("the job has ended already, so there is nothing to cancel")]
    AlreadyFinished,
    /// A failed job that has left the queue.
    #[error("the job failed so long ago that its payload is gone; ask for the work anew")]
    Archived,
    /// Another job about the same subject is unfinished.
    #[error(
        "another job of this kind about the same subject is unfinished; wait for it, or cancel it"
    )]
    SubjectTaken,
    /// The lease is another's now: not a failure, whoever has it goes on.
    #[error("the lease of the job was lost, so nothing was written; another runner has the job")]
    LeaseLost,
    /// A word in the database or from a caller is no kind.
    #[error(transparent)]
    Kind(#[from] KindError),
    /// A word in the database or from a caller is no status.
    #[error(transparent)]
    Status(#[from] StatusError),
    /// A cron expression that can't be read.
    #[error(
        "the schedule `{name}` can't be read: {reason}; write it as minute hour day month weekday, in UTC"
    )]
    BadSchedule {
        /// The schedule.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// The hook of the kind refused.
    #[error("the hook of the job's kind failed: {0}")]
    Hook(String),
    /// The database has not answered for too long.
    #[error("the database did not answer in time, so the statement was given up; try again later")]
    GivenUp,
    /// The database did not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl JobsError {
    /// Whether the same call may succeed a little later.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Store(error) => error.is_transient(),
            Self::GivenUp => true,
            _ => false,
        }
    }
}
