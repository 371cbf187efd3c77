//! What changed, in the order of the numbers.

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Row, Snapshot, Sql, StoreError, values};

use crate::past::change::{Change, OfDependency, What};
use crate::past::history::{ChangeKind, HistoryItem, Place};
use crate::report::DependencyStatus;
use crate::status::ServiceStatus;

// Names are looked up only where something is new. The sign keeps SQLite to the order of the numbers.
pub(super) const PAGE: Sql = Sql::same(
    "monitor.page_of_changes",
    "SELECT c.number, c.at, c.kind, c.service_no, c.dependency_no, c.after, s.id AS service_id,
       d.id AS dependency_id, d.name AS dependency_name
     FROM changes AS c
     LEFT JOIN services AS s ON c.kind = 'added' AND s.number = c.service_no
     LEFT JOIN dependencies AS d ON c.kind = 'added' AND d.number = c.dependency_no
     WHERE c.number > $1 AND c.number <= $2 AND +c.at <= $3 ORDER BY c.number LIMIT $4",
);
pub(super) const UNTIL: Sql = Sql::same(
    "monitor.changes_until",
    "SELECT c.number, c.at, c.kind, c.after, s.id AS service_id, d.id AS dependency_id,
       d.name AS dependency_name, CAST(CASE WHEN c.dependency_no IS NULL THEN 0 ELSE 1 END AS BIGINT)
         AS of_dependency
     FROM changes AS c
     LEFT JOIN services AS s ON s.number = c.service_no
     LEFT JOIN dependencies AS d ON d.number = c.dependency_no
     WHERE c.number > $1 AND c.number <= $2 AND +c.at <= $3 ORDER BY c.number LIMIT $4",
);
pub(super) const FIRST_AFTER: Sql = Sql::same(
    "monitor.first_change_after",
    "SELECT number FROM changes WHERE number > $1 AND +at > $2 ORDER BY number LIMIT 1",
);
pub(super) const NEWEST_BUT: Sql = Sql::same(
    "monitor.newest_change_but",
    "SELECT at FROM changes WHERE number > $1 AND number <= $2 AND +at <= $3
     ORDER BY number DESC LIMIT 1 OFFSET $4",
);
pub(super) const FIRST: Sql =
    Sql::same("monitor.first_change", "SELECT at FROM changes ORDER BY at LIMIT 1");
pub(super) const HIGHEST: Sql =
    Sql::same("monitor.highest_change", "SELECT max(number) AS number FROM changes");

/// When the first change was made that is kept.
pub(in crate::past) async fn first_at(
    snapshot: &mut Snapshot,
) -> Result<Option<Timestamp>, StoreError> {
    snapshot.fetch_optional(&FIRST, &[]).await?.map(|row| row.get("at")).transpose()
}

/// The highest number that can be seen.
pub(in crate::past) async fn highest(snapshot: &mut Snapshot) -> Result<i64, StoreError> {
    let number: Option<i64> = snapshot.fetch_one(&HIGHEST, &[]).await?.get("number")?;
    Ok(number.unwrap_or(0))
}

/// A page of the changes above one number, up to another, that had happened by `at`: with the number of
/// the last, if there may be more.
pub(in crate::past) async fn page(
    snapshot: &mut Snapshot,
    above: i64,
    upto: i64,
    at: Timestamp,
    limit: usize,
) -> Result<(Vec<Change>, Option<i64>), StoreError> {
    let most = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = snapshot.fetch_all(&PAGE, values![above, upto, at, most]).await?;
    let mut changes = Vec::with_capacity(rows.len());
    for row in &rows {
        changes.extend(change(row)?);
    }
    let last = rows.last().filter(|_| rows.len() >= limit).map(|row| row.get("number"));
    Ok((changes, last.transpose()?))
}

/// The number of the first change above one number that happened after `at`.
pub(in crate::past) async fn first_after(
    snapshot: &mut Snapshot,
    above: i64,
    at: Timestamp,
) -> Result<Option<i64>, StoreError> {
    let row = snapshot.fetch_optional(&FIRST_AFTER, values![above, at]).await?;
    row.map(|row| row.get("number")).transpose()
}

