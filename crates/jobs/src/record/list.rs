//! Jobs as people look at them, newest first, whether in the queue or in the archive.

use mainstay_base::Id;
use mainstay_store::{Row, Sql, values};

use super::claim::failure;
use super::{Book, timed};
use crate::error::JobsError;
use crate::model::{JobView, Kind, Status};
use crate::view::{JobFilter, Page};

macro_rules! hot {
    () => {
        "SELECT id, kind, subject, status, priority, attempts, max_attempts, crashes, created_at,
           next_run_at, locked_at, locked_by, heartbeat_at, lock_ttl_seconds, last_error_code,
           last_error_message, finished_at, CAST(0 AS BIGINT) AS archived FROM jobs "
    };
}
macro_rules! cold {
    () => {
        "SELECT id, kind, subject, status, priority, attempts, max_attempts, crashes, created_at,
           next_run_at, CAST(NULL AS BIGINT) AS locked_at, CAST(NULL AS TEXT) AS locked_by,
           CAST(NULL AS BIGINT) AS heartbeat_at, CAST(NULL AS BIGINT) AS lock_ttl_seconds,
           last_error_code, last_error_message, finished_at, CAST(1 AS BIGINT) AS archived FROM finished_jobs "
    };
}
macro_rules! of_status {
    () => {
        "WHERE status = $1 AND id < $2 AND kind = coalesce($3, kind) ORDER BY id DESC LIMIT $4"
    };
}
const HOT_OF_STATUS: Sql = Sql::same("jobs.list_of_status", concat!(hot!(), of_status!()));
const COLD_OF_STATUS: Sql = Sql::same("jobs.list_archived", concat!(cold!(), of_status!()));
const STUCK: Sql = timed!(
    "jobs.list_stuck",
    concat!(
        hot!(),
        "WHERE status = 'processing' AND id < $2 AND kind = coalesce($3, kind)
           AND heartbeat_at + lock_ttl_seconds * 1000 < "
    ),
    " ORDER BY id DESC LIMIT $4"
);
const FIND_HOT: Sql = Sql::same(
    "jobs.find",
    concat!(hot!(), "WHERE status IN ('queued', 'processing', 'succeeded', 'failed') AND id = $1"),
);
const FIND_COLD: Sql = Sql::same("jobs.find_archived", concat!(cold!(), "WHERE id = $1"));

/// Sorts after every id.
const AFTER_EVERY_ID: &str = "~";

/// One row more than asked for, if there is one, newest first.
pub(crate) async fn list(
    book: &Book,
    filter: &JobFilter,
    page: Page,
) -> Result<Vec<JobView>, JobsError> {
    if filter.stuck {
        let is_possible = filter.status.is_none_or(|status| status == Status::Processing);
        return if is_possible { stuck(book, filter, page).await } else { Ok(Vec::new()) };
    }
    let statuses: &[Status] = filter.status.as_ref().map_or(&Status::ALL, std::slice::from_ref);
    let mut found = Vec::new();
    for status in statuses {
        found.extend(of_status(book, &HOT_OF_STATUS, *status, filter, page).await?);
        if status.is_finished() {
            found.extend(of_status(book, &COLD_OF_STATUS, *status, filter, page).await?);
        }
    }
    found.sort_by_key(|view| std::cmp::Reverse(view.id));
    // A row that was moved between the two looks is there twice.
    found.dedup_by_key(|view| view.id);
    found.truncate(usize::try_from(page.one_more()).unwrap_or(usize::MAX));
    Ok(found)
}

/// The job with this id, wherever it is.
pub(crate) async fn find(book: &Book, id: Id) -> Result<Option<JobView>, JobsError> {
    for sql in [&FIND_HOT, &FIND_COLD] {
        if let Some(row) = book.db.fetch_optional(sql, values![id]).await? {
            return view(&row).map(Some);
        }
    }
    Ok(None)
}

async fn of_status(
    book: &Book,
    sql: &Sql,
    status: Status,
    filter: &JobFilter,
    page: Page,
) -> Result<Vec<JobView>, JobsError> {
    let kind = filter.kind.as_ref().map(Kind::as_str);
    let below = below(page);
    let values = values![status.name(), &below, kind, page.one_more()];
    book.db.fetch_all(sql, values).await?.iter().map(view).collect()
}

async fn stuck(book: &Book, filter: &JobFilter, page: Page) -> Result<Vec<JobView>, JobsError> {
    let kind = filter.kind.as_ref().map(Kind::as_str);
    let below = below(page);
    let values = values![book.tick(), &below, kind, page.one_more()];
    book.db.fetch_all(&STUCK, values).await?.iter().map(view).collect()
}

fn below(page: Page) -> String {
    page.after.map_or_else(|| AFTER_EVERY_ID.to_owned(), |id| id.to_string())
}

fn view(row: &Row) -> Result<JobView, JobsError> {
    Ok(JobView {
        id: row.get("id")?,
        kind: Kind::new(&row.get::<String>("kind")?)?,
        subject: row.get("subject")?,
        status: row.get::<String>("status")?.parse()?,
        priority: row.get("priority")?,
        attempts: row.get("attempts")?,
        max_attempts: row.get("max_attempts")?,
        crashes: row.get("crashes")?,
        created_at: row.get("created_at")?,
        next_run_at: row.get("next_run_at")?,
        locked_at: row.get("locked_at")?,
        locked_by: row.get("locked_by")?,
        heartbeat_at: row.get("heartbeat_at")?,
        lock_ttl_seconds: row.get("lock_ttl_seconds")?,
        last_error: failure(row)?,
        finished_at: row.get("finished_at")?,
        archived: row.get::<i64>("archived")? == 1,
    })
}
