//! What people do to a job: cancel it, try it again.

use mainstay_base::Id;
use mainstay_store::{Sql, StoreError, Tx, values};

use super::claim::change;
use super::{Book, timed};
use crate::error::JobsError;
use crate::model::{Cause, Change, Status};

/// The row's lock is the one that a handler's write holds off.
const LOCK: Sql = Sql::pair(
    "jobs.lock",
    "SELECT key, status FROM jobs
     WHERE status IN ('queued', 'processing', 'succeeded', 'failed') AND id = $1",
    "SELECT key, status FROM jobs
     WHERE status IN ('queued', 'processing', 'succeeded', 'failed') AND id = $1 FOR UPDATE",
);
const ARCHIVED: Sql =
    Sql::same("jobs.find_archived_status", "SELECT status FROM finished_jobs WHERE id = $1");
const CANCEL: Sql = timed!(
    "jobs.cancel",
    "UPDATE jobs SET status = 'failed', claim_at = NULL, finished_at = ",
    ", lease_token = NULL, locked_at = NULL, locked_by = NULL, heartbeat_at = NULL,
       lock_ttl_seconds = NULL, started = 0, last_error_code = 'cancelled', last_error_message = $3
     WHERE key = $2
     RETURNING id, kind, subject, status, payload, attempts, next_run_at, last_error_code,
       last_error_message"
);
const REQUEUE: Sql = timed!(
    "jobs.requeue",
    "UPDATE jobs SET status = 'queued', attempts = 0, crashes = 0, finished_at = NULL, claim_at = ",
    ", next_run_at = ",
    " WHERE key = $2
     RETURNING id, kind, subject, status, payload, attempts, next_run_at, last_error_code,
       last_error_message"
);

const CANCELLED: &str = "somebody cancelled the job";

/// Cancels a job that has not ended.
pub(crate) async fn cancel(book: &Book, tx: &mut Tx, id: Id) -> Result<Change, JobsError> {
    let (key, status) = lock(tx, id).await?.map_err(|_archived| JobsError::AlreadyFinished)?;
    if status.is_finished() {
        return Err(JobsError::AlreadyFinished);
    }
    let row = tx.fetch_one(&CANCEL, values![book.tick(), key, CANCELLED]).await?;
    change(&row, Cause::Cancelled)
}

/// Queues a failed job again, as if it were new.
pub(crate) async fn requeue(book: &Book, tx: &mut Tx, id: Id) -> Result<Change, JobsError> {
    let (key, status) = lock(tx, id).await?.map_err(|archived| match archived {
        Status::Failed => JobsError::Archived,
        _ => JobsError::NotFailed,
    })?;
    if status != Status::Failed {
        return Err(JobsError::NotFailed);
    }
    let requeued = tx.fetch_one(&REQUEUE, values![book.tick(), key]).await;
    match requeued {
        Err(StoreError::Unique { .. }) => Err(JobsError::SubjectTaken),
        requeued => change(&requeued?, Cause::Requeued),
    }
}

/// The row's key and status, locked; or its status in the archive.
async fn lock(tx: &mut Tx, id: Id) -> Result<Result<(i64, Status), Status>, JobsError> {
    if let Some(row) = tx.fetch_optional(&LOCK, values![id]).await? {
        return Ok(Ok((row.get("key")?, row.get::<String>("status")?.parse()?)));
    }
    let row = tx.fetch_optional(&ARCHIVED, values![id]).await?.ok_or(JobsError::NotFound)?;
    Ok(Err(row.get::<String>("status")?.parse()?))
}
