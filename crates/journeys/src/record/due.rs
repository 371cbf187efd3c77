//! The schedule: which journeys are due, and that only one instance starts each.

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Db, Sql, Tx, values};

use super::journeys::touches;
use crate::error::JourneysError;

const DUE: Sql = Sql::same(
    "journeys.due",
    "SELECT id, name, generation, every_ms, touches, next_run_at FROM journeys
     WHERE next_run_at <= $1 AND every_ms IS NOT NULL ORDER BY next_run_at, id LIMIT $2",
);
const COUNT: Sql = Sql::same(
    "journeys.count_due",
    "SELECT count(*) AS due FROM journeys WHERE next_run_at <= $1 AND every_ms IS NOT NULL",
);
const ADVANCE: Sql = Sql::same(
    "journeys.advance",
    "UPDATE journeys SET next_run_at = $3 WHERE id = $1 AND next_run_at = $2",
);

/// A journey that is due.
#[derive(Debug)]
pub(crate) struct Due {
    pub(crate) id: Id,
    pub(crate) name: String,
    pub(crate) generation: i64,
    pub(crate) every_ms: i64,
    pub(crate) touches: Vec<String>,
    pub(crate) at: Timestamp,
}

/// The journeys that are due, the latest first.
pub(crate) async fn due(db: &Db, now: Timestamp, limit: i64) -> Result<Vec<Due>, JourneysError> {
    let rows = db.fetch_all(&DUE, values![now, limit]).await?;
    let due = rows.iter().map(|row| {
        Ok(Due {
            id: row.get("id")?,
            name: row.get("name")?,
            generation: row.get("generation")?,
            every_ms: row.get("every_ms")?,
            touches: touches(row)?,
            at: row.get("next_run_at")?,
        })
    });
    due.collect()
}

/// How many are due.
pub(crate) async fn count(db: &Db, now: Timestamp) -> Result<usize, JourneysError> {
    let count: i64 = db.fetch_one(&COUNT, values![now]).await?.get("due")?;
    Ok(usize::try_from(count).unwrap_or_default())
}

/// Moves the schedule of a journey on; tells whether nobody else has.
pub(crate) async fn advance(
    tx: &mut Tx,
    id: Id,
    from: Timestamp,
    to: Timestamp,
) -> Result<bool, JourneysError> {
    Ok(tx.execute(&ADVANCE, values![id, from, to]).await? == 1)
}
