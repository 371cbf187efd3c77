//! Suggestions that somebody dismissed.

use std::sync::Arc;

use mainstay_base::{Id, Timestamp};
use mainstay_graph::suggest::Dismissed;
use mainstay_store::{Db, Sql, StoreError, Tx, values};

/// The most that are kept: the oldest make room.
const MOST_KEPT: i64 = 10_000;

const READ: Sql = Sql::same(
    "monitor.dismissals",
    "SELECT canonical_key, service_no FROM graph_dismissals
     ORDER BY dismissed_at DESC, canonical_key, service_no LIMIT $1",
);
const SERVICE: Sql = Sql::same(
    "monitor.dismissed_service",
    "SELECT number, name FROM services WHERE id = $1 AND removed_at IS NULL",
);
const INSERT: Sql = Sql::same(
    "monitor.insert_dismissal",
    "INSERT INTO graph_dismissals (canonical_key, service_no, dismissed_at) VALUES ($1, $2, $3)
     ON CONFLICT (canonical_key, service_no) DO NOTHING",
);
const MAKE_ROOM: Sql = Sql::same(
    "monitor.forget_dismissals",
    "DELETE FROM graph_dismissals WHERE dismissed_at < (
       SELECT dismissed_at FROM graph_dismissals
       ORDER BY dismissed_at DESC LIMIT 1 OFFSET $1)",
);

/// Everything that was dismissed.
pub(in crate::graph) async fn read(db: &Db) -> Result<Dismissed, StoreError> {
    let rows = db.fetch_all(&READ, values![MOST_KEPT]).await?;
    rows.iter()
        .map(|row| Ok((Arc::from(row.get::<String>("canonical_key")?), row.get("service_no")?)))
        .collect()
}

/// The number and the name of a service.
pub(in crate::graph) async fn service(
    tx: &mut Tx,
    id: Id,
) -> Result<Option<(i64, String)>, StoreError> {
    let row = tx.fetch_optional(&SERVICE, values![id]).await?;
    row.map(|row| Ok((row.get("number")?, row.get("name")?))).transpose()
}

/// Notes that a thing is not a service.
pub(in crate::graph) async fn insert(
    tx: &mut Tx,
    key: &str,
    service: i64,
    now: Timestamp,
) -> Result<(), StoreError> {
    tx.execute(&INSERT, values![key, service, now]).await?;
    tx.execute(&MAKE_ROOM, values![MOST_KEPT]).await.map(drop)
}
