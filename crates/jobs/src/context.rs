//! What a handler is given beside its job: a way to write under the lease, and word that it was
//! cancelled.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use mainstay_events::Outbox;
use mainstay_store::{StoreError, Tx};
use tokio_util::sync::CancellationToken;

use crate::error::JobsError;
use crate::jobs::Jobs;
use crate::model::Lease;
use crate::record::{lease, settle};

/// A handler's hold on its job.
#[derive(Debug)]
pub struct Context {
    jobs: Jobs,
    lease: Lease,
    cancelled: CancellationToken,
    progress: Progress,
}

/// How far a handler is with marking its job as done by itself. Its runner looks at this too: from
/// the commit on the lease is gone, and that is no loss.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress(Arc<AtomicU8>);

const WORKING: u8 = 0;
const FINISHING: u8 = 1;
const FINISHED: u8 = 2;

impl Progress {
    /// Whether the job is being marked as done, or is.
    pub(crate) fn is_finishing(&self) -> bool {
        self.0.load(Ordering::Acquire) != WORKING
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.0.load(Ordering::Acquire) == FINISHED
    }

    /// A commit may be under way.
    pub(crate) fn begin(&self) {
        self.0.store(FINISHING, Ordering::Release);
    }

    fn end(&self, is_written: bool) {
        self.0.store(if is_written { FINISHED } else { WORKING }, Ordering::Release);
    }
}

impl Context {
    pub(crate) fn new(
        jobs: Jobs,
        lease: Lease,
        cancelled: CancellationToken,
        progress: Progress,
    ) -> Self {
        Self { jobs, lease, cancelled, progress }
    }

    /// Fires when the work is no longer wanted: the job was cancelled, its lease was lost, or the
    /// runner stops. What is still running a little later is dropped.
    #[must_use]
    pub const fn cancelled(&self) -> &CancellationToken {
        &self.cancelled
    }

    /// Writes while the lease holds: until the commit nobody else gets the job.
    ///
    /// # Errors
    /// [`JobsError::LeaseLost`] when the job is another's by now, what `work` returns, or why it
    /// could not be committed.
    pub async fn write<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: AsyncFnOnce(&mut Tx, &mut Outbox) -> Result<T, E>,
        E: From<JobsError> + From<StoreError>,
    {
        self.jobs
            .events()
            .write(async |tx, out| {
                if !lease::guard(tx, self.lease).await? {
                    return Err(self.lost().into());
                }
                work(tx, out).await
            })
            .await
    }

    /// Writes what the handler has made and marks the job as done, in one transaction. The handler
    /// then returns `Ok`.
    ///
    /// # Errors
    /// As [`Context::write`].
    pub async fn finish<E, F>(&self, work: F) -> Result<(), E>
    where
        F: AsyncFnOnce(&mut Tx, &mut Outbox) -> Result<(), E>,
        E: From<JobsError> + From<StoreError>,
    {
        if self.progress.is_finished() {
            return Err(JobsError::LeaseLost.into());
        }
        let jobs = &self.jobs;
        self.progress.begin();
        let written = jobs
            .events()
            .write(async |tx, out| {
                let done = settle::succeed_in(jobs.book(), tx, self.lease).await?;
                let change = done.ok_or_else(|| self.lost())?;
                work(tx, out).await?;
                jobs.tell(tx, out, &change).await?;
                Ok::<(), E>(())
            })
            .await;
        self.progress.end(written.is_ok());
        written
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.progress.is_finished()
    }

    /// Whoever writes after losing the lease also learns that it should stop.
    fn lost(&self) -> JobsError {
        self.cancelled.cancel();
        JobsError::LeaseLost
    }
}
