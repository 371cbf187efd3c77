//! How claimed jobs go on: begun, done, failed, put off, released. Every statement is fenced by job
//! and lease: what it does not give back was another's by then. `$1` and `$2` are the keys and the
//! tokens of the leases, `$3` is the clock's.

use std::time::Duration;

use mainstay_store::{Row, Sql, Tx, values};

use super::claim::change;
use super::{Book, millis};
use crate::error::JobsError;
use crate::model::{Cause, Change, Failure, Lease};

/// Changes the rows that leases name. Each pair is matched, not two sets: a row's own token counts.
macro_rules! leased {
    (sqlite, $($set:expr),+; $returning:expr) => {
        concat!(
            "UPDATE jobs SET ", $($set),+, " FROM (SELECT k.value AS key,
               json_extract($2, '$[' || k.key || ']') AS token FROM json_each($1) AS k) AS l
             WHERE jobs.key = l.key AND jobs.lease_token = l.token AND status = 'processing'
             RETURNING ", $returning
        )
    };
    // What an earlier write of the handler still commits is waited for: it holds the row's key.
    (postgres after writes, $($set:expr),+; $returning:expr) => {
        concat!(
            "WITH l AS MATERIALIZED (SELECT j.key FROM jobs AS j,
               unnest($1::bigint[], $2::bigint[]) AS given (key, token)
               WHERE j.key = given.key AND j.lease_token = given.token
                 AND j.status = 'processing' FOR UPDATE OF j)
             UPDATE jobs SET ", $($set),+, " FROM l
             WHERE jobs.key = l.key RETURNING ", $returning
        )
    };
    (postgres, $($set:expr),+; $returning:expr) => {
        concat!(
            "UPDATE jobs SET ", $($set),+, "
             FROM unnest($1::bigint[], $2::bigint[]) AS l (key, token)
             WHERE jobs.key = l.key AND jobs.lease_token = l.token
               AND status = 'processing'
             RETURNING ", $returning
        )
    };
}

macro_rules! postgres_now {
    () => {
        "(SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint + $3)"
    };
}

/// What a row looks like when no runner has it.
macro_rules! unlocked {
    () => {
        ", lease_token = NULL, locked_at = NULL, locked_by = NULL, heartbeat_at = NULL,
           lock_ttl_seconds = NULL, started = 0"
    };
}

/// What a hook is told of.
macro_rules! told {
    () => {
        "jobs.key, id, kind, subject, status, payload, attempts, next_run_at, last_error_code,
         last_error_message"
    };
}

/// Not durable: what is forgotten here died with the database, not with a runner.
const START: Sql = Sql::pair(
    "jobs.start",
    leased!(sqlite, "started = 1"; "jobs.key"),
    leased!(
        postgres,
        "started = CASE WHEN (SELECT set_config('synchronous_commit', 'off', true)) IS NULL
           THEN 0 ELSE 1 END";
        "jobs.key"
    ),
);

macro_rules! succeeded {
    () => {
        "status = 'succeeded', claim_at = NULL, finished_at = "
    };
}
const SUCCEED: Sql = Sql::pair(
    "jobs.succeed",
    leased!(sqlite, succeeded!(), "$3", unlocked!(); told!()),
    leased!(postgres, succeeded!(), postgres_now!(), unlocked!(); told!()),
);
/// The same for kinds that have no hook to be told.
const SUCCEED_MANY: Sql = Sql::pair(
    "jobs.succeed_many",
    leased!(sqlite, succeeded!(), "$3", unlocked!(); "jobs.key"),
    leased!(postgres, succeeded!(), postgres_now!(), unlocked!(); "jobs.key"),
);

macro_rules! failed {
    () => {
        "status = 'failed', claim_at = NULL, last_error_code = $4, last_error_message = $5,
         finished_at = "
    };
}
const FAIL: Sql = Sql::pair(
    "jobs.fail",
    leased!(sqlite, failed!(), "$3", unlocked!(); told!()),
    leased!(postgres after writes, failed!(), postgres_now!(), unlocked!(); told!()),
);

macro_rules! retried {
    ($now:expr) => {
        concat!(
            "status = 'queued', last_error_code = $4, last_error_message = $5,
             claim_at = ",
            $now,
            " + $6, next_run_at = ",
            $now,
            " + $6",
            unlocked!()
        )
    };
}
const RETRY: Sql = Sql::pair(
    "jobs.retry_later",
    leased!(sqlite, retried!("$3"); told!()),
    leased!(postgres after writes, retried!(postgres_now!()); told!()),
);

