//! Jobs that come again by the clock: whoever moves `next_at` fires.

use mainstay_base::Timestamp;
use mainstay_store::{Sql, StoreError, Tx, values};

use super::Book;

const FIND: Sql = Sql::same(
    "jobs.find_schedule",
    "SELECT expression, next_at FROM job_schedules WHERE name = $1",
);
const SET: Sql = Sql::same(
    "jobs.set_schedule",
    "INSERT INTO job_schedules (name, expression, next_at) VALUES ($1, $2, $3)
     ON CONFLICT (name) DO UPDATE SET expression = excluded.expression, next_at = excluded.next_at
       WHERE job_schedules.expression <> excluded.expression",
);
const MOVE: Sql = Sql::same(
    "jobs.move_schedule",
    "UPDATE job_schedules SET next_at = $3, fired_at = $4 WHERE name = $1 AND next_at = $2",
);
const MEND: Sql = Sql::same(
    "jobs.mend_schedule",
    "UPDATE job_schedules SET next_at = $3 WHERE name = $1 AND next_at = $2",
);

/// A schedule as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) expression: String,
    pub(crate) next_at: Timestamp,
}

/// What is kept of a schedule.
pub(crate) async fn find(book: &Book, name: &str) -> Result<Option<Kept>, StoreError> {
    let row = book.db.fetch_optional(&FIND, values![name]).await?;
    row.map(|row| Ok(Kept { expression: row.get("expression")?, next_at: row.get("next_at")? }))
        .transpose()
}

/// Writes a schedule down when it is new or its expression has changed.
pub(crate) async fn set(book: &Book, name: &str, kept: &Kept) -> Result<(), StoreError> {
    let values = [name.into(), (&kept.expression).into(), kept.next_at.into()];
    book.db.write(async |tx| tx.execute(&SET, &values).await.map(drop)).await
}

/// Moves a schedule on from `from`; false when another instance has done so.
pub(crate) async fn advance(
    tx: &mut Tx,
    name: &str,
    from: Timestamp,
    to: Timestamp,
    now: Timestamp,
) -> Result<bool, StoreError> {
    Ok(tx.execute(&MOVE, values![name, from, to, now]).await? == 1)
}

/// Sets a schedule's next time, `from`, to `to` without firing it, unless another instance was first.
pub(crate) async fn mend(
    book: &Book,
    name: &str,
    from: Timestamp,
    to: Timestamp,
) -> Result<(), StoreError> {
    let values = [name.into(), from.into(), to.into()];
    book.db.write(async |tx| tx.execute(&MEND, &values).await.map(drop)).await
}
