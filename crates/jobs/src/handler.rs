//! What a room gives the queue: a handler for each kind.

use std::time::Duration;

use futures_util::future::BoxFuture;
use mainstay_events::Outbox;
use mainstay_store::Tx;

use crate::context::Context;
use crate::error::JobsError;
use crate::model::{Change, Claimed, Kind};

/// How long a handler may run when its kind says nothing else.
pub const DEFAULT_MAX_RUN: Duration = Duration::from_mins(10);

/// Does the work of one kind of job.
pub trait Handler: Send + Sync + 'static {
    /// Which kind.
    fn kind(&self) -> Kind;

    /// At most so many at once over all runners; without one, only each runner's own limit holds.
    fn concurrency(&self) -> Option<u32> {
        None
    }

    /// How long one run may take. After it the handler is cancelled, dropped a little later, and its
    /// job is tried again as after any failure, with the code `timed_out`.
    fn max_run(&self) -> Duration {
        DEFAULT_MAX_RUN
    }

    /// Does the work. It may be run again after it has begun (a runner may die), so what it does
    /// must bear that, or be written through `context`, whose writes are fenced by the lease.
    fn run<'a>(
        &'a self,
        job: &'a Claimed,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<(), JobError>>;

    /// Whether [`Handler::changed`] does anything. Kinds without a hook go in larger batches.
    fn hooks(&self) -> bool {
        false
    }

    /// Told of every change of a job's status, in the transaction of the change: an error undoes it.
    fn changed<'a>(
        &'a self,
        tx: &'a mut Tx,
        out: &'a mut Outbox,
        change: &'a Change,
    ) -> BoxFuture<'a, Result<(), JobsError>> {
        let _ = (tx, out, change);
        Box::pin(std::future::ready(Ok(())))
    }
}

/// Why a handler did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// It may work later.
    #[error("{code}: {message}")]
    Retriable {
        /// A stable word, `[a-z0-9_]{1,64}`.
        code: String,
        /// One line for people, without secrets.
        message: String,
        /// The other side asked to be left alone for so long.
        retry_after: Option<Duration>,
    },
    /// It will never work.
    #[error("{code}: {message}")]
    Fatal {
        /// A stable word, `[a-z0-9_]{1,64}`.
        code: String,
        /// One line for people, without secrets.
        message: String,
    },
    /// It was not tried: the attempt does not count.
    #[error("put off for {} ms", wait.as_millis())]
    PutOff {
        /// For how long.
        wait: Duration,
    },
}

impl JobError {
    /// It may work later.
    #[must_use]
    pub fn retriable(code: &str, message: impl Into<String>) -> Self {
        Self::Retriable { code: code.to_owned(), message: message.into(), retry_after: None }
    }

    /// It will never work.
    #[must_use]
    pub fn fatal(code: &str, message: impl Into<String>) -> Self {
        Self::Fatal { code: code.to_owned(), message: message.into() }
    }
}

impl From<JobsError> for JobError {
    /// A database that fails may work later; a lost lease ends the handler, and what it returns is
    /// no longer asked for.
    fn from(error: JobsError) -> Self {
        match error {
            JobsError::LeaseLost => Self::retriable("lease_lost", error.to_string()),
            other => Self::retriable("database_failed", other.to_string()),
        }
    }
}
