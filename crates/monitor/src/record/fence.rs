//! The fence in front of every recording: only whoever owns a shard now writes what was polled in it.
//!
//! The generations are read and their rows held `FOR SHARE` in the transaction that records. So a
//! take-over comes either before, and then the new generation is read here and the result is late; or
//! it finds the rows held, leaves them alone, and comes after the commit: what was recorded is then seen
//! by whoever polls next. `FOR KEY SHARE` would not do, since a take-over changes no key. Others who
//! record in the same shard hold the same rows beside each other, and renewing touches other rows.
//!
//! Rows are held in the order of their numbers, and before any row of a service: nobody who holds rows
//! of services ever waits for these, so that no two wait for each other in a ring.

use std::collections::HashMap;

use mainstay_store::{Sql, StoreError, Tx, values};

use crate::shards::{Lease, Shard, ShardSet, short_patience};

// One statement for a batch: it also shortens PostgreSQL's patience with an instance that stands still
// while it holds the rows. SQLite has one instance, whose results carry no lease.
const GENERATIONS: Sql = Sql::pair(
    "monitor.fence",
    "SELECT shard, generation FROM poll_shards WHERE shard IN (SELECT value FROM json_each($1))
     ORDER BY shard",
    concat!(
        "SELECT shard, generation, ",
        short_patience!(),
        " AS patience FROM poll_shards WHERE shard = ANY ($1) ORDER BY shard FOR SHARE"
    ),
);

/// The generations that shards have until the transaction ends.
#[derive(Debug, Default)]
pub(crate) struct Fence {
    generations: HashMap<Shard, i64>,
}

impl Fence {
    /// Whether what was begun under this lease may still be recorded.
    pub(crate) fn admits(&self, lease: Option<Lease>) -> bool {
        lease.is_none_or(|lease| self.generations.get(&lease.shard) == Some(&lease.generation))
    }
}

/// Holds the shards of these leases until the transaction ends.
pub(crate) async fn raise(
    tx: &mut Tx,
    leases: impl Iterator<Item = Option<Lease>>,
) -> Result<Fence, StoreError> {
    let shards: ShardSet = leases.flatten().map(|lease| lease.shard).collect();
    let mut fence = Fence::default();
    if shards.is_empty() {
        return Ok(fence);
    }
    for row in tx.fetch_all(&GENERATIONS, values![&shards.numbers()]).await? {
        if let Some(shard) = Shard::new(row.get("shard")?) {
            fence.generations.insert(shard, row.get("generation")?);
        }
    }
    Ok(fence)
}
