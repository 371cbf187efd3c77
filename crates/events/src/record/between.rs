//! Events of a span of time. They are numbered in the order of their commits, which is that of time but
//! for clocks of several instances, so a place in time is found by halving.

use std::time::Duration;

use mainstay_base::Timestamp;
use mainstay_store::{Db, Row, Sql, StoreError, values};

use crate::stream::Stream;

/// How far the clocks of instances may be apart.
const SKEW: Duration = Duration::from_mins(1);
/// Events that the first statement looks through, and the most that a later one does: a busy span takes
/// several, each twice as far as the one before, and none of them keeps a connection for long.
const FIRST_SCANNED: i64 = 1_000;
const MOST_SCANNED: i64 = 64_000;
/// Halvings: more than a number has digits.
const MOST_HALVINGS: usize = 64;

const ENDS: Sql =
    Sql::same("events.ends", "SELECT last_seq, floor_seq FROM event_streams WHERE name = $1");
const TIME_OF: Sql = Sql::same(
    "events.time_of",
    "SELECT at FROM events WHERE stream = (SELECT number FROM event_streams WHERE name = $1)
       AND seq >= $2 ORDER BY seq LIMIT 1",
);
const PICK: Sql = Sql::pair(
    "events.between",
    "SELECT at, kind, payload FROM events
     WHERE stream = (SELECT number FROM event_streams WHERE name = $1) AND seq >= $2 AND seq < $3
       AND kind IN (SELECT value FROM json_each($4)) AND at >= $5 AND at <= $6
     ORDER BY seq LIMIT $7",
    "SELECT at, kind, payload FROM events
     WHERE stream = (SELECT number FROM event_streams WHERE name = $1) AND seq >= $2 AND seq < $3
       AND kind = ANY($4) AND at >= $5 AND at <= $6
     ORDER BY seq LIMIT $7",
);
const PICK_LAST: Sql = Sql::pair(
    "events.last_between",
    "SELECT at, kind, payload FROM events
     WHERE stream = (SELECT number FROM event_streams WHERE name = $1) AND seq >= $2 AND seq < $3
       AND kind IN (SELECT value FROM json_each($4)) AND at >= $5 AND at <= $6
     ORDER BY seq DESC LIMIT $7",
    "SELECT at, kind, payload FROM events
     WHERE stream = (SELECT number FROM event_streams WHERE name = $1) AND seq >= $2 AND seq < $3
       AND kind = ANY($4) AND at >= $5 AND at <= $6
     ORDER BY seq DESC LIMIT $7",
);

/// An event that happened.
#[derive(Debug, Clone, PartialEq)]
pub struct PastEvent {
    /// When.
    pub at: Timestamp,
    /// What kind it is.
    pub kind: String,
    /// Its fields, as JSON.
    pub fields: String,
}

/// At most `most` events of these kinds in a span, oldest first; those that are not kept any more are
/// not among them.
pub(crate) async fn between(
    db: &Db,
    stream: Stream,
    kinds: &[String],
    (from, to): (Timestamp, Timestamp),
    most: u32,
) -> Result<Vec<PastEvent>, StoreError> {
    let name = stream.to_string();
    let (mut next, end) = numbers(db, &name, (from, to)).await?;
    let (mut found, mut scanned) = (Vec::new(), FIRST_SCANNED);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    while next < end && found.len() < most {
        let upto = end.min(next.saturating_add(scanned));
        let left = i64::try_from(most.saturating_sub(found.len())).unwrap_or(i64::MAX);
        let rows = db.fetch_all(&PICK, values![&name, next, upto, kinds, from, to, left]).await?;
        for row in &rows {
            found.push(past_event(row)?);
        }
        (next, scanned) = (upto, scanned.saturating_mul(2).min(MOST_SCANNED));
    }
    Ok(found)
}

/// The last `most` events of these kinds in a span, oldest first.
pub(crate) async fn last_between(
    db: &Db,
    stream: Stream,
    kinds: &[String],
    (from, to): (Timestamp, Timestamp),
    most: u32,
) -> Result<Vec<PastEvent>, StoreError> {
    let name = stream.to_string();
    let (start, mut end) = numbers(db, &name, (from, to)).await?;
    let (mut found, mut scanned) = (Vec::new(), FIRST_SCANNED);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    while start < end && found.len() < most {
        let down_to = start.max(end.saturating_sub(scanned));
        let left = i64::try_from(most.saturating_sub(found.len())).unwrap_or(i64::MAX);
        let values = values![&name, down_to, end, kinds, from, to, left];
        for row in &db.fetch_all(&PICK_LAST, values).await? {
            found.push(past_event(row)?);
        }
        (end, scanned) = (down_to, scanned.saturating_mul(2).min(MOST_SCANNED));
    }
    found.reverse();
    Ok(found)
}

/// From which number on, and before which, the events of a span are.
async fn numbers(
    db: &Db,
    name: &str,
    (from, to): (Timestamp, Timestamp),
) -> Result<(i64, i64), StoreError> {
    let Some(ends) = db.fetch_optional(&ENDS, values![name]).await? else { return Ok((0, 0)) };
    let (floor, last): (i64, i64) = (ends.get("floor_seq")?, ends.get("last_seq")?);
    let ends = (floor.saturating_add(1), last.saturating_add(1));
    let first = first_at(db, name, ends, earlier(from)).await?;
    let end = first_at(db, name, (first, ends.1), to.plus(SKEW)).await?;
    Ok((first, end))
}

/// Since when every event of a stream is kept; `None` where none was ever removed.
pub(crate) async fn kept_since(db: &Db, stream: Stream) -> Result<Option<Timestamp>, StoreError> {
    let name = stream.to_string();
    let Some(ends) = db.fetch_optional(&ENDS, values![&name]).await? else { return Ok(None) };
    let floor: i64 = ends.get("floor_seq")?;
    if floor == 0 {
        return Ok(None);
    }
    let first = db.fetch_optional(&TIME_OF, values![&name, floor.saturating_add(1)]).await?;
    match first {
        Some(row) => Ok(Some(row.get("at")?)),
        None => Ok(Some(db.now().await?)),
    }
}

/// The first number of `low..high` whose event is not before `at`.
async fn first_at(
    db: &Db,
    name: &str,
    (mut low, mut high): (i64, i64),
    at: Timestamp,
) -> Result<i64, StoreError> {
    for _ in 0..MOST_HALVINGS {
        if low >= high {
            break;
        }
        let middle = low.midpoint(high);
        let row = db.fetch_optional(&TIME_OF, values![name, middle]).await?;
        let is_before = match row {
            Some(row) => row.get::<Timestamp>("at")? < at,
            None => false,
        };
        if is_before {
            low = middle.saturating_add(1);
        } else {
            high = middle;
        }
    }
    Ok(low)
}

fn past_event(row: &Row) -> Result<PastEvent, StoreError> {
    let (at, kind, fields) = (row.get("at")?, row.get("kind")?, row.get("payload")?);
    Ok(PastEvent { at, kind, fields })
}

fn earlier(at: Timestamp) -> Timestamp {
    let skew = i64::try_from(SKEW.as_millis()).unwrap_or(0);
    Timestamp::from_millis(at.as_millis().saturating_sub(skew))
}
