//! Runs: begun, ended, listed, and the old ones removed.

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Db, Row, Sql, Tx, values};
use serde_json::Value;

use crate::error::JourneysError;
use crate::fit::Fitted;
use crate::kept::{PASSED_RECORDS_KEPT, RUNS_KEPT, RunDetail, RunStatus, RunView, Trigger};
use crate::progress::RunProgress;

macro_rules! select_run {
    ($name:literal, $more:literal, $end:literal) => {
        Sql::same(
            $name,
            concat!(
                "SELECT r.id, r.journey_id, j.name, r.generation, r.triggered_by, r.status,
                   r.created_at, r.started_at, r.finished_at, r.duration_ms, r.message",
                $more,
                " FROM journey_runs AS r JOIN journeys AS j ON j.id = r.journey_id ",
                $end
            ),
        )
    };
}

const FIND: Sql =
    select_run!("journeys.find_run", ", r.progress, r.record, r.is_shortened", "WHERE r.id = $1");
const FIND_IN: Sql = select_run!("journeys.find_run_in", "", "WHERE r.id = $1");
const LIST: Sql =
    select_run!("journeys.list_runs", "", "WHERE r.journey_id = $1 ORDER BY r.id DESC LIMIT $2");
const LIST_AFTER: Sql = select_run!(
    "journeys.list_runs_after",
    "",
    "WHERE r.journey_id = $1 AND r.id < $2 ORDER BY r.id DESC LIMIT $3"
);
const UNFINISHED: Sql = Sql::same(
    "journeys.unfinished_run",
    "SELECT id, job_id FROM journey_runs WHERE journey_id = $1 AND finished_at IS NULL
     ORDER BY id DESC LIMIT 1",
);
const INSERT: Sql = Sql::same(
    "journeys.insert_run",
    "INSERT INTO journey_runs (id, journey_id, job_id, generation, triggered_by, status, created_at,
       finished_at, message, is_shortened)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0)",
);
/// What is run and the edit that it is of, as one.
const SOURCE: Sql = Sql::same(
    "journeys.source_of_run",
    "SELECT j.source, j.generation FROM journey_runs AS r JOIN journeys AS j ON j.id = r.journey_id
     WHERE r.id = $1",
);
const BEGIN: Sql = Sql::same(
    "journeys.begin_run",
    "UPDATE journey_runs SET status = 'running', started_at = $2, generation = $3
     WHERE id = $1 AND started_at IS NULL AND finished_at IS NULL",
);
const FINISH: Sql = Sql::same(
    "journeys.finish_run",
    "UPDATE journey_runs SET status = $2, finished_at = $3, duration_ms = $4, message = $5,
       record = $6, is_shortened = $7, progress = CASE WHEN $6 IS NULL THEN progress END
     WHERE id = $1 AND finished_at IS NULL",
);
const PROGRESS: Sql = Sql::same(
    "journeys.progress_of_run",
    "UPDATE journey_runs SET progress = $2 WHERE id = $1 AND finished_at IS NULL RETURNING journey_id",
);
const LEAVE_RECORD: Sql = Sql::same(
    "journeys.leave_record",
    "UPDATE journey_runs SET duration_ms = $2, record = $3, is_shortened = $4, progress = NULL
     WHERE id = $1 AND status = 'aborted' AND started_at IS NOT NULL AND record IS NULL
     RETURNING journey_id",
);
const JOB: Sql = Sql::same("journeys.job_of_run", "SELECT job_id FROM journey_runs WHERE id = $1");
const FORGET_RECORDS: Sql = Sql::same(
    "journeys.forget_records",
    "UPDATE journey_runs SET record = NULL
     WHERE journey_id = $1 AND status = 'passed' AND record IS NOT NULL AND id <= (
       SELECT id FROM journey_runs WHERE journey_id = $1 ORDER BY id DESC LIMIT 1 OFFSET $2)",
);
/// The one under way and the last one that says something about the journey stay among them, however many came to
/// nothing after them.
const TRIM: Sql = Sql::same(
    "journeys.trim_runs",
    "DELETE FROM journey_runs WHERE journey_id = $1 AND finished_at IS NOT NULL AND id NOT IN (
       SELECT id FROM journey_runs WHERE journey_id = $1
       ORDER BY CASE WHEN finished_at IS NULL OR id = (
         SELECT max(id) FROM journey_runs WHERE journey_id = $1 AND status IN ('passed', 'failed')
       ) THEN 0 ELSE 1 END, id DESC LIMIT $2)",
);

