//! Orders of machines whose end nobody knows.

use std::time::Duration;

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Db, Sql, Tx, values};

use super::rows;
use crate::decide::orders::OpenOrder;
use crate::error::FleetError;
use crate::model::UnknownWord;
use crate::providers::{MachineName, ProviderKind};

const KEEP: Sql = Sql::same(
    "fleet.keep_order",
    "INSERT INTO machine_orders (name, provider, worker_id, since, look_at, looks)
     VALUES ($1, $2, $3, $4, $4, 0) ON CONFLICT (name) DO NOTHING",
);
const GIVE: Sql = Sql::same(
    "fleet.give_order",
    "UPDATE workers SET ordered_by = $2
     WHERE id = $1 AND operation_id = $2 AND (ordered_by IS NULL OR ordered_by <> $2)",
);
const HAS: Sql = Sql::same(
    "fleet.has_orders",
    "SELECT 1 AS one FROM machine_orders WHERE worker_id = $1 LIMIT 1",
);
const SETTLE: Sql = Sql::same("fleet.settle_order", "DELETE FROM machine_orders WHERE name = $1");
const MISSED: Sql =
    Sql::same("fleet.miss_order", "UPDATE machine_orders SET looks = looks + 1 WHERE name = $1");

macro_rules! claim {
    ($start:literal, $end:literal) => {
        concat!(
            "UPDATE machine_orders SET look_at = $1 + $2 WHERE name ",
            $start,
            "SELECT name FROM machine_orders WHERE look_at <= $1 ORDER BY look_at LIMIT $3 ",
            $end,
            " RETURNING name, provider, since, looks"
        )
    };
}
/// As with workers, a claim is a time that has moved.
pub(super) const CLAIM: Sql = Sql::pair(
    "fleet.claim_orders",
    claim!("IN (", ")"),
    claim!("= ANY (ARRAY(", "FOR UPDATE SKIP LOCKED))"),
);

/// Notes that an operation gives its order now; tells whether it is the first time that it does.
pub(crate) async fn give(tx: &mut Tx, worker: Id, operation: Id) -> Result<bool, FleetError> {
    Ok(tx.execute(&GIVE, values![worker, operation]).await? == 1)
}

/// Keeps an order in mind whose machine nobody has seen.
pub(crate) async fn keep(
    tx: &mut Tx,
    (worker, provider): (Id, ProviderKind),
    name: &MachineName,
) -> Result<(), FleetError> {
    let now = tx.now().await?;
    tx.execute(&KEEP, values![name.as_str(), provider.name(), worker, now]).await?;
    Ok(())
}

/// Whether some order of a worker is still looked for.
pub(crate) async fn has(db: &Db, worker: Id) -> Result<bool, FleetError> {
    Ok(db.fetch_optional(&HAS, values![worker]).await?.is_some())
}

/// Forgets orders: their machines are ended, or were never made.
pub(crate) async fn settle(tx: &mut Tx, names: &[MachineName]) -> Result<(), FleetError> {
    for name in names {
        tx.execute(&SETTLE, values![name.as_str()]).await?;
    }
    Ok(())
}

/// Counts that a list was read in which these were not.
pub(crate) async fn missed(tx: &mut Tx, names: &[MachineName]) -> Result<(), FleetError> {
    for name in names {
        tx.execute(&MISSED, values![name.as_str()]).await?;
    }
    Ok(())
}

/// The orders that are to be looked for now; nobody else does until `again_in` has passed.
pub(crate) async fn claim(
    tx: &mut Tx,
    again_in: Duration,
    most: i64,
) -> Result<Vec<OpenOrder>, FleetError> {
    let now: Timestamp = tx.now().await?;
    let again_in = i64::try_from(again_in.as_millis()).unwrap_or(i64::MAX);
    let rows = tx.fetch_all(&CLAIM, values![now, again_in, most]).await?;
    let read = |row: &mainstay_store::Row| {
        let name = MachineName::parse(&row.get::<String>("name")?);
        Ok::<_, FleetError>(OpenOrder {
            name: name.map_err(|_| UnknownWord("machine"))?,
            provider: rows::provider(&row.get::<String>("provider")?)?,
            since: row.get("since")?,
            looks: row.get("looks")?,
        })
    };
    Ok(rows.iter().filter_map(|row| rows::readable("order", row, read(row))).collect())
}
