//! The rows of shards: who owns each, under which generation.

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Db, Row, Snapshot, Sql, StoreError, Tx, values};

use crate::shards::model::{Lease, LeaseRow};
use crate::shards::shard::{Shard, ShardSet};

macro_rules! all {
    () => {
        "SELECT shard, owner, generation, changed_at FROM poll_shards ORDER BY shard"
    };
}
const ALL: Sql = Sql::same("monitor.shards", all!());
const OWNER: Sql = Sql::same(
    "monitor.shard_owner",
    "SELECT i.id, i.name FROM poll_shards AS p JOIN instances AS i ON i.id = p.owner
     WHERE p.shard = $1 AND i.gone_at IS NULL",
);
// Whoever records results of a shard holds its row until that is committed (see `record::fence`), and
// whoever else wants the shard leaves the row alone meanwhile. The owners are looked at by the next
// statement: it sees all that was committed before the rows were held.
const HOLD: Sql = Sql::pair(
    "monitor.hold_shards",
    "SELECT shard FROM poll_shards WHERE shard IN (SELECT value FROM json_each($1)) ORDER BY shard",
    "SELECT shard FROM poll_shards WHERE shard = ANY ($1) ORDER BY shard FOR UPDATE SKIP LOCKED",
);
macro_rules! take {
    ($list:literal) => {
        concat!(
            "UPDATE poll_shards SET owner = $1, generation = generation + 1, changed_at = $3
             WHERE shard ",
            $list,
            " AND (owner IS NULL OR NOT EXISTS (
                 SELECT 1 FROM instances AS i WHERE i.id = poll_shards.owner AND i.gone_at IS NULL))
             RETURNING shard, owner, generation, changed_at"
        )
    };
}
const TAKE: Sql = Sql::pair(
    "monitor.take_shards",
    take!("IN (SELECT value FROM json_each($2))"),
    take!("= ANY ($2)"),
);
macro_rules! release {
    ($list:literal) => {
        concat!(
            "UPDATE poll_shards SET owner = NULL, generation = generation + 1, changed_at = $3
             WHERE owner = $1 AND shard ",
            $list,
            " RETURNING shard, owner, generation, changed_at"
        )
    };
}
const RELEASE: Sql = Sql::pair(
    "monitor.release_shards",
    release!("IN (SELECT value FROM json_each($2))"),
    release!("= ANY ($2)"),
);

/// Who owns a shard and is not gone.
pub(crate) async fn owner(db: &Db, shard: Shard) -> Result<Option<(Id, String)>, StoreError> {
    let row = db.fetch_optional(&OWNER, values![shard.number()]).await?;
    row.map(|row| Ok((row.get("id")?, row.get("name")?))).transpose()
}

/// Every shard, by number.
pub(crate) async fn all(snapshot: &mut Snapshot) -> Result<Vec<LeaseRow>, StoreError> {
    read_all(&snapshot.fetch_all(&ALL, &[]).await?)
}

/// Takes those of these shards that nobody owns who counts as alive; some may be had by another who
/// was faster, or be held for a moment by a recording that still runs.
pub(crate) async fn take(
    tx: &mut Tx,
    me: Id,
    shards: ShardSet,
    now: Timestamp,
) -> Result<Vec<LeaseRow>, StoreError> {
    let held = hold(tx, shards).await?;
    read_all(&tx.fetch_all(&TAKE, values![me, &held, now]).await?)
}

/// Gives those of these shards back that no recording holds, and tells which. What was begun under their
/// generation is late from now on.
pub(crate) async fn release(
    tx: &mut Tx,
    me: Id,
    shards: ShardSet,
    now: Timestamp,
) -> Result<ShardSet, StoreError> {
    let held = hold(tx, shards).await?;
    let released = read_all(&tx.fetch_all(&RELEASE, values![me, &held, now]).await?)?;
    Ok(released.iter().map(|row| row.lease.shard).collect())
}

/// Holds the rows of those of these shards that nobody holds, in the order that everybody keeps.
async fn hold(tx: &mut Tx, shards: ShardSet) -> Result<Vec<i64>, StoreError> {
    let held = tx.fetch_all(&HOLD, values![&shards.numbers()]).await?;
    held.iter().map(|row| row.get("shard")).collect()
}

fn read_all(rows: &[Row]) -> Result<Vec<LeaseRow>, StoreError> {
    let mut leases = Vec::with_capacity(rows.len());
    for row in rows {
        // A row of another division of all hosts says nothing here.
        let Some(shard) = Shard::new(row.get("shard")?) else { continue };
        leases.push(LeaseRow {
            lease: Lease { shard, generation: row.get("generation")? },
            owner: row.get("owner")?,
            changed_at: row.get("changed_at")?,
        });
    }
    Ok(leases)
}
