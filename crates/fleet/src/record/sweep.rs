//! Whom the health loop asks, and which operations nobody ends.

use std::time::Duration;

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Db, Sql, Tx, values};

use crate::error::FleetError;

macro_rules! claim {
    ($start:literal, $end:literal) => {
        concat!(
            "UPDATE workers SET probe_at = $1 + $2 WHERE id ",
            $start,
            "SELECT id FROM workers WHERE status = 'ready' AND operation IS NULL AND probe_at <= $1 + $4
                 AND EXISTS (SELECT 1 FROM workers
                   WHERE status = 'ready' AND operation IS NULL AND probe_at <= $1)
               ORDER BY probe_at LIMIT $3 ",
            $end,
            " RETURNING id"
        )
    };
}

/// A claim is a due time that has moved: whoever moved it asks, and nobody else until it has come. With those
/// that are due go those that are due a little later: so all workers come together into one sweep, and
/// several instances do not each see a part of a failure of all.
pub(super) const CLAIM: Sql = Sql::pair(
    "fleet.claim_workers",
    claim!("IN (", ")"),
    // An array, so that the rest of the table is not read beside them.
    claim!("= ANY (ARRAY(", "FOR UPDATE SKIP LOCKED))"),
);
macro_rules! claim_waiting {
    ($start:literal, $end:literal) => {
        concat!(
            "UPDATE workers SET probe_at = $1 + $2 WHERE id ",
            $start,
            "SELECT id FROM workers WHERE operation IS NOT NULL AND operation_deadline >= $1
                 AND status = 'ready' AND reason IS NOT NULL AND probe_at <= $1
               ORDER BY operation_deadline LIMIT $3 ",
            $end,
            " RETURNING id"
        )
    };
}

/// Those whose operation waits for its provider, which is their reason then, are asked as well: nothing is done to
/// their machines.
pub(super) const CLAIM_WAITING: Sql = Sql::pair(
    "fleet.claim_waiting_workers",
    claim_waiting!("IN (", ")"),
    claim_waiting!("= ANY (ARRAY(", "FOR UPDATE SKIP LOCKED))"),
);
pub(super) const OVERDUE_WORKERS: Sql = Sql::same(
    "fleet.overdue_workers",
    "SELECT id AS worker, operation_id FROM workers
     WHERE operation IS NOT NULL AND operation_deadline < $1 ORDER BY operation_deadline LIMIT $2",
);
pub(super) const OVERDUE_NETS: Sql = Sql::same(
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

/// When workers are claimed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn {
    /// After so long they are due again.
    pub(crate) again_in: Duration,
    /// Where some are due, those that are due within so long go with them.
    pub(crate) early: Duration,
    /// The most at once.
    pub(crate) most: i64,
}

/// Claims ready workers that are due, and puts them off.
pub(crate) async fn claim(tx: &mut Tx, turn: Turn) -> Result<Vec<Id>, FleetError> {
    let now = tx.now().await?;
    let millis = |time: Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    let again_in = millis(turn.again_in);
    let mut rows =
        tx.fetch_all(&CLAIM, values![now, again_in, turn.most, millis(turn.early)]).await?;
    rows.extend(tx.fetch_all(&CLAIM_WAITING, values![now, again_in, turn.most]).await?);
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
