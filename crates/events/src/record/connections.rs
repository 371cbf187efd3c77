//! Live connections, shared by all instances. Batches come as JSON, so that one statement serves many.
//!
//! The table is empty at one moment and holds thousands at the next, so that what SQLite once counted
//! there says nothing: its statements name the index that they need.

use std::time::Duration;

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Db, Dialect, Row, Sql, StoreError, Tx, values};
use serde::Serialize;

/// Rows that one statement of the clean-up removes.
const PORTION: i64 = 1_000;

/// An instance that was not seen for so long is dead.
const DEAD_AFTER: Duration = Duration::from_secs(60);

/// How long a superseded connection is remembered.
const SUPERSEDED_KEPT: Duration = Duration::from_hours(24);

/// Superseded connections of one owner that are remembered.
const REMEMBERED: i64 = 64;

/// A connection that wants in: owner, id, how many of the owner may live.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Entry(pub(crate) String, pub(crate) String, pub(crate) u32);

/// A row that was made or ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) owner: String,
    pub(crate) id: String,
    pub(crate) number: i64,
}

/// One owner at a time, on whatever instance, and the owners in one order. Only for PostgreSQL.
const LOCK_OWNERS: Sql = Sql::same(
    "connections.lock",
    "SELECT pg_advisory_xact_lock(hash) FROM (
       SELECT DISTINCT hashtextextended(one->>0, 0) AS hash
       FROM json_array_elements($1::json) AS one ORDER BY hash
     ) AS owners",
);

const SUPERSEDED: Sql = Sql::pair(
    "connections.superseded",
    "SELECT owner, id, number FROM event_connections INDEXED BY event_connections_by_owner
     WHERE superseded_at IS NOT NULL
     AND (owner, id) IN (SELECT value->>0, value->>1 FROM json_each($1))",
    "SELECT owner, id, number FROM event_connections WHERE superseded_at IS NOT NULL
     AND (owner, id) IN (SELECT one->>0, one->>1 FROM json_array_elements($1::json) AS one)",
);

const TAKE_OVER: Sql = Sql::pair(
    "connections.take_over",
    "DELETE FROM event_connections INDEXED BY event_connections_by_owner
     WHERE (owner, id) IN (SELECT value->>0, value->>1 FROM json_each($1))
     RETURNING owner, id, number",
    "DELETE FROM event_connections
     WHERE (owner, id) IN (SELECT one->>0, one->>1 FROM json_array_elements($1::json) AS one)
     RETURNING owner, id, number",
);

const INSERT: Sql = Sql::pair(
    "connections.insert",
    "INSERT INTO event_connections (owner, id, instance)
     SELECT value->>0, value->>1, $2 FROM json_each($1) ORDER BY key
     RETURNING owner, id, number",
    "INSERT INTO event_connections (owner, id, instance)
     SELECT one->>0, one->>1, $2
     FROM json_array_elements($1::json) WITH ORDINALITY AS batch (one, place) ORDER BY place
     RETURNING owner, id, number",
);

const SUPERSEDE: Sql = Sql::pair(
    "connections.supersede",
    "UPDATE event_connections SET superseded_at = $2 WHERE number IN (
       SELECT number FROM (
         SELECT number, most,
                row_number() OVER (PARTITION BY live.owner ORDER BY number DESC) AS place
         FROM (
           SELECT value->>0 AS owner, max(value->>2) AS most FROM json_each($1) GROUP BY 1
         ) AS asked CROSS JOIN event_connections AS live INDEXED BY event_connections_by_owner
           ON live.owner = asked.owner
         WHERE superseded_at IS NULL
       ) AS ranked WHERE place > most
     ) RETURNING owner, id, number",
    "UPDATE event_connections SET superseded_at = $2 WHERE number IN (
       SELECT number FROM (
         SELECT number, most,
                row_number() OVER (PARTITION BY live.owner ORDER BY number DESC) AS place
         FROM event_connections AS live JOIN (
           SELECT one->>0 AS owner, max((one->>2)::bigint) AS most
           FROM json_array_elements($1::json) AS one GROUP BY 1
         ) AS asked ON asked.owner = live.owner
         WHERE superseded_at IS NULL
       ) AS ranked WHERE place > most
     ) RETURNING owner, id, number",
);

/// A superseded one stays, so that its client is told so when it comes back.
const LEAVE: Sql = Sql::pair(
    "connections.leave",
    "DELETE FROM event_connections
     WHERE superseded_at IS NULL AND number IN (SELECT value FROM json_each($1))",
    "DELETE FROM event_connections WHERE superseded_at IS NULL
     AND number IN (SELECT one::bigint FROM json_array_elements_text($1::json) AS one)",
);

const LOOK: Sql = Sql::pair(
    "connections.look",
    "SELECT number, superseded_at FROM event_connections
     WHERE +instance = $2 AND number IN (SELECT value FROM json_each($1))",
    "SELECT number, superseded_at FROM event_connections WHERE instance = $2
     AND number IN (SELECT one::bigint FROM json_array_elements_text($1::json) AS one)",
);

const HELD: Sql = Sql::same(
    "connections.held",
    "SELECT number FROM event_connections WHERE instance = $1 AND superseded_at IS NULL",
);

const BEAT: Sql = Sql::same(
    "connections.beat",
    "INSERT INTO event_instances (id, seen_at) VALUES ($1, $2)
     ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at",
);

/// One that never held a connection stays unknown.
const BEAT_ON: Sql =
    Sql::same("connections.beat_on", "UPDATE event_instances SET seen_at = $2 WHERE id = $1");

