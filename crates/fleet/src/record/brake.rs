//! That most workers fail at once and nothing is done about it: for every instance to read.

use mainstay_base::Timestamp;
use mainstay_store::{Db, Row, Sql, Tx, values};

use crate::error::FleetError;
use crate::mass::MassFailure;

const FIND: Sql = Sql::same(
    "fleet.find_brake",
    "SELECT asked, failed, since FROM fleet_brake WHERE seen_at >= $1",
);
const IS_HELD: Sql = Sql::same("fleet.is_brake_held", "SELECT seen_at FROM fleet_brake");
const HOLD: Sql = Sql::same(
    "fleet.hold_brake",
    "INSERT INTO fleet_brake (slot, asked, failed, since, seen_at) VALUES (1, $1, $2, $3, $3)
     ON CONFLICT (slot) DO UPDATE SET asked = $1, failed = $2, seen_at = $3,
       since = CASE WHEN $4 = 1 THEN $3 ELSE fleet_brake.since END",
);
const LET_GO: Sql = Sql::same("fleet.let_brake_go", "DELETE FROM fleet_brake WHERE seen_at <= $1");

/// What the last round found, unless that was before `since`: then whoever pulled the brake is no more.
pub(crate) async fn find(db: &Db, since: Timestamp) -> Result<Option<MassFailure>, FleetError> {
    db.fetch_optional(&FIND, values![since]).await?.as_ref().map(read).transpose()
}

/// When a round last found it pulled, where it is.
pub(crate) async fn held_at(db: &Db) -> Result<Option<Timestamp>, FleetError> {
    let row = db.fetch_optional(&IS_HELD, &[]).await?;
    Ok(row.map(|row| row.get("seen_at")).transpose()?)
}

/// Notes what a round has found; `is_new` where the brake was not pulled before.
pub(crate) async fn hold(
    tx: &mut Tx,
    (asked, failed): (usize, usize),
    is_new: bool,
) -> Result<(), FleetError> {
    let now = tx.now().await?;
    let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    let values = values![count(asked), count(failed), now, i64::from(is_new)];
    tx.execute(&HOLD, values).await?;
    Ok(())
}

/// Lets the brake go that nobody has found pulled after `until`; tells whether it was.
pub(crate) async fn let_go(tx: &mut Tx, until: Timestamp) -> Result<bool, FleetError> {
    Ok(tx.execute(&LET_GO, values![until]).await? == 1)
}

fn read(row: &Row) -> Result<MassFailure, FleetError> {
    let count = |name: &str| -> Result<u64, FleetError> {
        Ok(u64::try_from(row.get::<i64>(name)?).unwrap_or_default())
    };
    Ok(MassFailure { asked: count("asked")?, failed: count("failed")?, since: row.get("since")? })
}
