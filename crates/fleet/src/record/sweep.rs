//! Whom the health loop asks, and which operations nobody ends.

use std::time::Duration;

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Db, Sql, Tx, values};

use crate::error::FleetError;

macro_rules! claim {
    ($lock:literal) => {
        concat!(
            "UPDATE workers SET probe_at = $1 + $2 WHERE id IN (
               SELECT id FROM workers WHERE status = 'ready' AND operation IS NULL AND probe_at <= $1
               ORDER BY probe_at LIMIT $3 ",
            $lock,
            ") RETURNING id"
        )
    };
}

/// A claim is a due time that has moved: whoever moved it asks, and nobody else until it has come.
const CLAIM: Sql = Sql::pair("fleet.claim_workers", claim!(""), claim!("FOR UPDATE SKIP LOCKED"));
const OVERDUE_WORKERS: Sql = Sql::same(
    "fleet.overdue_workers",
    "SELECT id AS worker, operation_id FROM workers
     WHERE operation IS NOT NULL AND operation_deadline < $1 ORDER BY operation_deadline LIMIT $2",
);
const OVERDUE_NETS: Sql = Sql::same(
    "fleet.overdue_nets",
    "SELECT worker_id AS worker, operation_id FROM nets
     WHERE operation IS NOT NULL AND operation_deadline < $1 ORDER BY operation_deadline LIMIT $2",
);

/// An operation whose time is up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Overdue {
    pub(crate) worker: Id,
    pub(crate) operation: Id,
}

/// Claims ready workers that are due, and puts them off.
pub(crate) async fn claim(
    tx: &mut Tx,
    again_in: Duration,
    most: i64,
) -> Result<Vec<Id>, FleetError> {
    let now = tx.now().await?;
    let again_in = i64::try_from(again_in.as_millis()).unwrap_or(i64::MAX);
    let rows = tx.fetch_all(&CLAIM, values![now, again_in, most]).await?;
    Ok(rows.iter().map(|row| row.get("id")).collect::<Result<_, _>>()?)
}

/// Operations whose deadline was before `before`.
pub(crate) async fn overdue(
    db: &Db,
    before: Timestamp,
    most: i64,
) -> Result<Vec<Overdue>, FleetError> {
    let mut found = Vec::new();
    for sql in [&OVERDUE_WORKERS, &OVERDUE_NETS] {
        for row in db.fetch_all(sql, values![before, most]).await? {
            found.push(Overdue { worker: row.get("worker")?, operation: row.get("operation_id")? });
        }
    }
    Ok(found)
}
