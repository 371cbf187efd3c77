//! Keyframes and their parts.

use mainstay_base::Timestamp;
use mainstay_store::{Db, Row, Snapshot, Sql, StoreError, Tx, values};

const MARK: Sql = Sql::same(
    "monitor.mark_keyframe",
    "INSERT INTO past_keyframes (marked_at, from_number, began_at) VALUES ($1, $2, $3)",
);
const BEGIN: Sql = Sql::same(
    "monitor.begin_keyframe",
    "UPDATE past_keyframes SET begun_at = $2 WHERE number = $1 AND begun_at IS NULL",
);
const PUT: Sql = Sql::same(
    "monitor.put_keyframe_part",
    "INSERT INTO past_keyframe_parts (keyframe_no, part, body) VALUES ($1, $2, $3)",
);
const END: Sql = Sql::same(
    "monitor.end_keyframe",
    "UPDATE past_keyframes SET at = $2, upto_number = $3, parts = $4
     WHERE number = $1 AND at IS NULL AND begun_at = $5",
);
const UNFINISHED: Sql = Sql::same(
    "monitor.unfinished_keyframe",
    "SELECT number, marked_at, begun_at FROM past_keyframes WHERE at IS NULL ORDER BY number LIMIT 1",
);
const NEWEST: Sql = Sql::same(
    "monitor.newest_keyframe",
    "SELECT at, upto_number FROM past_keyframes WHERE at <= $1 ORDER BY at DESC LIMIT 1",
);
pub(super) const OLDEST: Sql = Sql::same(
    "monitor.oldest_keyframe",
    "SELECT at, began_at FROM past_keyframes WHERE at IS NOT NULL ORDER BY at, number LIMIT 1",
);
pub(super) const BEFORE: Sql = Sql::same(
    "monitor.keyframe_before",
    "SELECT number, from_number, at, parts FROM past_keyframes WHERE at <= $1
     ORDER BY at DESC, number DESC LIMIT 1",
);
const AFTER: Sql = Sql::same(
    "monitor.keyframe_after",
    "SELECT upto_number FROM past_keyframes WHERE at >= $1 AND marked_at >= $1 AND at <= $2
     ORDER BY at LIMIT 1",
);
// Two that were made later are dated before it: for a day the clock has said so.
const AHEAD: Sql = Sql::same(
    "monitor.keyframe_ahead",
    "SELECT number FROM past_keyframes AS k WHERE at > $1 AND
       (SELECT count(*) FROM past_keyframes AS l WHERE l.number > k.number AND l.at <= $1) >= 2
     ORDER BY number LIMIT 1",
);
const PART: Sql = Sql::same(
    "monitor.keyframe_part",
    "SELECT part, body FROM past_keyframe_parts WHERE keyframe_no = $1 AND part > $2
     ORDER BY part LIMIT 1",
);
const TOO_OLD: Sql = Sql::same(
    "monitor.old_keyframe",
    "SELECT number FROM past_keyframes WHERE at < $1 ORDER BY at LIMIT 1",
);
const REMOVE_PARTS: Sql = Sql::same(
    "monitor.remove_keyframe_parts",
    "DELETE FROM past_keyframe_parts WHERE keyframe_no = $1 AND part IN
       (SELECT part FROM past_keyframe_parts WHERE keyframe_no = $1 ORDER BY part LIMIT $2)",
);
const REMOVE: Sql =
    Sql::same("monitor.remove_keyframe", "DELETE FROM past_keyframes WHERE number = $1");

/// Parts that one write removes at most.
const PARTS_AT_ONCE: i64 = 16;

/// A keyframe that is not whole yet.
#[derive(Debug, Clone, Copy)]
pub(in crate::past) struct Unfinished {
    pub(in crate::past) number: i64,
    pub(in crate::past) marked_at: Timestamp,
    /// When somebody began to write it.
    pub(in crate::past) begun_at: Option<Timestamp>,
}

impl Unfinished {
    /// Whether it was begun by a clock that was ahead: after `at`.
    pub(in crate::past) fn is_ahead(&self, at: Timestamp) -> bool {
        self.marked_at > at || self.begun_at.is_some_and(|begun| begun > at)
    }
}

/// Notes from which number on changes are told again over the keyframe that is to come.
pub(in crate::past) async fn mark(
    tx: &mut Tx,
    now: Timestamp,
    from_number: i64,
    began_at: Option<Timestamp>,
) -> Result<(), StoreError> {
    tx.execute(&MARK, values![now, from_number, began_at]).await.map(drop)
}

/// Whether nobody else writes it.
pub(in crate::past) async fn begin(
    tx: &mut Tx,
    number: i64,
    now: Timestamp,
) -> Result<bool, StoreError> {
    Ok(tx.execute(&BEGIN, values![number, now]).await? == 1)
}