/// A run that begins, or one that was skipped.
#[derive(Debug)]
pub(crate) struct NewRun<'a> {
    pub(crate) id: Id,
    pub(crate) journey: Id,
    /// `None` for one that is skipped.
    pub(crate) job: Option<Id>,
    pub(crate) generation: i64,
    pub(crate) trigger: Trigger,
    pub(crate) message: Option<&'a str>,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct FinishedRun<'a> {
    pub(crate) id: Id,
    pub(crate) status: RunStatus,
    pub(crate) duration_ms: Option<f64>,
    pub(crate) message: Option<&'a str>,
    pub(crate) record: Option<&'a Fitted>,
}

/// Whether a run is begun.
#[derive(Debug)]
pub(crate) enum Beginning {
    /// It is, with this source.
    Now(String),
    /// It was before, and may have ended.
    Before,
    /// It is gone with its journey.
    Gone,
}

impl<'a> FinishedRun<'a> {
    /// One that was not run to its end, without a record.
    pub(crate) fn aborted(id: Id, message: &'a str) -> Self {
        Self::unrun(id, RunStatus::Aborted, message)
    }

    /// One of which there is no record.
    pub(crate) fn unrun(id: Id, status: RunStatus, message: &'a str) -> Self {
        Self { id, status, duration_ms: None, message: Some(message), record: None }
    }

    /// It was not run: what failed is the journey, and none of the services that it would have asked.
    pub(crate) fn could_not_begin(&self) -> bool {
        self.status == RunStatus::Failed && self.duration_ms.is_none()
    }
}

/// Writes a run down that begins, or was skipped.
pub(crate) async fn insert(tx: &mut Tx, new: &NewRun<'_>) -> Result<(), JourneysError> {
    let now = tx.now().await?;
    let (status, finished) = match new.job {
        Some(_) => (RunStatus::Queued, None),
        None => (RunStatus::Skipped, Some(now)),
    };
    let values = values![
        new.id,
        new.journey,
        new.job,
        new.generation,
        new.trigger.name(),
        status.name(),
        now,
        finished,
        new.message
    ];
    tx.execute(&INSERT, values).await?;
    Ok(())
}

/// Begins a run, of the journey as it is now, unless it was begun before.
pub(crate) async fn begin(tx: &mut Tx, id: Id) -> Result<Beginning, JourneysError> {
    let Some(row) = tx.fetch_optional(&SOURCE, values![id]).await? else {
        return Ok(Beginning::Gone);
    };
    let (now, generation) = (tx.now().await?, row.get::<i64>("generation")?);
    let is_begun = tx.execute(&BEGIN, values![id, now, generation]).await? == 1;
    Ok(if is_begun { Beginning::Now(row.get("source")?) } else { Beginning::Before })
}

/// Writes down how a run ended; tells whether it had not ended before.
pub(crate) async fn finish(
    tx: &mut Tx,
    done: &FinishedRun<'_>,
    now: Timestamp,
) -> Result<bool, JourneysError> {
    let text = done.record.and_then(|record| record.text.as_deref());
    let is_shortened = done.record.is_some_and(|record| record.is_shortened);
    let (status, duration) = (done.status.name(), done.duration_ms);
    let values = values![done.id, status, now, duration, done.message, text, is_shortened];
    Ok(tx.execute(&FINISH, values).await? == 1)
}

