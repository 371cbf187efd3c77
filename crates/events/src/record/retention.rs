//! What is no longer kept. The floor of a stream moves first, so that whoever stands below it is told
//! so instead of missing events; then the events go, in portions.

use mainstay_base::Timestamp;
use mainstay_store::{Db, Row, Sql, StoreError, values};

/// Events that one transaction removes.
pub(crate) const PORTION: i64 = 1_000;

/// Streams that are read at once.
pub(crate) const STREAMS_TOGETHER: u32 = 100;

/// A stream with events that are too old, too many, or below its floor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Due {
    pub(crate) number: i64,
    pub(crate) last_seq: i64,
    pub(crate) floor_seq: i64,
}

const DUE: Sql = Sql::same(
    "events.due",
    "SELECT number, last_seq, floor_seq FROM event_streams
     WHERE number > $1 AND (
       last_seq - floor_seq > $2
       OR (SELECT at FROM events WHERE stream = number AND seq > floor_seq ORDER BY seq LIMIT 1) < $3
       OR (SELECT min(seq) FROM events WHERE stream = number) <= floor_seq
     ) ORDER BY number LIMIT $4",
);

const OLD: Sql = Sql::same(
    "events.old",
    "SELECT max(seq) AS seq FROM (
       SELECT seq, at FROM events WHERE stream = $1 AND seq > $2 ORDER BY seq LIMIT $3
     ) AS oldest WHERE at < $4",
);

const RAISE_FLOOR: Sql = Sql::same(
    "events.raise_floor",
    "UPDATE event_streams SET floor_seq = $2 WHERE number = $1 AND floor_seq < $2",
);

const REMOVE: Sql = Sql::same(
    "events.remove",
    "DELETE FROM events WHERE stream = $1 AND seq IN (
       SELECT seq FROM events WHERE stream = $1 AND seq <= $2 ORDER BY seq LIMIT $3
     )",
);

/// The next streams behind `after` with something to remove.
pub(crate) async fn due(
    db: &Db,
    after: i64,
    kept_count: i64,
    kept_since: Timestamp,
) -> Result<Vec<Due>, StoreError> {
    let values = values![after, kept_count, kept_since, STREAMS_TOGETHER];
    let read = |row: &Row| {
        let (number, last_seq) = (row.get("number")?, row.get("last_seq")?);
        Ok(Due { number, last_seq, floor_seq: row.get("floor_seq")? })
    };
    db.fetch_all(&DUE, values).await?.iter().map(read).collect()
}

/// The newest event that is too old, among a portion of the oldest.
pub(crate) async fn newest_old(
    db: &Db,
    due: Due,
    kept_since: Timestamp,
) -> Result<Option<i64>, StoreError> {
    let values = values![due.number, due.floor_seq, PORTION, kept_since];
    db.fetch_one(&OLD, values).await?.get("seq")
}

/// Says that events up to `floor` are gone, before they are.
pub(crate) async fn raise_floor(db: &Db, number: i64, floor: i64) -> Result<(), StoreError> {
    db.write(async |tx| tx.execute(&RAISE_FLOOR, values![number, floor]).await.map(drop)).await
}

/// Removes a portion of what lies at or below `floor`.
pub(crate) async fn remove(db: &Db, number: i64, floor: i64) -> Result<u64, StoreError> {
    db.write(async |tx| tx.execute(&REMOVE, values![number, floor, PORTION]).await).await
}
