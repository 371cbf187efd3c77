//! Services that nobody has polled when they should have been: what is shown of them is not known.

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Sql, StoreError, Tx, values};

use super::histories::{ChangeRow, write_changes};
use crate::status::ServiceStatus;

/// How many are noted in one transaction.
pub(crate) const OVERDUE_AT_ONCE: usize = 500;

/// Planned as it is, a poll is `next_poll_at`; two intervals later the third one has passed without it.
macro_rules! overdue {
    ($lock:literal) => {
        concat!(
            "SELECT st.service_no, s.id, s.name, st.status, st.stale_since
             FROM service_states AS st JOIN services AS s ON s.number = st.service_no
             WHERE s.is_active = 1 AND s.removed_at IS NULL AND st.status <> 'unknown'
               AND st.next_poll_at + 2 * s.poll_interval_ms < $1
             ORDER BY st.service_no LIMIT $2",
            $lock
        )
    };
}
const OVERDUE: Sql =
    Sql::pair("monitor.overdue", overdue!(""), overdue!(" FOR UPDATE OF st SKIP LOCKED"));
const FORGET: Sql = Sql::pair(
    "monitor.mark_overdue",
    "UPDATE service_states SET status = 'unknown', status_since = $2,
       stale_since = coalesce(stale_since, $2), dependency_revision = dependency_revision + 1
     WHERE service_no IN (SELECT value FROM json_each($1))",
    "UPDATE service_states SET status = 'unknown', status_since = $2,
       stale_since = coalesce(stale_since, $2), dependency_revision = dependency_revision + 1
     WHERE service_no = ANY ($1)",
);

/// A service that became unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Overdue {
    pub(crate) id: Id,
    pub(crate) name: String,
    pub(crate) before: ServiceStatus,
}

/// Notes up to [`OVERDUE_AT_ONCE`] services that are overdue at `now`.
pub(crate) async fn mark(tx: &mut Tx, now: Timestamp) -> Result<Vec<Overdue>, StoreError> {
    let limit = i64::try_from(OVERDUE_AT_ONCE).unwrap_or(i64::MAX);
    let rows = tx.fetch_all(&OVERDUE, values![now, limit]).await?;
    let (mut keys, mut changes, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for row in &rows {
        let number: i64 = row.get("service_no")?;
        let status: String = row.get("status")?;
        let change = |kind, before: &str, after: &str| ChangeRow {
            at: now.as_millis(),
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
        keys.push(number);
        let before = ServiceStatus::from_name(&status).unwrap_or(ServiceStatus::Unknown);
        all.push(Overdue { id: row.get("id")?, name: row.get("name")?, before });
    }
    if !keys.is_empty() {
        tx.execute(&FORGET, values![&keys, now]).await?;
        write_changes(tx, &changes).await?;
    }
    Ok(all)
}
