//! What is said of a kind as a whole: paused, and how many may run at once.

use mainstay_store::{Sql, StoreError, Tx, values};

use super::{Book, timed};
use crate::model::Kind;

const LIMIT: Sql = Sql::same(
    "jobs.limit_kind",
    "INSERT INTO job_kinds (kind, concurrency) VALUES ($1, $2)
     ON CONFLICT (kind) DO UPDATE SET concurrency = excluded.concurrency
       WHERE job_kinds.concurrency IS DISTINCT FROM excluded.concurrency",
);
const PAUSE: Sql = timed!(
    "jobs.pause_kind",
    "INSERT INTO job_kinds (kind, paused_at) VALUES ($2, ",
    ") ON CONFLICT (kind) DO UPDATE SET paused_at = coalesce(job_kinds.paused_at, excluded.paused_at)"
);
const RESUME: Sql =
    Sql::same("jobs.resume_kind", "UPDATE job_kinds SET paused_at = NULL WHERE kind = $1");

/// Writes down how many of a kind may run at once over all runners.
pub(crate) async fn limit(
    book: &Book,
    kind: &Kind,
    concurrency: Option<u32>,
) -> Result<(), StoreError> {
    let values = [kind.as_str().into(), concurrency.into()];
    book.db.write(async |tx| tx.execute(&LIMIT, &values).await.map(drop)).await
}

/// From now on nobody claims jobs of the kind.
pub(crate) async fn pause(book: &Book, tx: &mut Tx, kind: &Kind) -> Result<(), StoreError> {
    tx.execute(&PAUSE, values![book.tick(), kind.as_str()]).await.map(drop)
}

/// Jobs of the kind are claimed again.
pub(crate) async fn resume(tx: &mut Tx, kind: &Kind) -> Result<(), StoreError> {
    tx.execute(&RESUME, values![kind.as_str()]).await.map(drop)
}