const REMOVE_INSTANCES: Sql =
    Sql::same("connections.remove_instances", "DELETE FROM event_instances WHERE seen_at < $1");

const REMOVE_DEAD: Sql = Sql::same(
    "connections.remove_dead",
    "DELETE FROM event_connections WHERE number IN (
       SELECT number FROM event_connections
       WHERE superseded_at IS NULL AND instance NOT IN (SELECT id FROM event_instances) LIMIT $1
     )",
);

const REMOVE_OLD: Sql = Sql::same(
    "connections.remove_old",
    "DELETE FROM event_connections WHERE number IN (
       SELECT number FROM event_connections WHERE superseded_at < $1 LIMIT $2
     )",
);

const REMOVE_EXCESS: Sql = Sql::same(
    "connections.remove_excess",
    "DELETE FROM event_connections WHERE number IN (
       SELECT number FROM (
         SELECT number, row_number() OVER (PARTITION BY owner ORDER BY number DESC) AS place
         FROM event_connections WHERE superseded_at IS NOT NULL
       ) AS ranked WHERE place > $1 LIMIT $2
     )",
);

/// Keeps other instances from changing the connections of these owners until the commit.
pub(crate) async fn lock_owners(tx: &mut Tx, batch: &str) -> Result<(), StoreError> {
    // SQLite has one writer anyhow.
    if tx.dialect() == Dialect::Postgres {
        tx.execute(&LOCK_OWNERS, values![batch]).await?;
    }
    Ok(())
}

/// Those of the batch that were superseded before.
pub(crate) async fn superseded(tx: &mut Tx, batch: &str) -> Result<Vec<Member>, StoreError> {
    members(&tx.fetch_all(&SUPERSEDED, values![batch]).await?)
}

/// Removes the rows of the batch that are there already, and gives them.
pub(crate) async fn take_over(tx: &mut Tx, batch: &str) -> Result<Vec<Member>, StoreError> {
    members(&tx.fetch_all(&TAKE_OVER, values![batch]).await?)
}

/// Makes the rows of the batch.
pub(crate) async fn insert(
    tx: &mut Tx,
    batch: &str,
    instance: Id,
) -> Result<Vec<Member>, StoreError> {
    members(&tx.fetch_all(&INSERT, values![batch, instance]).await?)
}

/// Ends the oldest of each owner in the batch that has too many, and gives them.
pub(crate) async fn supersede(
    tx: &mut Tx,
    batch: &str,
    now: Timestamp,
) -> Result<Vec<Member>, StoreError> {
    members(&tx.fetch_all(&SUPERSEDE, values![batch, now]).await?)
}

/// Frees the rows of connections that ended by themselves.
pub(crate) async fn leave(tx: &mut Tx, numbers: &[i64]) -> Result<u64, StoreError> {
    tx.execute(&LEAVE, values![&json(numbers)]).await
}

/// Which of `numbers` are still there, and whether they were superseded.
pub(crate) async fn look(
    db: &Db,
    instance: Id,
    numbers: &[i64],
) -> Result<Vec<(i64, bool)>, StoreError> {
    let rows = db.fetch_all(&LOOK, values![&json(numbers), instance]).await?;
    let read = |row: &Row| {
        let superseded: Option<i64> = row.get("superseded_at")?;
        Ok((row.get("number")?, superseded.is_some()))
    };
    rows.iter().map(read).collect()
}

/// The live connections of `instance`.
pub(crate) async fn held(db: &Db, instance: Id) -> Result<Vec<i64>, StoreError> {
    let rows = db.fetch_all(&HELD, values![instance]).await?;
    rows.iter().map(|row| row.get("number")).collect()
}

/// Shows that the instance lives.
pub(crate) async fn beat(tx: &mut Tx, instance: Id, now: Timestamp) -> Result<(), StoreError> {
    tx.execute(&BEAT, values![instance, now]).await.map(drop)
}

/// Removes a portion of what dead instances held and of what was superseded long ago. `instance`,
/// which cleans, lives, however far the clock went since it last said so.
pub(crate) async fn clean(tx: &mut Tx, instance: Id) -> Result<u64, StoreError> {
    let now = tx.now().await?;
    tx.execute(&BEAT_ON, values![instance, now]).await?;
    tx.execute(&REMOVE_INSTANCES, values![before(now, DEAD_AFTER)]).await?;
    let dead = tx.execute(&REMOVE_DEAD, values![PORTION]).await?;
    let old = tx.execute(&REMOVE_OLD, values![before(now, SUPERSEDED_KEPT), PORTION]).await?;
    let excess = tx.execute(&REMOVE_EXCESS, values![REMEMBERED, PORTION]).await?;
    Ok(dead.saturating_add(old).saturating_add(excess))
}

/// What serves every connection that enters or leaves, for the test of the plans.
#[cfg(test)]
pub(super) const SERVING: [Sql; 3] = [SUPERSEDED, TAKE_OVER, SUPERSEDE];

fn before(now: Timestamp, duration: Duration) -> i64 {
    let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
    now.as_millis().saturating_sub(millis)
}

fn members(rows: &[Row]) -> Result<Vec<Member>, StoreError> {
    let read = |row: &Row| {
        Ok(Member { owner: row.get("owner")?, id: row.get("id")?, number: row.get("number")? })
    };
    rows.iter().map(read).collect()
}

fn json(numbers: &[i64]) -> String {
    // Numbers always have a JSON form.
    serde_json::to_string(numbers).unwrap_or_default()
}
