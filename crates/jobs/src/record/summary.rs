//! The queue at a glance, at a bounded cost: every count looks at no more rows than the cap.

use std::collections::BTreeMap;

use mainstay_store::{Row, Sql, values};

use super::{Book, timed};
use crate::error::JobsError;
use crate::model::{Kind, Status};
use crate::view::{COUNT_CAP, KindSummary, Summary};

const KINDS: Sql = Sql::same(
    "jobs.list_kinds",
    "WITH RECURSIVE kinds (kind) AS (
       SELECT min(kind) FROM jobs WHERE claim_at IS NOT NULL
       UNION ALL
       SELECT (SELECT min(j.kind) FROM jobs AS j WHERE j.kind > k.kind AND j.claim_at IS NOT NULL)
       FROM kinds AS k WHERE k.kind IS NOT NULL)
     SELECT kind FROM kinds WHERE kind IS NOT NULL",
);
const SETTINGS: Sql =
    Sql::same("jobs.list_settings", "SELECT kind, paused_at, concurrency FROM job_kinds");
const WAITING: Sql = timed!(
    "jobs.count_waiting",
    "SELECT count(*) AS queued, coalesce(sum(CASE WHEN claim_at <= ",
    " THEN 1 ELSE 0 END), 0) AS due FROM (SELECT claim_at FROM jobs
       WHERE kind = $2 AND claim_at IS NOT NULL AND status = 'queued' LIMIT $3) AS some_rows"
);
const OLDEST: Sql = timed!(
    "jobs.find_oldest",
    "WITH RECURSIVE priorities (priority) AS (
       SELECT min(priority) FROM jobs WHERE kind = $2 AND claim_at IS NOT NULL
       UNION ALL
       SELECT (SELECT min(j.priority) FROM jobs AS j
         WHERE j.kind = $2 AND j.priority > p.priority AND j.claim_at IS NOT NULL)
       FROM priorities AS p WHERE p.priority IS NOT NULL)
     SELECT ",
    " - min((SELECT min(j.claim_at) FROM jobs AS j
       WHERE j.kind = $2 AND j.priority = p.priority AND j.claim_at IS NOT NULL)) AS age
     FROM priorities AS p WHERE p.priority IS NOT NULL"
);
const OF_STATUS: Sql = Sql::same(
    "jobs.count_of_status",
    "SELECT kind, count(*) AS rows_of_kind FROM (SELECT kind FROM jobs WHERE status = $1
       ORDER BY id DESC LIMIT $2) AS some_rows GROUP BY kind",
);
const STUCK: Sql = timed!(
    "jobs.count_stuck",
    "SELECT count(*) AS stuck FROM (SELECT 1 FROM jobs WHERE status = 'processing'
       AND heartbeat_at + lock_ttl_seconds * 1000 < ",
    " LIMIT $2) AS some_rows"
);

/// Everything at a glance.
pub(crate) async fn summary(book: &Book) -> Result<Summary, JobsError> {
    let mut kinds = BTreeMap::new();
    for row in book.db.fetch_all(&SETTINGS, &[]).await? {
        let entry = entry(&mut kinds, &row)?;
        entry.paused = row.get::<Option<i64>>("paused_at")?.is_some();
        entry.concurrency = row.get("concurrency")?;
    }
    for row in book.db.fetch_all(&KINDS, &[]).await? {
        let entry = entry(&mut kinds, &row)?;
        count_waiting(book, entry).await?;
    }
    for status in [Status::Processing, Status::Failed, Status::Succeeded] {
        let rows = book.db.fetch_all(&OF_STATUS, values![status.name(), COUNT_CAP]).await?;
        for row in rows {
            let count = row.get("rows_of_kind")?;
            let entry = entry(&mut kinds, &row)?;
            match status {
                Status::Processing => entry.processing = count,
                Status::Failed => entry.failed = count,
                Status::Succeeded | Status::Queued => entry.succeeded = count,
            }
        }
    }
    let stuck = book.db.fetch_one(&STUCK, values![book.tick(), COUNT_CAP]).await?.get("stuck")?;
    Ok(Summary { kinds: kinds.into_values().collect(), stuck, count_cap: COUNT_CAP })
}

async fn count_waiting(book: &Book, entry: &mut KindSummary) -> Result<(), JobsError> {
    let kind = entry.kind.as_str();
    let row = book.db.fetch_one(&WAITING, values![book.tick(), kind, COUNT_CAP]).await?;
    entry.queued = row.get("queued")?;
    entry.due = row.get("due")?;
    entry.scheduled = entry.queued.saturating_sub(entry.due);
    let age: Option<i64> =
        book.db.fetch_one(&OLDEST, values![book.tick(), kind]).await?.get("age")?;
    entry.oldest_due_ms = age.filter(|age| *age >= 0);
    Ok(())
}

fn entry<'a>(
    kinds: &'a mut BTreeMap<String, KindSummary>,
    row: &Row,
) -> Result<&'a mut KindSummary, JobsError> {
    let name: String = row.get("kind")?;
    let kind = Kind::new(&name)?;
    Ok(kinds.entry(name).or_insert(KindSummary {
        kind,
        queued: 0,
        due: 0,
        scheduled: 0,
        processing: 0,
        failed: 0,
        succeeded: 0,
        oldest_due_ms: None,
        paused: false,
        concurrency: None,
    }))
}
