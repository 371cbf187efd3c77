//! Counts within fixed spans of time, by the hash of what is counted.

use mainstay_base::Timestamp;
use mainstay_store::{Db, Sql, StoreError, Tx, values};

/// One count.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bucket<'a> {
    pub(crate) scope: &'a str,
    pub(crate) subject_hash: &'a str,
    pub(crate) start: Timestamp,
}

const COUNT: Sql = Sql::same(
    "accounts.count_in_bucket",
    "SELECT count FROM rate_limit_buckets
     WHERE scope = $1 AND subject_hash = $2 AND bucket_start = $3",
);
const ADD: Sql = Sql::same(
    "accounts.add_to_bucket",
    "INSERT INTO rate_limit_buckets (scope, subject_hash, bucket_start, count)
     VALUES ($1, $2, $3, 1)
     ON CONFLICT (scope, subject_hash, bucket_start)
       DO UPDATE SET count = rate_limit_buckets.count + 1
     RETURNING count",
);
const SUM: Sql = Sql::same(
    "accounts.sum_of_buckets",
    "SELECT CAST(coalesce(sum(count), 0) AS BIGINT) AS total FROM rate_limit_buckets
     WHERE scope = $1 AND subject_hash = $2 AND bucket_start > $3 AND bucket_start <= $4",
);
/// Two notices at once would both see the room for one.
const NOTICES_ONE_BY_ONE: Sql = Sql::pair(
    "accounts.notices_one_by_one",
    "SELECT 'SQLite has one writer' AS held",
    "SELECT pg_advisory_xact_lock(5177260403)::text AS held",
);
const TAKE_BACK: Sql = Sql::same(
    "accounts.take_back_from_bucket",
    "UPDATE rate_limit_buckets SET count = count - 1
     WHERE scope = $1 AND subject_hash = $2 AND bucket_start = $3 AND count > 0",
);
const CLEAR: Sql = Sql::same(
    "accounts.clear_buckets_of",
    "DELETE FROM rate_limit_buckets WHERE scope = $1 AND subject_hash = $2",
);
const CLEAR_SCOPE: Sql =
    Sql::same("accounts.clear_buckets_of_scope", "DELETE FROM rate_limit_buckets WHERE scope = $1");
const CLEAR_ALL: Sql = Sql::same("accounts.clear_buckets", "DELETE FROM rate_limit_buckets");

pub(crate) async fn count(db: &Db, bucket: Bucket<'_>) -> Result<i64, StoreError> {
    let values = values![bucket.scope, bucket.subject_hash, bucket.start];
    let row = db.fetch_optional(&COUNT, values).await?;
    row.map_or(Ok(0), |row| row.get("count"))
}

/// Adds one and tells the count with it. On PostgreSQL the row stays locked until the end of the
/// transaction, so that the same subject's requests come one after the other.
pub(crate) async fn add(tx: &mut Tx, bucket: Bucket<'_>) -> Result<i64, StoreError> {
    let values = values![bucket.scope, bucket.subject_hash, bucket.start];
    tx.fetch_one(&ADD, values).await?.get("count")
}

/// What was counted after `since` and until `until`, in any span.
pub(crate) async fn sum(
    tx: &mut Tx,
    scope: &str,
    subject: &str,
    since: Timestamp,
    until: Timestamp,
) -> Result<i64, StoreError> {
    tx.fetch_one(&SUM, values![scope, subject, since, until]).await?.get("total")
}

/// Until the end of the transaction nobody else counts notices.
pub(crate) async fn notices_one_by_one(tx: &mut Tx) -> Result<(), StoreError> {
    tx.fetch_optional(&NOTICES_ONE_BY_ONE, &[]).await.map(drop)
}

pub(crate) async fn take_back(tx: &mut Tx, bucket: Bucket<'_>) -> Result<(), StoreError> {
    let values = values![bucket.scope, bucket.subject_hash, bucket.start];
    tx.execute(&TAKE_BACK, values).await.map(drop)
}

pub(crate) async fn clear(tx: &mut Tx, scope: &str, subject: &str) -> Result<(), StoreError> {
    tx.execute(&CLEAR, values![scope, subject]).await.map(drop)
}

pub(crate) async fn clear_scope(tx: &mut Tx, scope: &str) -> Result<(), StoreError> {
    tx.execute(&CLEAR_SCOPE, values![scope]).await.map(drop)
}

pub(crate) async fn clear_all(tx: &mut Tx) -> Result<(), StoreError> {
    tx.execute(&CLEAR_ALL, &[]).await.map(drop)
}
