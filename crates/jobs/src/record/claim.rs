//! The claim: takes what is due and what a dead runner left behind, in one statement.

use std::time::Duration;

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Row, Sql, Tx, values};

use super::{Book, count, millis, timed};
use crate::error::JobsError;
use crate::model::{Cause, Change, Claimed, Failure, Kind, Lease, Status};
use crate::text::Traceparent;

/// What is claimed, and for whom.
#[derive(Debug, Clone)]
pub(crate) struct Ask<'a> {
    pub(crate) kind: &'a Kind,
    pub(crate) priority: i64,
    pub(crate) limit: u32,
    /// Leaves jobs that a runner died of more often.
    pub(crate) most_crashes: u32,
    /// Takes none that is processing, whatever its lease says.
    pub(crate) leaves_leases: bool,
    pub(crate) runner: &'a str,
    /// Without [`FOUND_CRASH`].
    pub(crate) token: i64,
    pub(crate) ttl: Duration,
}

/// The bit of a row's token that says that its claim has found a crash: of how a row was before,
/// SQLite's RETURNING tells nothing.
pub(crate) const FOUND_CRASH: i64 = 1;

/// A row that a claim has touched.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Taken {
    /// The runner has it.
    Job(Claimed),
    /// It was given up in the claim: its runners died too often, or its last attempt did.
    GivenUp(Change),
}

// A job that was processing and not started belonged to a dead batch: its attempt did not happen.
// `$7 + started` sets `FOUND_CRASH`.
macro_rules! claim {
    ($time:literal, $lock:literal, $soft:literal) => {
        concat!(
            "WITH t AS MATERIALIZED (SELECT ", $time, " AS now),
             due AS MATERIALIZED (
               SELECT key, max_attempts, started,
                 crashes + CASE WHEN started = 1 THEN 1 ELSE 0 END AS crashes,
                 attempts - CASE WHEN status = 'processing' AND started = 0 THEN 1 ELSE 0 END AS attempts
               FROM jobs
               WHERE kind = $2 AND priority = $3 AND claim_at <= (SELECT now FROM t)
                 AND crashes + started <= $5
                 AND ($12 = 0 OR status = 'queued')
                 AND NOT EXISTS (SELECT 1 FROM job_kinds AS p
                   WHERE p.kind = $2 AND p.paused_at IS NOT NULL)", $soft, "
               ORDER BY claim_at LIMIT $4 ", $lock, "
             ),
             ruled AS MATERIALIZED (
               SELECT key, crashes, attempts, started,
                 CASE WHEN crashes >= $6 THEN 'crash_loop'
                      WHEN attempts >= max_attempts THEN 'attempts_exhausted' END AS doom
               FROM due
             )
             UPDATE jobs SET
               status = CASE WHEN doom IS NULL THEN 'processing' ELSE 'failed' END,
               crashes = ruled.crashes,
               attempts = ruled.attempts + CASE WHEN doom IS NULL THEN 1 ELSE 0 END,
               claim_at = CASE WHEN doom IS NULL THEN (SELECT now FROM t) + $9 END,
               lease_token = CASE WHEN doom IS NULL THEN $7 + ruled.started END,
               locked_at = CASE WHEN doom IS NULL THEN (SELECT now FROM t) END,
               heartbeat_at = CASE WHEN doom IS NULL THEN (SELECT now FROM t) END,
               locked_by = CASE WHEN doom IS NULL THEN $8 END,
               lock_ttl_seconds = CASE WHEN doom IS NULL THEN ($9 + 999) / 1000 END,
               started = 0,
               last_error_code = CASE WHEN doom IS NULL THEN last_error_code ELSE doom END,
               last_error_message = CASE doom WHEN 'crash_loop' THEN $10
                 WHEN 'attempts_exhausted' THEN $11 ELSE last_error_message END,
               finished_at = CASE WHEN doom IS NULL THEN NULL ELSE (SELECT now FROM t) END
             FROM ruled WHERE jobs.key = ruled.key
             RETURNING jobs.key, id, kind, subject, status, payload, jobs.attempts, max_attempts,
               jobs.crashes, lease_token, next_run_at, traceparent, last_error_code, last_error_message"
        )
    };
}

/// A claim that is lost in a crash of the database is a lease that nobody has: it need not be durable.
const CLAIM: Sql = Sql::pair(
    "jobs.claim",
    claim!("$1", "", ""),
    claim!(
        "(extract(epoch FROM clock_timestamp()) * 1000)::bigint + $1",
        "FOR UPDATE SKIP LOCKED",
        " AND (SELECT set_config('synchronous_commit', 'off', true)) IS NOT NULL"
    ),
);
/// The same where a hook writes in the same transaction: what it writes must be durable.
const CLAIM_HOOKED: Sql = Sql::pair(
    "jobs.claim_hooked",
    claim!("$1", "", ""),
    claim!(
        "(extract(epoch FROM clock_timestamp()) * 1000)::bigint + $1",
        "FOR UPDATE SKIP LOCKED",
        ""
    ),
);

const POSTPONE: Sql = timed!(
    "jobs.postpone",
    "UPDATE jobs SET last_error_code = 'hook_failed', claim_at = ",
    " + $3 WHERE status IN ('queued', 'processing') AND id = $2 AND claim_at <= ",
    ""
);

