//! Leases: kept alive, asked after, and held still while a handler writes.

use std::time::Duration;

use mainstay_store::{Row, Sql, StoreError, Tx, values};

use super::settle::Pairs;
use super::{Book, millis};
use crate::model::Lease;

/// A row that another statement of this runner has just locked is left out rather than waited for:
/// the two would wait for each other. Whoever is missing is asked after by [`held`].
const HEARTBEAT: Sql = Sql::pair(
    "jobs.heartbeat",
    "UPDATE jobs SET heartbeat_at = $3, claim_at = $3 + $4 FROM (SELECT k.value AS key,
       json_extract($2, '$[' || k.key || ']') AS token FROM json_each($1) AS k) AS l
     WHERE jobs.key = l.key AND jobs.lease_token = l.token AND status = 'processing'
     RETURNING jobs.key",
    "WITH l AS MATERIALIZED (
       SELECT j.key FROM jobs AS j, unnest($1::bigint[], $2::bigint[]) AS given (key, token)
       WHERE j.key = given.key AND j.lease_token = given.token
         AND j.status = 'processing' FOR NO KEY UPDATE OF j SKIP LOCKED),
     t AS MATERIALIZED (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint + $3 AS now)
     UPDATE jobs SET heartbeat_at = (SELECT now FROM t), claim_at = (SELECT now FROM t) + $4
     FROM l WHERE jobs.key = l.key RETURNING jobs.key",
);
const HELD: Sql = Sql::pair(
    "jobs.held",
    "SELECT jobs.key FROM jobs, (SELECT k.value AS key,
       json_extract($2, '$[' || k.key || ']') AS token FROM json_each($1) AS k) AS l
     WHERE jobs.key = l.key AND jobs.lease_token = l.token AND status = 'processing'",
    "SELECT j.key FROM jobs AS j, unnest($1::bigint[], $2::bigint[]) AS given (key, token)
     WHERE j.key = given.key AND j.lease_token = given.token
       AND j.status = 'processing'",
);
/// The weakest lock that a claim, a cancel and a settlement wait for or pass by, and a heartbeat does
/// not: what is written under it commits before another has the job.
const GUARD: Sql = Sql::pair(
    "jobs.guard",
    "SELECT key FROM jobs WHERE key = $1 AND lease_token = $2 AND status = 'processing'",
    "SELECT key FROM jobs WHERE key = $1 AND lease_token = $2 AND status = 'processing'
     FOR KEY SHARE",
);

/// Says that the runner is alive and moves the end of each lease; gives the keys of those that it
/// still had.
pub(crate) async fn heartbeat(
    book: &Book,
    leases: &[Lease],
    ttl: Duration,
) -> Result<Vec<i64>, StoreError> {
    let pairs = Pairs::of(leases);
    let values = values![&pairs.keys, &pairs.tokens, book.tick(), millis(ttl)];
    keys(&book.db.write_all(&HEARTBEAT, values).await?)
}

/// Which of `leases` still are the runner's.
pub(crate) async fn held(book: &Book, leases: &[Lease]) -> Result<Vec<i64>, StoreError> {
    let pairs = Pairs::of(leases);
    keys(&book.db.fetch_all(&HELD, values![&pairs.keys, &pairs.tokens]).await?)
}

/// Whether the lease still holds; until the transaction ends, it does.
pub(crate) async fn guard(tx: &mut Tx, lease: Lease) -> Result<bool, StoreError> {
    Ok(tx.fetch_optional(&GUARD, values![lease.key, lease.token]).await?.is_some())
}

fn keys(rows: &[Row]) -> Result<Vec<i64>, StoreError> {
    rows.iter().map(|row| row.get("key")).collect()
}
