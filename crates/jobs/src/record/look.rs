//! A look at the queue: for each kind and priority, when its first job is due. It costs a few steps
//! in an index for each, however many jobs there are.

use std::time::Duration;

use mainstay_store::{Row, Sql, StoreError, values};

use super::Book;
use crate::decide::Bucket;
use crate::error::JobsError;
use crate::model::Kind;

macro_rules! buckets {
    ($kinds:literal, $now:literal, $first:literal) => {
        concat!(
            "WITH RECURSIVE buckets (kind, priority) AS (
               SELECT k.kind, (SELECT min(j.priority) FROM jobs AS j
                 WHERE j.kind = k.kind AND j.claim_at IS NOT NULL)
               FROM ",
            $kinds,
            "  WHERE NOT EXISTS (SELECT 1 FROM job_kinds AS p
                 WHERE p.kind = k.kind AND p.paused_at IS NOT NULL)
               UNION ALL
               SELECT b.kind, (SELECT min(j.priority) FROM jobs AS j
                 WHERE j.kind = b.kind AND j.priority > b.priority AND j.claim_at IS NOT NULL)
               FROM buckets AS b WHERE b.priority IS NOT NULL
             )
             SELECT b.kind, b.priority, ",
            $now,
            "  AS now, j.claim_at, CAST(j.crashes + j.started AS BIGINT) AS crashes
             FROM buckets AS b ",
            $first,
            " WHERE b.priority IS NOT NULL
             UNION ALL SELECT CAST(NULL AS TEXT), CAST(NULL AS BIGINT), ",
            $now,
            ", CAST(NULL AS BIGINT), CAST(0 AS BIGINT)"
        )
    };
}

// LATERAL, where there is one: a join would make PostgreSQL read the whole table.
const LOOK: Sql = Sql::pair(
    "jobs.look",
    buckets!(
        "(SELECT value AS kind FROM json_each($2)) AS k",
        "$1",
        "JOIN jobs AS j ON j.key = (SELECT h.key FROM jobs AS h
           WHERE h.kind = b.kind AND h.priority = b.priority AND h.claim_at IS NOT NULL
           ORDER BY h.claim_at LIMIT 1)"
    ),
    buckets!(
        "unnest($2::text[]) AS k (kind)",
        "(SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint + $1)",
        "CROSS JOIN LATERAL (SELECT h.claim_at, h.started, h.crashes FROM jobs AS h
           WHERE h.kind = b.kind AND h.priority = b.priority AND h.claim_at IS NOT NULL
           ORDER BY h.claim_at LIMIT 1) AS j"
    ),
);

/// What a look has found.
#[derive(Debug)]
pub(crate) struct Sight {
    pub(crate) buckets: Vec<Bucket>,
    /// The database's time in milliseconds.
    pub(crate) now: i64,
}

/// Where the jobs of `kinds` stand, the paused ones left out.
pub(crate) async fn look(book: &Book, kinds: &[String]) -> Result<Sight, JobsError> {
    let rows = book.db.fetch_all(&LOOK, values![book.tick(), kinds]).await?;
    // One row stands for no bucket: it brings the time where there is none.
    let mut sight = Sight { buckets: Vec::with_capacity(rows.len()), now: 0 };
    for row in &rows {
        sight.now = row.get("now")?;
        if let Some(kind) = row.get::<Option<String>>("kind")? {
            sight.buckets.push(bucket(row, &kind, sight.now)?);
        }
    }
    Ok(sight)
}

fn bucket(row: &Row, kind: &str, now: i64) -> Result<Bucket, JobsError> {
    let claim_at: i64 = row.get("claim_at")?;
    let due_for = u64::try_from(now.saturating_sub(claim_at)).ok().map(Duration::from_millis);
    let due_in = u64::try_from(claim_at.saturating_sub(now)).unwrap_or(0);
    Ok(Bucket {
        kind: Kind::new(kind)?,
        priority: row.get("priority")?,
        due_for,
        due_in: Duration::from_millis(due_in),
        crashes: super::count(row.get("crashes")?),
    })
}

const LOCK_KIND: Sql = Sql::pair(
    "jobs.lock_kind",
    "SELECT concurrency FROM job_kinds WHERE kind = $1 AND concurrency IS NOT NULL",
    "SELECT concurrency FROM job_kinds WHERE kind = $1 AND concurrency IS NOT NULL FOR UPDATE",
);
const RUNNING: Sql = super::timed!(
    "jobs.count_running",
    "SELECT count(*) AS running FROM jobs
     WHERE status = 'processing' AND kind = $2 AND claim_at > ",
    ""
);

/// How many more of a limited kind may be claimed; a kind without a limit is neither counted nor
/// locked. A limited one is locked until the transaction ends, so
/// that two runners can't both see the last place.
pub(crate) async fn places(
    book: &Book,
    tx: &mut mainstay_store::Tx,
    kind: &Kind,
) -> Result<Option<u32>, StoreError> {
    let Some(row) = tx.fetch_optional(&LOCK_KIND, values![kind.as_str()]).await? else {
        return Ok(None);
    };
    let limit: i64 = row.get("concurrency")?;
    let running: i64 =
        tx.fetch_one(&RUNNING, values![book.tick(), kind.as_str()]).await?.get("running")?;
    Ok(Some(super::count(limit.saturating_sub(running))))
}