pub(in crate::past) async fn put(
    tx: &mut Tx,
    number: i64,
    part: i64,
    body: &[u8],
) -> Result<(), StoreError> {
    tx.execute(&PUT, values![number, part, body]).await.map(drop)
}

/// A keyframe that was written, and by whom: who began it at this moment.
#[derive(Debug, Clone, Copy)]
pub(in crate::past) struct Written {
    pub(in crate::past) number: i64,
    pub(in crate::past) begun_at: Timestamp,
    pub(in crate::past) parts: usize,
}

/// It is whole: the state of `at`, in which no change above `upto` is. Tells whether it is still there:
/// somebody else may have taken it for abandoned.
pub(in crate::past) async fn end(
    tx: &mut Tx,
    written: Written,
    at: Timestamp,
    upto: i64,
) -> Result<bool, StoreError> {
    let parts = i64::try_from(written.parts).unwrap_or(i64::MAX);
    let values = values![written.number, at, upto, parts, written.begun_at];
    Ok(tx.execute(&END, values).await? == 1)
}

pub(in crate::past) async fn unfinished(db: &Db) -> Result<Option<Unfinished>, StoreError> {
    let read = |row: Row| {
        let (number, marked_at) = (row.get("number")?, row.get("marked_at")?);
        Ok(Unfinished { number, marked_at, begun_at: row.get("begun_at")? })
    };
    db.fetch_optional(&UNFINISHED, &[]).await?.map(read).transpose()
}

/// When the newest is from that is not after `at`, and up to which number.
pub(in crate::past) async fn newest(
    snapshot: &mut Snapshot,
    at: Timestamp,
) -> Result<Option<(Timestamp, i64)>, StoreError> {
    let row = snapshot.fetch_optional(&NEWEST, values![at]).await?;
    row.map(|row| Ok((row.get("at")?, row.get("upto_number")?))).transpose()
}

/// When the oldest is from, and when changes began if none was made before it.
pub(in crate::past) async fn oldest(
    snapshot: &mut Snapshot,
) -> Result<Option<(Timestamp, Option<Timestamp>)>, StoreError> {
    let row = snapshot.fetch_optional(&OLDEST, &[]).await?;
    row.map(|row| Ok((row.get("at")?, row.get("began_at")?))).transpose()
}

/// A keyframe.
#[derive(Debug, Clone, Copy)]
pub(in crate::past) struct Frame {
    pub(in crate::past) number: i64,
    pub(in crate::past) at: Timestamp,
    /// From this number on changes are told again.
    pub(in crate::past) from_number: i64,
    pub(in crate::past) parts: i64,
}

/// The newest that is not after `at`.
pub(in crate::past) async fn before(
    snapshot: &mut Snapshot,
    at: Timestamp,
) -> Result<Option<Frame>, StoreError> {
    let row = snapshot.fetch_optional(&BEFORE, values![at]).await?;
    let read = |row: Row| {
        let (number, from_number) = (row.get("number")?, row.get("from_number")?);
        Ok(Frame { number, at: row.get("at")?, from_number, parts: row.get("parts")? })
    };
    row.map(read).transpose()
}

/// The highest number that the first keyframe knew of which was marked after `at`, and not after
/// `latest`.
pub(in crate::past) async fn upto(
    snapshot: &mut Snapshot,
    at: Timestamp,
    latest: Timestamp,
) -> Result<Option<i64>, StoreError> {
    let row = snapshot.fetch_optional(&AFTER, values![at, latest]).await?;
    row.map(|row| row.get("upto_number")).transpose()
}

/// The first part after `after`, with its number.
pub(in crate::past) async fn part(
    snapshot: &mut Snapshot,
    number: i64,
    after: i64,
) -> Result<Option<(i64, Vec<u8>)>, StoreError> {
    let row = snapshot.fetch_optional(&PART, values![number, after]).await?;
    row.map(|row| Ok((row.get("part")?, row.get("body")?))).transpose()
}

/// The oldest one that is from before `at`.
pub(in crate::past) async fn too_old(db: &Db, at: i64) -> Result<Option<i64>, StoreError> {
    db.fetch_optional(&TOO_OLD, values![at]).await?.map(|row| row.get("number")).transpose()
}

/// One that is dated after `at` although later ones are not.
pub(in crate::past) async fn ahead(db: &Db, at: Timestamp) -> Result<Option<i64>, StoreError> {
    db.fetch_optional(&AHEAD, values![at]).await?.map(|row| row.get("number")).transpose()
}

/// Removes some of its parts, or itself when none is left, and tells whether it is gone.
pub(in crate::past) async fn remove(db: &Db, number: i64) -> Result<bool, StoreError> {
    db.write(async |tx| {
        if tx.execute(&REMOVE_PARTS, values![number, PARTS_AT_ONCE]).await? > 0 {
            return Ok(false);
        }
        tx.execute(&REMOVE, values![number]).await.map(|_| true)
    })
    .await
}
