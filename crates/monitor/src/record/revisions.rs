//! The numbers of edits, of which the row is also the door: whoever edits services, aliases or links
//! takes it before every other row, so that two who edit never wait for each other in a ring.

use mainstay_store::{Sql, StoreError, Tx, values};

const NEXT: Sql = Sql::same(
    "monitor.next_revisions",
    "UPDATE monitor_revision SET last = last + $1 WHERE singleton = 1 RETURNING last",
);

/// The last of the numbers of so many edits. Whoever else edits waits until these are committed.
pub(crate) async fn next(tx: &mut Tx, count: i64) -> Result<i64, StoreError> {
    tx.fetch_one(&NEXT, values![count]).await?.get("last")
}

/// Waits until nobody else edits, and lets nobody begin until the transaction ends.
pub(crate) async fn hold(tx: &mut Tx) -> Result<(), StoreError> {
    next(tx, 0).await.map(drop)
}
