//! Services that nobody has polled when they should have been: what is shown of them is not known.

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Row, Sql, StoreError, Tx, values};
use serde::Serialize;

use super::histories::{ChangeRow, write_changes};
use super::{over_rows, rows_text};
use crate::status::ServiceStatus;

/// How many are noted in one transaction.
pub(crate) const OVERDUE_AT_ONCE: usize = 500;

/// Planned as it is, a poll is `next_poll_at`; two intervals later the third one has passed without it.
macro_rules! overdue {
    ($others:literal, $lock:literal) => {
        concat!(
            "SELECT st.service_no, s.id, s.name, st.status, st.status_since, st.stale_since,
               st.next_poll_at + 2 * s.poll_interval_ms AS overdue_at
             FROM service_states AS st JOIN services AS s ON s.number = st.service_no
             WHERE s.is_active = 1 AND s.removed_at IS NULL AND st.status <> 'unknown'
               AND st.next_poll_at + 2 * s.poll_interval_ms < $1 AND st.service_no ",
            $others,
            " ORDER BY st.service_no LIMIT $2",
            $lock
        )
    };
}
const OVERDUE: Sql = Sql::pair(
    "monitor.overdue",
    overdue!("NOT IN (SELECT value FROM json_each($3))", ""),
    overdue!("<> ALL ($3)", " FOR UPDATE OF st SKIP LOCKED"),
);
const FORGET: Sql = over_rows!(
    "monitor.mark_overdue",
    "UPDATE service_states SET status = 'unknown', status_since = v.at, failing_since = NULL,
       stale_since = coalesce(stale_since, v.at), dependency_revision = dependency_revision + 1
     FROM",
    [service_no bigint, at bigint],
    "WHERE service_states.service_no = v.service_no"
);

#[derive(Debug, Serialize)]
struct OverdueRow {
    service_no: i64,
    at: i64,
}

/// A service that became unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Overdue {
    pub(crate) id: Id,
    pub(crate) name: String,
    pub(crate) before: ServiceStatus,
}

/// Notes up to [`OVERDUE_AT_ONCE`] services that are overdue at `now`, from the moment on when they were:
/// while Mainstay itself was off nobody noted it, and that time is not known either. Those whose results
/// are `waiting` to be recorded were polled: the results themselves tell whether there is a lapse.
pub(crate) async fn mark(
    tx: &mut Tx,
    now: Timestamp,
    waiting: &[i64],
) -> Result<Vec<Overdue>, StoreError> {
    let limit = i64::try_from(OVERDUE_AT_ONCE).unwrap_or(i64::MAX);
    let rows = tx.fetch_all(&OVERDUE, values![now, limit, waiting]).await?;
    let (mut overdue, mut changes, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for row in &rows {
        let number: i64 = row.get("service_no")?;
        let status: String = row.get("status")?;
        let at = since(row)?;
        let change = |kind, before: &str, after: &str| ChangeRow {
            at,
            kind,
            service_no: Some(number),
            dependency_no: None,
            before: Some(before.to_owned()),
            after: Some(after.to_owned()),
        };
        changes.push(change("service", &status, ServiceStatus::Unknown.name()));
        if row.get::<Option<i64>>("stale_since")?.is_none() {
            changes.push(change("stale", "fresh", "stale"));
        }
        overdue.push(OverdueRow { service_no: number, at });
        let before = ServiceStatus::from_name(&status).unwrap_or(ServiceStatus::Unknown);
        all.push(Overdue { id: row.get("id")?, name: row.get("name")?, before });
    }
    if !overdue.is_empty() {
        tx.execute(&FORGET, values![rows_text(&overdue).as_str()]).await?;
        write_changes(tx, &changes).await?;
    }
    Ok(all)
}

/// Since when it is overdue; not before what it was until then.
fn since(row: &Row) -> Result<i64, StoreError> {
    let (overdue_at, status_since): (i64, i64) = (row.get("overdue_at")?, row.get("status_since")?);
    Ok(overdue_at.max(status_since))
}
