//! Reads what the engine polls by.

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Db, Row, Sql, StoreError, values};

const WATCHED: Sql = Sql::same(
    "monitor.watched",
    "SELECT s.number, s.id, s.name, s.health_endpoint, s.format, s.schema_config,
       s.poll_interval_ms, s.timeout_ms, s.sealed_headers, s.is_active, s.removed_at, s.revision,
       s.generation, st.poll_seq, st.last_polled_at, st.breaker_state, st.breaker_failures,
       st.breaker_generation, st.breaker_retry_at, st.backoff_attempt, st.next_poll_at
     FROM services AS s JOIN service_states AS st ON st.service_no = s.number
     WHERE s.revision > $1 ORDER BY s.revision LIMIT $2",
);

/// A service and what polling knows of it.
#[derive(Debug)]
pub(in crate::services) struct WatchedRow {
    pub(in crate::services) number: i64,
    pub(in crate::services) id: Id,
    pub(in crate::services) name: String,
    pub(in crate::services) url: String,
    pub(in crate::services) format: String,
    pub(in crate::services) schema_config: Option<String>,
    pub(in crate::services) interval_ms: i64,
    pub(in crate::services) timeout_ms: i64,
    pub(in crate::services) sealed_headers: Option<String>,
    /// Whether it is to be polled.
    pub(in crate::services) is_watched: bool,
    pub(in crate::services) revision: i64,
    pub(in crate::services) generation: i64,
    pub(in crate::services) poll_seq: i64,
    pub(in crate::services) last_polled_at: Option<Timestamp>,
    pub(in crate::services) breaker_state: String,
    pub(in crate::services) breaker_failures: i64,
    pub(in crate::services) breaker_generation: i64,
    pub(in crate::services) breaker_retry_at: Option<Timestamp>,
    pub(in crate::services) backoff_attempt: i64,
    pub(in crate::services) next_poll_at: Option<Timestamp>,
}

/// Up to `limit` services that were edited after `revision`, in the order of their edits.
pub(in crate::services) async fn watched(
    db: &Db,
    revision: i64,
    limit: i64,
) -> Result<Vec<WatchedRow>, StoreError> {
    db.fetch_all(&WATCHED, values![revision, limit]).await?.iter().map(read).collect()
}

fn read(row: &Row) -> Result<WatchedRow, StoreError> {
    let removed_at: Option<i64> = row.get("removed_at")?;
    Ok(WatchedRow {
        number: row.get("number")?,
        id: row.get("id")?,
        name: row.get("name")?,
        url: row.get("health_endpoint")?,
        format: row.get("format")?,
        schema_config: row.get("schema_config")?,
        interval_ms: row.get("poll_interval_ms")?,
        timeout_ms: row.get("timeout_ms")?,
        sealed_headers: row.get("sealed_headers")?,
        is_watched: row.get::<bool>("is_active")? && removed_at.is_none(),
        revision: row.get("revision")?,
        generation: row.get("generation")?,
        poll_seq: row.get("poll_seq")?,
        last_polled_at: row.get("last_polled_at")?,
        breaker_state: row.get("breaker_state")?,
        breaker_failures: row.get("breaker_failures")?,
        breaker_generation: row.get("breaker_generation")?,
        breaker_retry_at: row.get("breaker_retry_at")?,
        backoff_attempt: row.get("backoff_attempt")?,
        next_poll_at: row.get("next_poll_at")?,
    })
}
