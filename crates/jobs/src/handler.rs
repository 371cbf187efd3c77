//! What a room gives the queue: a handler for each kind.

use std::error::Error as _;
use std::time::Duration;

use futures_util::future::BoxFuture;
use mainstay_events::Outbox;
use mainstay_store::{StoreError, Tx};

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

    /// Whether a run takes minutes, most of which it waits for somebody else. All such kinds together leave one of a
    /// runner's places to the others, so that these get their turn meanwhile; a runner of one place has none to leave.
    fn waits_long(&self) -> bool {
        false
    }

    /// Does the work. It may be run again after it has begun (a runner may die), so what it does
    /// must bear that, or be written through `context`, whose writes are fenced by the lease.
    fn run<'a>(
        &'a self,
        job: &'a Claimed,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<(), JobError>>;

    /// Whether the room keeps a record of its own of what came of each job. Those that succeeded go
    /// when they are old, and are not archived: a kind that runs every minute would fill the archive.
    fn keeps_record(&self) -> bool {
        false
    }

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
    /// A lost lease ends the handler, and what it returns is no longer asked for.
    fn from(error: JobsError) -> Self {
        match error {
            JobsError::LeaseLost => Self::retriable("lease_lost", error.to_string()),
            JobsError::Store(failed) => Self::from(failed),
            JobsError::Hook(_) => {
                tracing::warn!(%error, "the hook of a job failed");
                Self::retriable("database_failed", "what goes with this job could not be written")
            }
            other => Self::retriable("database_failed", other.to_string()),
        }
    }
}

impl From<StoreError> for JobError {
    /// A database that fails may work later, and a value that it refuses is refused again. What the driver said
    /// names hosts and users, and whoever owns the job is shown its message: only the log has it.
    fn from(error: StoreError) -> Self {
        let kind = error.kind();
        tracing::warn!(%error, cause = ?error.source(), "the database failed a job");
        if refuses_value(&error) {
            let message = format!(
                "the database takes a value of this job neither now nor later ({kind}); tell whoever looks after Mainstay"
            );
            return Self::fatal("database_refused", message);
        }
        let message = format!(
            "the database did not do what this job asked of it ({kind}); it is tried again by itself"
        );
        Self::retriable("database_failed", message)
    }
}

/// Whether the same values would be refused again.
const fn refuses_value(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::NulInText { .. }
            | StoreError::NotANumber { .. }
            | StoreError::Data { .. }
            | StoreError::Check { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstay_store::Dialect;

    #[test]
    fn what_a_driver_says_stays_in_the_log() {
        let (statement, dialect) = ("jobs.test", Dialect::Postgres);
        let reason = || "role \"mainstay_app\" at db.internal:5432".to_owned();
        for error in [
            StoreError::Unreachable {
                database: "postgres://db.internal/m".to_owned(),
                reason: reason(),
            },
            StoreError::Denied { dialect, statement, reason: reason(), cure: "grant it" },
            StoreError::Environment { dialect, statement, reason: reason() },
            StoreError::Data { dialect, statement, reason: reason() },
            StoreError::File { path: "/srv/db.internal".into(), reason: reason() },
        ] {
            let kind = error.kind();
            let (JobError::Retriable { message, .. } | JobError::Fatal { message, .. }) =
                JobError::from(JobsError::Store(error))
            else {
                panic!("{kind} is put off")
            };
            assert!(message.contains(kind), "{message}");
            assert!(
                !message.contains("db.internal") && !message.contains("mainstay_app"),
                "{message}"
            );
        }
        let hook = JobError::from(JobsError::Hook(reason()));
        assert!(!hook.to_string().contains("db.internal"), "{hook}");
    }

    #[test]
    fn a_value_that_is_refused_is_fatal_and_anything_else_may_work_later() {
        let statement = "jobs.test";
        let refused =
            [StoreError::NulInText { statement, position: 1 }, StoreError::Check { statement }];
        for error in refused {
            let told = JobError::from(JobsError::Store(error));
            assert!(
                matches!(&told, JobError::Fatal { code, .. } if code == "database_refused"),
                "{told:?}"
            );
        }
        for error in
            [JobsError::Store(StoreError::Closed), JobsError::GivenUp, JobsError::LeaseLost]
        {
            let told = JobError::from(error);
            assert!(matches!(told, JobError::Retriable { .. }), "{told:?}");
        }
    }
}
