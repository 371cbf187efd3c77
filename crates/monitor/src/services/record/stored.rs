//! Reads a service that is about to be edited, and keeps others from doing so.

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Row, Sql, StoreError, Tx, values};

use super::super::definition::Draft;
use crate::status::ServiceStatus;

macro_rules! found {
    ($lock:literal) => {
        concat!(
            "SELECT s.number, s.id, s.name, s.team, s.health_endpoint, s.format, s.schema_config,
               s.poll_interval_ms, s.timeout_ms, s.header_names, s.sealed_headers,
               s.is_active, st.status, st.stale_since, st.breaker_state
             FROM services AS s JOIN service_states AS st ON st.service_no = s.number
             WHERE s.id = $1 AND s.removed_at IS NULL",
            $lock
        )
    };
}
// Both rows: a poll that is recorded meanwhile waits, and then sees what was edited.
const LOCK: Sql = Sql::pair("monitor.lock_service", found!(""), found!(" FOR NO KEY UPDATE"));

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
pub(in crate::services) struct Stored {
    pub(in crate::services) number: i64,
    pub(in crate::services) id: Id,
    pub(in crate::services) name: String,
    /// Its definition without its headers.
    pub(in crate::services) draft: Draft,
    pub(in crate::services) sealed: Sealed,
    pub(in crate::services) status: ServiceStatus,
    pub(in crate::services) stale_since: Option<Timestamp>,
    pub(in crate::services) is_circuit_closed: bool,
}

/// The service of this id, unless it was removed.
pub(in crate::services) async fn lock(tx: &mut Tx, id: Id) -> Result<Option<Stored>, StoreError> {
    let row = tx.fetch_optional(&LOCK, values![id]).await?;
    row.as_ref().map(stored).transpose()
}

fn stored(row: &Row) -> Result<Stored, StoreError> {
    let name: String = row.get("name")?;
    let status: String = row.get("status")?;
    let config: Option<String> = row.get("schema_config")?;
    Ok(Stored {
        number: row.get("number")?,
        id: row.get("id")?,
        draft: Draft {
            name: name.clone(),
            team: row.get("team")?,
            health_endpoint: row.get("health_endpoint")?,
            format: row.get("format")?,
            schema_config: config.and_then(|text| serde_json::from_str(&text).ok()),
            poll_interval_ms: row.get("poll_interval_ms")?,
            timeout_ms: row.get("timeout_ms")?,
            headers: Vec::new(),
            is_active: row.get("is_active")?,
        },
        name,
        sealed: Sealed { names: row.get("header_names")?, values: row.get("sealed_headers")? },
        status: ServiceStatus::from_name(&status).unwrap_or(ServiceStatus::Unknown),
        stale_since: row.get("stale_since")?,
        is_circuit_closed: row.get::<String>("breaker_state")? == "closed",
    })
}
