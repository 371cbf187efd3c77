//! All SQL of services: each edit in one transaction, under one number.

mod states;
mod stored;
mod watched;
mod write;

use mainstay_store::{Sql, StoreError, Tx};

pub(super) use states::{forget_status, reschedule, reset_guards};
pub(super) use stored::{Sealed, Stored, lock};
pub(super) use watched::{WatchedRow, watched};
pub(super) use write::{Kept, count, insert, remove, unlink, update};

const NEXT_REVISION: Sql = Sql::same(
    "monitor.next_revision",
    "UPDATE monitor_revision SET last = last + 1 WHERE singleton = 1 RETURNING last",
);

/// The number of this edit. Whoever else edits waits until this one is committed.
pub(super) async fn next_revision(tx: &mut Tx) -> Result<i64, StoreError> {
    tx.fetch_one(&NEXT_REVISION, &[]).await?.get("last")
}