macro_rules! put_off {
    ($now:expr) => {
        concat!(
            "status = 'queued', attempts = attempts - 1, claim_at = ",
            $now,
            " + $4,
             next_run_at = ",
            $now,
            " + $4",
            unlocked!()
        )
    };
}
const PUT_OFF: Sql = Sql::pair(
    "jobs.put_off",
    leased!(sqlite, put_off!("$3"); told!()),
    leased!(postgres after writes, put_off!(postgres_now!()); told!()),
);

/// Keeps its place in the queue.
macro_rules! released {
    () => {
        concat!("status = 'queued', attempts = attempts - 1, claim_at = next_run_at", unlocked!())
    };
}
const RELEASE: Sql = Sql::pair(
    "jobs.release",
    leased!(sqlite, released!(); told!()),
    leased!(postgres after writes, released!(); told!()),
);

/// The keys and the tokens of leases, as they travel.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    pub(crate) keys: Vec<i64>,
    pub(crate) tokens: Vec<i64>,
}

impl Pairs {
    pub(crate) fn of(leases: &[Lease]) -> Self {
        let (keys, tokens) = leases.iter().map(|lease| (lease.key, lease.token)).unzip();
        Self { keys, tokens }
    }
}

/// Marks jobs as begun: from now on, a runner that dies counts against them.
pub(crate) async fn start(book: &Book, leases: &[Lease]) -> Result<Vec<i64>, JobsError> {
    let pairs = Pairs::of(leases);
    keys(&book.db.write_all(&START, values![&pairs.keys, &pairs.tokens]).await?)
}

/// Marks jobs as done, durably, in one statement; gives the keys of those that still were ours.
pub(crate) async fn succeed_many(book: &Book, leases: &[Lease]) -> Result<Vec<i64>, JobsError> {
    let pairs = Pairs::of(leases);
    let values = values![&pairs.keys, &pairs.tokens, book.tick()];
    keys(&book.db.write_all(&SUCCEED_MANY, values).await?)
}

/// Marks a job as done in the caller's transaction; nothing when the lease was lost.
pub(crate) async fn succeed_in(
    book: &Book,
    tx: &mut Tx,
    lease: Lease,
) -> Result<Option<Change>, JobsError> {
    let pairs = Pairs::of(&[lease]);
    let values = values![&pairs.keys, &pairs.tokens, book.tick()];
    let rows = tx.fetch_all(&SUCCEED, values).await?;
    Ok(changes(&rows, Cause::Succeeded)?.pop())
}

/// Gives a job up in the caller's transaction; nothing when the lease was lost.
pub(crate) async fn fail_in(
    book: &Book,
    tx: &mut Tx,
    lease: Lease,
    failure: &Failure,
) -> Result<Option<Change>, JobsError> {
    let pairs = Pairs::of(&[lease]);
    let values = values![&pairs.keys, &pairs.tokens, book.tick(), &failure.code, &failure.message];
    let rows = tx.fetch_all(&FAIL, values).await?;
    Ok(changes(&rows, Cause::Failed)?.pop())
}

/// Queues a job again after a failure, in the caller's transaction.
pub(crate) async fn retry_in(
    book: &Book,
    tx: &mut Tx,
    lease: Lease,
    failure: &Failure,
    wait: Duration,
) -> Result<Option<Change>, JobsError> {
    let pairs = Pairs::of(&[lease]);
    let values = values![
        &pairs.keys,
        &pairs.tokens,
        book.tick(),
        &failure.code,
        &failure.message,
        millis(wait)
    ];
    let rows = tx.fetch_all(&RETRY, values).await?;
    Ok(changes(&rows, Cause::Retried)?.pop())
}

/// Queues a job again with its attempt given back, in the caller's transaction.
pub(crate) async fn put_off_in(
    book: &Book,
    tx: &mut Tx,
    lease: Lease,
    wait: Duration,
) -> Result<Option<Change>, JobsError> {
    let pairs = Pairs::of(&[lease]);
    let values = values![&pairs.keys, &pairs.tokens, book.tick(), millis(wait)];
    let rows = tx.fetch_all(&PUT_OFF, values).await?;
    Ok(changes(&rows, Cause::PutOff)?.pop())
}

/// Gives jobs back to the queue with their attempts, in the caller's transaction.
pub(crate) async fn release_in(tx: &mut Tx, leases: &[Lease]) -> Result<Vec<Change>, JobsError> {
    let pairs = Pairs::of(leases);
    let rows = tx.fetch_all(&RELEASE, values![&pairs.keys, &pairs.tokens]).await?;
    changes(&rows, Cause::Released)
}

fn changes(rows: &[Row], cause: Cause) -> Result<Vec<Change>, JobsError> {
    rows.iter().map(|row| change(row, cause)).collect()
}

fn keys(rows: &[Row]) -> Result<Vec<i64>, JobsError> {
    Ok(rows.iter().map(|row| row.get("key")).collect::<Result<_, _>>()?)
}
