//! What becomes of a file while its job goes on.

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Sql, StoreError, Tx, values};

use crate::error::ReportsError;
use crate::model::{FileError, FileStatus, MadeWith};

/// The job's own row is locked already; this one is, too, until the commit.
const LOCK: Sql = Sql::pair(
    "reports.lock_file",
    "SELECT status, error_code FROM files WHERE user_id = $1 AND id = $2 AND job_id = $3",
    "SELECT status, error_code FROM files WHERE user_id = $1 AND id = $2 AND job_id = $3 FOR UPDATE",
);
const FOLLOW: Sql = Sql::same(
    "reports.follow_job",
    "UPDATE files SET status = $3, processing_attempts = $4, next_run_at = $5,
       error_code = CASE WHEN $6 = 1 THEN $7 ELSE error_code END,
       error_message = CASE WHEN $6 = 1 THEN $8 ELSE error_message END,
       started_at = CASE WHEN $3 = 'processing' THEN $9 ELSE started_at END,
       processed_at = CASE WHEN $3 = 'succeeded' THEN $9 ELSE processed_at END,
       updated_at = $9
     WHERE user_id = $1 AND id = $2",
);
const POINT: Sql = Sql::same(
    "reports.point_at_report",
    "UPDATE files SET storage_key_report = $3, storage_key_timeline = $4,
       storage_key_raw_llm_output = NULL, prompt_version = $5, schema_version = $6, llm_model = $7,
       report_title = $8
     WHERE user_id = $1 AND id = $2",
);
const KEEP_RAW: Sql = Sql::same(
    "reports.point_at_raw_output",
    "UPDATE files SET storage_key_raw_llm_output = $3 WHERE user_id = $1 AND id = $2",
);
const RENEW_JOB: Sql = Sql::same(
    "reports.renew_job",
    "UPDATE files SET job_id = $3, status = 'queued', processing_attempts = 0, error_code = NULL,
       error_message = NULL, next_run_at = $4, queued_at = $4, updated_at = $4
     WHERE user_id = $1 AND id = $2 AND status = $5",
);
const TELL_WAITING: Sql = Sql::same(
    "reports.tell_waiting",
    "UPDATE files SET error_code = $3, error_message = $4 WHERE user_id = $1 AND id = $2",
);

/// How a file stands before a change of its job.
pub(crate) struct Before {
    pub(crate) status: FileStatus,
    pub(crate) error_code: Option<String>,
}

/// How a file stands after a change of its job.
pub(crate) struct Followed<'a> {
    pub(crate) user: Id,
    pub(crate) id: Id,
    pub(crate) status: FileStatus,
    pub(crate) attempts: u32,
    pub(crate) next_run_at: Option<Timestamp>,
    pub(crate) error: Told<'a>,
}

/// What is said of the last error.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Told<'a> {
    /// What was said before.
    AsBefore,
    /// There is none any more.
    Nothing,
    /// This.
    Now(&'a FileError),
}

/// What an attempt has made.
pub(crate) struct Made<'a> {
    pub(crate) report: &'a str,
    pub(crate) timeline: Option<&'a str>,
    pub(crate) title: Option<&'a str>,
    pub(crate) with: &'a MadeWith,
}

/// How the file of a job stands, locked; `None` when it was deleted or has another job by now.
pub(crate) async fn lock(
    tx: &mut Tx,
    (user, id): (Id, Id),
    job: Id,
) -> Result<Option<Before>, ReportsError> {
    let row = tx.fetch_optional(&LOCK, values![user, id, job]).await?;
    row.map(|row| {
        let status = row.get::<String>("status")?.parse()?;
        Ok(Before { status, error_code: row.get("error_code")? })
    })
    .transpose()
}

/// Lets a file follow its job.
pub(crate) async fn follow(tx: &mut Tx, to: &Followed<'_>) -> Result<(), StoreError> {
    let now = tx.now().await?;
    let (is_told, error) = match to.error {
        Told::AsBefore => (0_i64, None),
        Told::Nothing => (1, None),
        Told::Now(error) => (1, Some(error)),
    };
    let (code, message) = error.map(|error| (error.code.as_str(), error.message.as_str())).unzip();
    let attempts = i64::from(to.attempts);
    let status = to.status.name();
    let values =
        values![to.user, to.id, status, attempts, to.next_run_at, is_told, code, message, now];
    tx.execute(&FOLLOW, values).await.map(drop)
}

/// Points a file at its report.
pub(crate) async fn point(
    tx: &mut Tx,
    (user, id): (Id, Id),
    made: &Made<'_>,
) -> Result<(), StoreError> {
    let MadeWith { prompt_version, schema_version, model } = made.with;
    let Made { report, timeline, title, .. } = made;
    let values =
        values![user, id, *report, *timeline, prompt_version, schema_version, model, *title];
    tx.execute(&POINT, values).await.map(drop)
}

/// Points a file at an answer that was no report.
pub(crate) async fn keep_raw(
    tx: &mut Tx,
    (user, id): (Id, Id),
    key: &str,
) -> Result<(), StoreError> {
    tx.execute(&KEEP_RAW, values![user, id, key]).await.map(drop)
}

/// Says what a file waits for whose job is put off.
pub(crate) async fn tell_waiting(
    tx: &mut Tx,
    (user, id): (Id, Id),
    why: &FileError,
) -> Result<(), StoreError> {
    tx.execute(&TELL_WAITING, values![user, id, &why.code, &why.message]).await.map(drop)
}

/// Gives a file that stands so another job, when its own is done or has left the queue; tells whether it stood so.
pub(crate) async fn renew_job(
    tx: &mut Tx,
    (user, id): (Id, Id),
    status: FileStatus,
    job: Id,
) -> Result<bool, StoreError> {
    let now = tx.now().await?;
    Ok(tx.execute(&RENEW_JOB, values![user, id, job, now, status.name()]).await? == 1)
}