const CRASH_LOOP: &str =
    "the runner died every time it ran this job; find out why before it is tried again";
const EXHAUSTED: &str = "the runner died in the last attempt that the job had";

/// Claims in a transaction of its own.
pub(crate) async fn claim(book: &Book, ask: &Ask<'_>) -> Result<Vec<Taken>, JobsError> {
    let rows = book.db.write_all(&CLAIM, &ask.values(book)).await?;
    taken(&rows, ask)
}

/// Claims in the caller's transaction.
pub(crate) async fn claim_in(
    book: &Book,
    tx: &mut Tx,
    ask: &Ask<'_>,
) -> Result<Vec<Taken>, JobsError> {
    let rows = tx.fetch_all(&CLAIM_HOOKED, &ask.values(book)).await?;
    taken(&rows, ask)
}

/// Leaves a job alone for a while without changing its status: its hook refuses to be told.
pub(crate) async fn postpone(book: &Book, id: Id, wait: Duration) -> Result<(), JobsError> {
    let id = id.to_string();
    let values = [book.tick().into(), (&id).into(), millis(wait).into()];
    Ok(book.db.write(async |tx| tx.execute(&POSTPONE, &values).await.map(drop)).await?)
}

impl Ask<'_> {
    fn values(&self, book: &Book) -> [mainstay_store::Value<'_>; 12] {
        let values: &[_; 12] = values![
            book.tick(),
            self.kind.as_str(),
            self.priority,
            self.limit,
            self.most_crashes,
            crate::model::MAX_CRASHES,
            self.token,
            self.runner,
            millis(self.ttl),
            CRASH_LOOP,
            EXHAUSTED,
            self.leaves_leases,
        ];
        values.clone()
    }
}

/// In the order in which they became due.
fn taken(rows: &[Row], ask: &Ask<'_>) -> Result<Vec<Taken>, JobsError> {
    let mut taken = Vec::with_capacity(rows.len());
    for row in rows {
        let key: i64 = row.get("key")?;
        let due: i64 = row.get("next_run_at")?;
        let token: Option<i64> = row.get("lease_token")?;
        let lease = Lease { key, token: token.unwrap_or(ask.token) };
        taken.push(((due, key), one(row, lease, ask.runner)?));
    }
    taken.sort_by_key(|(order, _)| *order);
    Ok(taken.into_iter().map(|(_, taken)| taken).collect())
}

fn one(row: &Row, lease: Lease, runner: &str) -> Result<Taken, JobsError> {
    let status: Status = row.get::<String>("status")?.parse()?;
    let traceparent: Option<String> = row.get("traceparent")?;
    if status == Status::Failed {
        return Ok(Taken::GivenUp(change(row, given_up_cause(row)?)?));
    }
    Ok(Taken::Job(Claimed {
        id: row.get::<Id>("id")?,
        kind: Kind::new(&row.get::<String>("kind")?)?,
        subject: row.get("subject")?,
        payload: payload(row, Some(runner))?,
        attempt: count(row.get("attempts")?),
        max_attempts: count(row.get("max_attempts")?),
        crashes: count(row.get("crashes")?),
        found_crash: lease.token & FOUND_CRASH != 0,
        next_run_at: row.get("next_run_at")?,
        traceparent: traceparent.as_deref().and_then(Traceparent::parse),
        lease,
    }))
}

fn given_up_cause(row: &Row) -> Result<Cause, JobsError> {
    let code: String = row.get("last_error_code")?;
    Ok(if code == "crash_loop" { Cause::CrashLoop } else { Cause::AttemptsExhausted })
}

/// What a hook is told of a row that has just changed.
pub(crate) fn change(row: &Row, cause: Cause) -> Result<Change, JobsError> {
    Ok(Change {
        id: row.get("id")?,
        kind: Kind::new(&row.get::<String>("kind")?)?,
        subject: row.get("subject")?,
        payload: payload(row, None)?,
        attempts: count(row.get("attempts")?),
        cause,
        status: row.get::<String>("status")?.parse()?,
        next_run_at: row.get::<Timestamp>("next_run_at")?,
        failure: failure(row)?,
    })
}

/// What went wrong last, if anything did.
pub(crate) fn failure(row: &Row) -> Result<Option<Failure>, JobsError> {
    let code: Option<String> = row.get("last_error_code")?;
    let message: Option<String> = row.get("last_error_message")?;
    Ok(code.map(|code| Failure { code, message: message.unwrap_or_default() }))
}

/// One row that somebody has changed by hand must not keep its whole batch from being claimed.
fn payload(row: &Row, runner: Option<&str>) -> Result<serde_json::Value, JobsError> {
    let text: String = row.get("payload")?;
    let (job, kind) = (row.get::<String>("id")?, row.get::<String>("kind")?);
    let attempt: i64 = row.get("attempts")?;
    Ok(serde_json::from_str(&text).unwrap_or_else(|error| {
        tracing::error!(
            job, kind, attempt, runner, %error,
            "the payload of a job is no JSON; its handler is given null"
        );
        serde_json::Value::Null
    }))
}
