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
/// Each priority of a kind, a step in the index for each.
macro_rules! priorities {
    () => {
        "WITH RECURSIVE priorities (priority) AS (
           SELECT min(priority) FROM jobs WHERE kind = $2 AND claim_at IS NOT NULL
           UNION ALL
           SELECT (SELECT min(j.priority) FROM jobs AS j
             WHERE j.kind = $2 AND j.priority > p.priority AND j.claim_at IS NOT NULL)
           FROM priorities AS p WHERE p.priority IS NOT NULL)"
    };
}
/// Counted within each priority, in the order of the index: what is scheduled is not read to find
/// what is due. LATERAL, where there is one: a join would make PostgreSQL read the whole table.
macro_rules! count_waiting {
    ($name:literal, $is:literal) => {
        Sql::pair(
            $name,
            concat!(
                priorities!(),
                " SELECT count(*) AS waiting FROM (SELECT 1 FROM priorities AS p CROSS JOIN jobs AS j
                   WHERE p.priority IS NOT NULL AND j.kind = $2 AND j.priority = p.priority
                     AND j.status = 'queued' AND j.claim_at ", $is, " $1 LIMIT $3) AS some_rows"
            ),
            concat!(
                priorities!(),
                " SELECT count(*) AS waiting FROM (SELECT 1 FROM priorities AS p
                   CROSS JOIN LATERAL (SELECT 1 FROM jobs AS j
                     WHERE j.kind = $2 AND j.priority = p.priority AND j.status = 'queued'
                       AND j.claim_at ", $is,
                "    (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint + $1)
                     ORDER BY j.claim_at LIMIT $3) AS of_priority
                   WHERE p.priority IS NOT NULL LIMIT $3) AS some_rows"
            ),
        )
    };
}
const DUE: Sql = count_waiting!("jobs.count_due", "<=");
const SCHEDULED: Sql = count_waiting!("jobs.count_scheduled", ">");
const OLDEST: Sql = timed!(
    "jobs.find_oldest",
    concat!(priorities!(), " SELECT "),
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
    let values = values![book.tick(), kind, COUNT_CAP];
    entry.due = book.db.fetch_one(&DUE, values).await?.get("waiting")?;
    entry.scheduled = book.db.fetch_one(&SCHEDULED, values).await?.get("waiting")?;
    entry.queued = entry.due.saturating_add(entry.scheduled).min(COUNT_CAP);
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
