//! Finished rows leave the queue by age, and the archive too, in bounded portions.

use std::time::Duration;

use mainstay_store::{Sql, StoreError, values};

use super::{Book, millis, timed};
use crate::model::Status;

/// Rows that one portion moves or removes.
pub(crate) const PORTION: i64 = 1_000;

// A row that ended before a time was made before it, and ids sort by when they were made: so the scan
// stays among rows that are old enough, or nearly.
const OLD_SQLITE: &str = "SELECT key FROM jobs WHERE status = $2 AND id < $3
     AND finished_at <= $1 - $4 ORDER BY id LIMIT $5";
const OLD: Sql = Sql::pair(
    "jobs.find_old",
    OLD_SQLITE,
    "SELECT key FROM jobs WHERE status = $2 AND id < $3
       AND finished_at <= (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint + $1) - $4
     ORDER BY id LIMIT $5 FOR UPDATE SKIP LOCKED",
);
macro_rules! copied {
    ($these:literal, $kinds:literal) => {
        concat!(
            "INSERT INTO finished_jobs (id, kind, subject, status, priority, attempts, max_attempts,
               crashes, created_at, next_run_at, last_error_code, last_error_message, finished_at,
               traceparent)
             SELECT id, kind, subject, status, priority, attempts, max_attempts, crashes, created_at,
               next_run_at, last_error_code, last_error_message, finished_at, traceparent
             FROM jobs WHERE key ", $these, " AND kind ", $kinds, " ON CONFLICT (id) DO NOTHING"
        )
    };
}
const COPY: Sql = Sql::pair(
    "jobs.archive",
    copied!("IN (SELECT value FROM json_each($1))", "NOT IN (SELECT value FROM json_each($2))"),
    copied!("= ANY ($1)", "<> ALL ($2)"),
);
const REMOVE: Sql = Sql::pair(
    "jobs.remove_archived",
    "DELETE FROM jobs WHERE key IN (SELECT value FROM json_each($1))",
    "DELETE FROM jobs WHERE key = ANY ($1)",
);
const TRIM: Sql = timed!(
    "jobs.trim_archive",
    "DELETE FROM finished_jobs WHERE id IN (SELECT id FROM finished_jobs
       WHERE id < $2 AND finished_at <= ",
    " - $3 ORDER BY id LIMIT $4)"
);

/// Moves one portion of the rows that ended with `status` longer ago than `kept`, and tells how many.
/// Those of the kinds `unarchived` are removed.
pub(crate) async fn move_old(
    book: &Book,
    status: Status,
    kept: Duration,
    unarchived: &Vec<String>,
) -> Result<u64, StoreError> {
    let bound = id_before(book, kept);
    book.db
        .write(async |tx| {
            let values = values![book.tick(), status.name(), &bound, millis(kept), PORTION];
            let rows = tx.fetch_all(&OLD, values).await?;
            let keys = rows.iter().map(|row| row.get("key")).collect::<Result<Vec<i64>, _>>()?;
            if keys.is_empty() {
                return Ok(0);
            }
            tx.execute(&COPY, values![&keys, unarchived]).await?;
            tx.execute(&REMOVE, values![&keys]).await
        })
        .await
}

/// Removes one portion of the archive that is older than `kept`, and tells how many rows that were.
pub(crate) async fn trim(book: &Book, kept: Duration) -> Result<u64, StoreError> {
    let bound = id_before(book, kept);
    let values = [book.tick().into(), (&bound).into(), millis(kept).into(), PORTION.into()];
    book.db.write(async |tx| tx.execute(&TRIM, &values).await).await
}

/// Above every id that was made longer ago than `kept`, by the clock that ids are made by.
fn id_before(book: &Book, kept: Duration) -> String {
    let since = u64::try_from(book.clock.0.now().as_millis().saturating_sub(millis(kept)));
    let since = since.unwrap_or(0).saturating_add(1);
    format!("{:08x}-{:04x}", since >> 16, since & 0xffff)
}
