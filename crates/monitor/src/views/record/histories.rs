//! How polls turned out, and what was wrong with dependencies, newest first.

use mainstay_store::{Db, Row, Sql, StoreError, values};

use super::services::{json, poll_error};
use crate::report::DependencyStatus;
use crate::views::history::{DependencyError, PollHistoryItem};
use crate::views::list::{Place, one_more};

pub(super) const POLLS: Sql = Sql::same(
    "monitor.poll_history",
    "SELECT number, at, error_kind, error_message FROM poll_history
     WHERE service_no = $1 AND number < $2 ORDER BY number DESC LIMIT $3",
);
pub(super) const ERRORS: Sql = Sql::same(
    "monitor.dependency_errors",
    "SELECT e.number, e.at, e.error, e.error_message,
       (SELECT c.after FROM changes AS c WHERE c.dependency_no = e.dependency_no
          AND c.kind IN ('added', 'dependency') AND c.at <= e.at ORDER BY c.number DESC LIMIT 1) AS status
     FROM dependency_errors AS e
     WHERE e.dependency_no = $1 AND e.number < $2 ORDER BY e.number DESC LIMIT $3",
);

/// How polls of a service turned out: one row more than asked for, if there is one.
pub(in crate::views) async fn polls(
    db: &Db,
    service_no: i64,
    after: Option<Place>,
    limit: u32,
) -> Result<Vec<(Place, PollHistoryItem)>, StoreError> {
    let values = values![service_no, below(after), one_more(limit)];
    let read = |row: &Row| {
        let error = poll_error(row)?;
        let item = PollHistoryItem { at: row.get("at")?, success: error.is_none(), error };
        Ok((place(row)?, item))
    };
    db.fetch_all(&POLLS, values).await?.iter().map(read).collect()
}

/// What was wrong with a dependency: one row more than asked for, if there is one.
pub(in crate::views) async fn errors(
    db: &Db,
    dependency_no: i64,
    after: Option<Place>,
    limit: u32,
) -> Result<Vec<(Place, DependencyError)>, StoreError> {
    let values = values![dependency_no, below(after), one_more(limit)];
    let read = |row: &Row| {
        let item = DependencyError {
            at: row.get("at")?,
            status: status(row)?,
            error: json(row.get("error")?),
            error_message: row.get("error_message")?,
        };
        Ok((place(row)?, item))
    };
    db.fetch_all(&ERRORS, values).await?.iter().map(read).collect()
}

fn status(row: &Row) -> Result<Option<DependencyStatus>, StoreError> {
    let name: Option<String> = row.get("status")?;
    Ok(name.as_deref().and_then(DependencyStatus::from_name))
}

fn below(after: Option<Place>) -> i64 {
    after.map_or(i64::MAX, |place| place.number)
}

fn place(row: &Row) -> Result<Place, StoreError> {
    Ok(Place { key: 0, number: row.get("number")? })
}