/// Writes down how far a run is; tells of which journey, unless it has ended.
pub(crate) async fn progress(
    tx: &mut Tx,
    id: Id,
    progress: &RunProgress,
) -> Result<Option<Id>, JourneysError> {
    let text = serde_json::to_string(progress).unwrap_or_default();
    let row = tx.fetch_optional(&PROGRESS, values![id, &text]).await?;
    Ok(row.map(|row| row.get("journey_id")).transpose()?)
}

/// Adds the record of a run that others have ended while it was under way; tells of which journey, if there is
/// such a run.
pub(crate) async fn leave_record(
    tx: &mut Tx,
    done: &FinishedRun<'_>,
) -> Result<Option<Id>, JourneysError> {
    let text = done.record.and_then(|record| record.text.as_deref());
    let is_shortened = done.record.is_some_and(|record| record.is_shortened);
    let values = values![done.id, done.duration_ms, text, is_shortened];
    let row = tx.fetch_optional(&LEAVE_RECORD, values).await?;
    Ok(row.map(|row| row.get("journey_id")).transpose()?)
}

/// The job of a run; `None` where there is no such run.
pub(crate) async fn job(tx: &mut Tx, id: Id) -> Result<Option<Option<Id>>, JourneysError> {
    let row = tx.fetch_optional(&JOB, values![id]).await?;
    Ok(row.map(|row| row.get("job_id")).transpose()?)
}

/// Removes what is beyond the bounds of a journey.
pub(crate) async fn trim(tx: &mut Tx, journey: Id) -> Result<(), JourneysError> {
    tx.execute(&FORGET_RECORDS, values![journey, PASSED_RECORDS_KEPT]).await?;
    tx.execute(&TRIM, values![journey, RUNS_KEPT]).await?;
    Ok(())
}

/// The run of a journey that has not ended, with its job.
pub(crate) async fn unfinished(
    tx: &mut Tx,
    journey: Id,
) -> Result<Option<(Id, Option<Id>)>, JourneysError> {
    let row = tx.fetch_optional(&UNFINISHED, values![journey]).await?;
    row.map(|row| Ok((row.get("id")?, row.get("job_id")?))).transpose()
}

/// The run with this id, in a transaction.
pub(crate) async fn find_in(tx: &mut Tx, id: Id) -> Result<Option<RunView>, JourneysError> {
    let row = tx.fetch_optional(&FIND_IN, values![id]).await?;
    row.as_ref().map(view).transpose()
}

/// The run with this id.
pub(crate) async fn find(db: &Db, id: Id) -> Result<Option<RunDetail>, JourneysError> {
    let Some(row) = db.fetch_optional(&FIND, values![id]).await? else { return Ok(None) };
    let read = |text: Option<String>| text.and_then(|text| serde_json::from_str(&text).ok());
    let (progress, record): (Option<Value>, _) =
        (read(row.get("progress")?), read(row.get("record")?));
    let is_shortened = row.get("is_shortened")?;
    Ok(Some(RunDetail { run: view(&row)?, progress, record, is_shortened }))
}

/// The runs of a journey, the newest first.
pub(crate) async fn list(
    db: &Db,
    journey: Id,
    after: Option<Id>,
    limit: i64,
) -> Result<Vec<RunView>, JourneysError> {
    let rows = match after {
        None => db.fetch_all(&LIST, values![journey, limit]).await?,
        Some(after) => db.fetch_all(&LIST_AFTER, values![journey, after, limit]).await?,
    };
    rows.iter().map(view).collect()
}

fn view(row: &Row) -> Result<RunView, JourneysError> {
    Ok(RunView {
        id: row.get("id")?,
        journey_id: row.get("journey_id")?,
        journey_name: row.get("name")?,
        generation: row.get("generation")?,
        trigger: row.get::<String>("triggered_by")?.parse()?,
        status: row.get::<String>("status")?.parse()?,
        created_at: row.get("created_at")?,
        started_at: row.get("started_at")?,
        finished_at: row.get("finished_at")?,
        duration_ms: row.get("duration_ms")?,
        message: row.get("message")?,
    })
}