/// When the newest change was made above one number, up to another, that had happened by `to`, but for the `most`
/// that are newer.
pub(in crate::past) async fn newest_but(
    snapshot: &mut Snapshot,
    above: i64,
    upto: i64,
    to: Timestamp,
    most: u32,
) -> Result<Option<Timestamp>, StoreError> {
    let row =
        snapshot.fetch_optional(&NEWEST_BUT, values![above, upto, to, i64::from(most)]).await?;
    row.map(|row| row.get("at")).transpose()
}

/// A page of the changes above one number, up to another, that had happened by `to`: one more than
/// `limit` if there is more. What is told of things that are forgotten is left out.
pub(in crate::past) async fn until(
    snapshot: &mut Snapshot,
    above: i64,
    upto: i64,
    to: Timestamp,
    limit: usize,
) -> Result<Vec<(Place, Option<HistoryItem>)>, StoreError> {
    let most = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
    let rows = snapshot.fetch_all(&UNTIL, values![above, upto, to, most]).await?;
    rows.iter().map(|row| Ok((Place(row.get("number")?), item(row)?))).collect()
}

fn item(row: &Row) -> Result<Option<HistoryItem>, StoreError> {
    let service_id: Option<Id> = row.get("service_id")?;
    let dependency_id: Option<Id> = row.get("dependency_id")?;
    let is_forgotten = row.get::<bool>("of_dependency")? && dependency_id.is_none();
    let kind: String = row.get("kind")?;
    let (Some(service_id), Some(kind), false) =
        (service_id, ChangeKind::from_name(&kind), is_forgotten)
    else {
        return Ok(None);
    };
    Ok(Some(HistoryItem {
        id: row.get("number")?,
        at: row.get("at")?,
        kind,
        service_id,
        dependency_id,
        dependency_name: row.get("dependency_name")?,
        after: row.get("after")?,
    }))
}

/// What a row says; `None` when that means nothing here, or the thing is forgotten.
fn change(row: &Row) -> Result<Option<Change>, StoreError> {
    let Some(service_no) = row.get::<Option<i64>>("service_no")? else { return Ok(None) };
    let kind: String = row.get("kind")?;
    let what = match row.get::<Option<i64>>("dependency_no")? {
        Some(number) => of_dependency(row, &kind)?.map(|what| What::Dependency(number, what)),
        None => of_service(row, &kind)?,
    };
    let at = row.get("at")?;
    Ok(what.map(|what| Change { at, service_no, what }))
}

fn of_service(row: &Row, kind: &str) -> Result<Option<What>, StoreError> {
    let after: Option<String> = row.get("after")?;
    let id: Option<Id> = row.get("service_id")?;
    Ok(match (kind, after) {
        ("added", Some(name)) => id.map(|id| What::Service { id, name }),
        ("renamed", Some(name)) => Some(What::Renamed(name)),
        ("service", Some(status)) => ServiceStatus::from_name(&status).map(What::Status),
        ("stale", Some(after)) => Some(What::Stale(after == "stale")),
        ("removed", _) => Some(What::Removed),
        _ => None,
    })
}

fn of_dependency(row: &Row, kind: &str) -> Result<Option<OfDependency>, StoreError> {
    let after: Option<String> = row.get("after")?;
    let status = || after.as_deref().and_then(DependencyStatus::from_name);
    Ok(match kind {
        "added" => {
            let (id, name) = (row.get("dependency_id")?, row.get("dependency_name")?);
            let added = Option::zip(id, name).zip(status());
            added.map(|((id, name), status)| OfDependency::Added { id, name, status })
        }
        "dependency" => status().map(OfDependency::Status),
        "missing" => Some(OfDependency::Missing(after.as_deref() == Some("missing"))),
        "alias" => after.map(OfDependency::Alias),
        "link" => Some(OfDependency::Link(after.and_then(|id| id.parse().ok()))),
        "removed" => Some(OfDependency::Removed),
        _ => None,
    })
}
