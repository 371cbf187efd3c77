//! Bells that are rung without a change: they only show that somebody hears.

use mainstay_store::{Db, Sql, StoreError, values};

/// By way of the pool, as any writer: a listener that was led to another database is as deaf.
const RING: Sql = Sql::same("events.ring_mark", "SELECT pg_notify($1, $2)");

pub(crate) async fn ring(db: &Db, channel: &str, payload: &str) -> Result<(), StoreError> {
    db.write(async |tx| tx.execute(&RING, values![channel, payload]).await.map(drop)).await
}
