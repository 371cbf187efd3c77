//! Status changes of everything, newest first, and who changes most.

use mainstay_base::Timestamp;
use mainstay_store::{Db, Row, Sql, StoreError, values};

use crate::aliases::MAX_ALIASES;
use crate::names::compared;
use crate::report::DependencyStatus;
use crate::views::activity::{Activity, ActivityFilter, ActivityItem, ActivityOf, Unstable};
use crate::views::list::{Place, one_more, pattern};

/// A dependency that is new and not well has changed too: from nothing. The sign keeps SQLite from putting
/// all changes of all services in order instead of beginning with the newest.
macro_rules! recent {
    ($named:literal, $which:literal) => {
        concat!(
            "SELECT c.number, c.at, c.before, c.after, s.id AS service_id, s.name AS service_name,
               d.id AS dependency_id, d.name AS dependency_name,
               coalesce(l.name, d.canonical_name) AS canonical_name
             FROM changes AS c
             JOIN services AS s ON s.number = +c.service_no
             LEFT JOIN dependencies AS d ON d.number = c.dependency_no
             LEFT JOIN services AS l ON l.number = d.linked_service_no AND l.removed_at IS NULL
             WHERE c.number > $1 AND c.number < $2 AND (c.kind IN ('service', 'dependency')
                 OR (c.kind = 'added' AND c.dependency_no IS NOT NULL AND c.after IN ('degraded', 'down')))
               AND ($4 IS NULL OR s.name_key LIKE $4 ESCAPE '\\' OR d.canonical_key LIKE $4 ESCAPE '\\'
                 OR d.name ",
            $named,
            ")
               AND ($5 IS NULL OR c.after = $5)
               AND ($6 IS NULL OR (c.dependency_no IS NULL) = ($6 = 'service'))",
            $which,
            " ORDER BY c.number DESC LIMIT $3"
        )
    };
}
macro_rules! of_service {
    ($named:literal) => {
        recent!($named, " AND c.service_no = (SELECT o.number FROM services AS o WHERE o.id = $8)")
    };
}
pub(super) const RECENT: Sql = Sql::pair(
    "monitor.activity",
    recent!("IN (SELECT value FROM json_each($7))", ""),
    recent!("= ANY ($7)", ""),
);
pub(super) const OF_SERVICE: Sql = Sql::pair(
    "monitor.activity_of_service",
    of_service!("IN (SELECT value FROM json_each($7))"),
    of_service!("= ANY ($7)"),
);
pub(super) const NEWEST: Sql = Sql::same(
    "monitor.newest_activity",
    "SELECT number FROM changes WHERE number > $1 AND number < $2 ORDER BY number DESC LIMIT 1",
);
pub(super) const FIRST_LEFT: Sql = Sql::same(
    "monitor.activity_left",
    "SELECT number FROM changes WHERE number > $1 AND number < $2
     ORDER BY number DESC LIMIT 1 OFFSET $3",
);
pub(super) const FIRST_LEFT_OF_SERVICE: Sql = Sql::same(
    "monitor.activity_left_of_service",
    "SELECT number FROM changes WHERE number > $1 AND number < $2
       AND service_no = (SELECT o.number FROM services AS o WHERE o.id = $4)
     ORDER BY number DESC LIMIT 1 OFFSET $3",
);
const ALIASES: Sql =
    Sql::same("monitor.names_with_alias", "SELECT alias FROM aliases ORDER BY alias LIMIT $1");
// What Mainstay itself did not know tells nothing of how stable others are. The signs keep SQLite from reading all changes ever in the order of their services.
pub(super) const UNSTABLE: Sql = Sql::same(
    "monitor.unstable",
    "SELECT t.transitions, t.last_at, s.id AS service_id, s.name AS service_name,
       d.id AS dependency_id, d.name AS dependency_name,
       coalesce(l.name, d.canonical_name) AS canonical_name
     FROM (SELECT +service_no AS service_no, +dependency_no AS dependency_no,
         count(*) AS transitions, max(at) AS last_at
       FROM changes WHERE at > $1 AND kind IN ('service', 'dependency')
         AND (before IS NULL OR before <> 'unknown') AND after <> 'unknown'
       GROUP BY +service_no, +dependency_no) AS t
     JOIN services AS s ON s.number = t.service_no
     LEFT JOIN dependencies AS d ON d.number = t.dependency_no
     LEFT JOIN services AS l ON l.number = d.linked_service_no AND l.removed_at IS NULL
     WHERE s.removed_at IS NULL AND d.removed_at IS NULL AND t.transitions > 1
     ORDER BY t.transitions DESC, t.last_at DESC, s.id, d.id NULLS FIRST LIMIT $2",
);

/// The newest change of those asked for that is not looked at when `most` are looked through; `None`
/// when that is all of them.
pub(in crate::views) async fn first_left(
    db: &Db,
    ask: &Activity,
    most: i64,
) -> Result<Option<i64>, StoreError> {
    let (after, before) = range(ask);
    if ask.filter == ActivityFilter::default() {
        // Nearly all of them are shown, so the end is near: their numbers tell where to stop at the latest.
        let newest = db.fetch_optional(&NEWEST, values![after, before]).await?;
        let newest: Option<i64> = newest.map(|row| row.get("number")).transpose()?;
        return Ok(newest.map(|newest| newest.saturating_sub(most)).filter(|left| *left > after));
    }
    let row = match ask.filter.service {
        None => db.fetch_optional(&FIRST_LEFT, values![after, before, most]).await?,
        Some(id) => {
            db.fetch_optional(&FIRST_LEFT_OF_SERVICE, values![after, before, most, id]).await?
        }
    };
    row.map(|row| row.get("number")).transpose()
}

/// One row more than asked for, if there is one.
pub(in crate::views) async fn recent(
    db: &Db,
    ask: &Activity,
) -> Result<Vec<(Place, ActivityItem)>, StoreError> {
    let (after, before) = range(ask);
    let named = match &ask.filter.search {
        None => Vec::new(),
        Some(text) => aliases_with(db, text).await?,
    };
    let ActivityFilter { search, status, service, of } = &ask.filter;
    let search = search.as_deref().map(pattern);
    let status = status.map(DependencyStatus::name);
    let of = of.map(|of| match of {
        ActivityOf::Service => "service",
        ActivityOf::Dependency => "dependency",
    });
    let limit = one_more(ask.limit);
    let rows = match service {
        None => {
            let values = values![after, before, limit, search.as_deref(), status, of, &named];
            db.fetch_all(&RECENT, values).await?
        }
        Some(id) => {
            let search = search.as_deref();
            let values = values![after, before, limit, search, status, of, &named, *id];
            db.fetch_all(&OF_SERVICE, values).await?
        }
    };
    rows.iter().map(item).collect()
}

/// Who changed more than once after `since`, most often first.
pub(in crate::views) async fn unstable(
    db: &Db,
    since: Timestamp,
    limit: u32,
) -> Result<Vec<Unstable>, StoreError> {
    let rows = db.fetch_all(&UNSTABLE, values![since, limit]).await?;
    let read = |row: &Row| {
        Ok(Unstable {
            service_id: row.get("service_id")?,
            service_name: row.get("service_name")?,
            dependency_id: row.get("dependency_id")?,
            dependency_name: row.get("dependency_name")?,
            canonical_name: row.get("canonical_name")?,
            transitions: row.get("transitions")?,
            last_change_at: row.get("last_at")?,
        })
    };
    rows.iter().map(read).collect()
}

/// Between which changes it is asked for.
fn range(ask: &Activity) -> (i64, i64) {
    (ask.after.unwrap_or(0), ask.before.unwrap_or(i64::MAX))
}

/// The reported names with an alias that hold this text in any case. Every other name is compared as
/// its canonical key is, which is folded where it is stored: databases fold in ways of their own.
async fn aliases_with(db: &Db, text: &str) -> Result<Vec<String>, StoreError> {
    let wanted = compared(text);
    let most = i64::try_from(MAX_ALIASES).unwrap_or(i64::MAX);
    let rows = db.fetch_all(&ALIASES, values![most]).await?;
    let mut names = Vec::new();
    for row in &rows {
        let name: String = row.get("alias")?;
        if compared(&name).contains(&wanted) {
            names.push(name);
        }
    }
    Ok(names)
}

fn item(row: &Row) -> Result<(Place, ActivityItem), StoreError> {
    let item = ActivityItem {
        id: row.get("number")?,
        at: row.get("at")?,
        service_id: row.get("service_id")?,
        service_name: row.get("service_name")?,
        dependency_id: row.get("dependency_id")?,
        dependency_name: row.get("dependency_name")?,
        canonical_name: row.get("canonical_name")?,
        previous: row.get("before")?,
        current: row.get("after")?,
    };
    Ok((Place { key: 0, number: item.id }, item))
}
