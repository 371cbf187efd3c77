//! Reads a service that is about to be edited, and keeps others from doing so.

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Row, Snapshot, Sql, StoreError, Tx, values};

use super::super::definition::Draft;
use crate::status::ServiceStatus;

macro_rules! found {
    ($which:literal, $lock:literal) => {
        concat!(
            "SELECT s.number, s.id, s.name, s.team, s.health_endpoint, s.format, s.schema_config,
               s.poll_interval_ms, s.timeout_ms, s.header_names, s.sealed_headers,
               s.is_active, st.status, st.stale_since, st.breaker_state
             FROM services AS s JOIN service_states AS st ON st.service_no = s.number
             WHERE s.removed_at IS NULL AND s.id ",
            $which,
            $lock
        )
    };
}
// Both rows: a poll that is recorded meanwhile waits, and then sees what was edited.
const LOCK: Sql =
    Sql::pair("monitor.lock_service", found!("= $1", ""), found!("= $1", " FOR NO KEY UPDATE"));
const LOCK_ALL: Sql = Sql::pair(
    "monitor.lock_services",
    found!("IN (SELECT value FROM json_each($1))", ""),
    found!("= ANY ($1)", " ORDER BY s.number FOR NO KEY UPDATE"),
);
const LIST: Sql = Sql::same(
    "monitor.list_definitions",
    "SELECT id, name, team, health_endpoint, format, schema_config, poll_interval_ms, timeout_ms,
       header_names, sealed_headers, is_active
     FROM services WHERE removed_at IS NULL ORDER BY name_key LIMIT $1",
);

// SQLite has one writer.
const HOLD: Sql = Sql::pair(
    "monitor.hold_for_removal",
    "SELECT 1 AS one WHERE $1 IS NULL",
    "SELECT st.service_no FROM service_states AS st
     WHERE st.service_no IN (
       SELECT number FROM services WHERE id = ANY ($1)
       UNION SELECT d.service_no FROM dependencies AS d
         JOIN services AS l ON l.number = d.linked_service_no
         WHERE l.id = ANY ($1))
     ORDER BY st.service_no FOR NO KEY UPDATE",
);

/// Headers as they are stored.
#[derive(Debug, Clone)]
pub(in crate::services) struct Sealed {
    /// Their names, as a JSON array.
    pub(in crate::services) names: String,
    /// All of them, sealed; `None` when there are none.
    pub(in crate::services) values: Option<String>,
}

/// A service as it is stored.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(in crate::services) number: i64,
    pub(crate) id: Id,
    pub(in crate::services) name: String,
    /// Its definition without its headers.
    pub(in crate::services) draft: Draft,
    pub(in crate::services) sealed: Sealed,
    pub(in crate::services) status: ServiceStatus,
    pub(in crate::services) stale_since: Option<Timestamp>,
    pub(in crate::services) is_circuit_closed: bool,
}

/// Waits until nobody records results of these services, nor of those that have linked something to
/// one of them, and lets nobody begin: removing them writes rows of all.
pub(in crate::services) async fn hold(tx: &mut Tx, ids: &[String]) -> Result<(), StoreError> {
    tx.execute(&HOLD, values![ids]).await.map(drop)
}

/// The service of this id, unless it was removed.
pub(in crate::services) async fn lock(tx: &mut Tx, id: Id) -> Result<Option<Stored>, StoreError> {
    let row = tx.fetch_optional(&LOCK, values![id]).await?;
    row.as_ref().map(stored).transpose()
}

/// The services of these ids, unless they were removed.
pub(in crate::services) async fn lock_all(
    tx: &mut Tx,
    ids: &[String],
) -> Result<Vec<Stored>, StoreError> {
    tx.fetch_all(&LOCK_ALL, values![ids]).await?.iter().map(stored).collect()
}

/// Up to `limit` services in the order of their names.
pub(in crate::services) async fn list(
    snapshot: &mut Snapshot,
    limit: i64,
) -> Result<Vec<(Id, Draft, Sealed)>, StoreError> {
    let rows = snapshot.fetch_all(&LIST, values![limit]).await?;
    rows.iter().map(|row| Ok((row.get("id")?, draft(row)?, sealed(row)?))).collect()
}

fn stored(row: &Row) -> Result<Stored, StoreError> {
    let status: String = row.get("status")?;
    Ok(Stored {
        number: row.get("number")?,
        id: row.get("id")?,
        draft: draft(row)?,
        name: row.get("name")?,
        sealed: sealed(row)?,
        status: ServiceStatus::from_name(&status).unwrap_or(ServiceStatus::Unknown),
        stale_since: row.get("stale_since")?,
        is_circuit_closed: row.get::<String>("breaker_state")? == "closed",
    })
}

/// The definition without its headers.
fn draft(row: &Row) -> Result<Draft, StoreError> {
    let config: Option<String> = row.get("schema_config")?;
    Ok(Draft {
        name: row.get("name")?,
        team: row.get("team")?,
        health_endpoint: row.get("health_endpoint")?,
        format: row.get("format")?,
        schema_config: config.and_then(|text| serde_json::from_str(&text).ok()),
        poll_interval_ms: row.get("poll_interval_ms")?,
        timeout_ms: row.get("timeout_ms")?,
        headers: Vec::new(),
        is_active: row.get("is_active")?,
    })
}

fn sealed(row: &Row) -> Result<Sealed, StoreError> {
    Ok(Sealed { names: row.get("header_names")?, values: row.get("sealed_headers")? })
}
