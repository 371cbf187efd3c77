//! All SQL of services: each edit in one transaction, under one number.

mod states;
mod stored;
mod watched;
mod write;

use mainstay_store::{Sql, StoreError, Tx, values};

pub(super) use states::{forget_status, reschedule, reset_guards};
pub(crate) use stored::Stored;
pub(super) use stored::{Sealed, list, lock, lock_all};
pub(super) use watched::{WatchedRow, watched};
pub(super) use write::{Kept, count, insert, remove, unlink, update};

const NEXT_REVISIONS: Sql = Sql::same(
    "monitor.next_revisions",
    "UPDATE monitor_revision SET last = last + $1 WHERE singleton = 1 RETURNING last",
);

/// The last of the numbers of so many edits. Whoever else edits waits until these are committed, so it
/// comes before every row of a service: two who edit never wait for each other in a ring.
pub(super) async fn next_revisions(tx: &mut Tx, count: i64) -> Result<i64, StoreError> {
    tx.fetch_one(&NEXT_REVISIONS, values![count]).await?.get("last")
}
