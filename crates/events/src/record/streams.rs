//! Counters and events as a write leaves them.

use mainstay_base::Timestamp;
use mainstay_store::{Sql, StoreError, Tx, values};
use serde::Serialize;

use crate::stream::Stream;

/// Events that one statement inserts.
pub(crate) const INSERT_TOGETHER: usize = 512;

const TAKE: Sql = Sql::same(
    "events.take",
    "UPDATE event_streams SET last_seq = last_seq + $2 WHERE name = $1
     RETURNING number, last_seq",
);

/// Two writers may both bring the first event of a stream: the second waits, then counts on.
const CREATE_AND_TAKE: Sql = Sql::same(
    "events.create_and_take",
    "INSERT INTO event_streams (name, last_seq, floor_seq) VALUES ($1, $2, 0)
     ON CONFLICT (name) DO UPDATE SET last_seq = event_streams.last_seq + excluded.last_seq
     RETURNING number, last_seq",
);

const INSERT: Sql = Sql::pair(
    "events.insert",
    "INSERT INTO events (stream, seq, at, kind, size, payload)
     SELECT value->>0, value->>1, $2, value->>2, value->>3, value->>4 FROM json_each($1)",
    "INSERT INTO events (stream, seq, at, kind, size, payload)
     SELECT (one->>0)::bigint, (one->>1)::bigint, $2, one->>2, (one->>3)::bigint, one->>4
     FROM json_array_elements($1::json) AS one",
);

/// An event with its number: stream, seq, kind, size of the fields, fields.
#[derive(Debug, Serialize)]
pub(crate) struct Numbered(
    pub(crate) i64,
    pub(crate) i64,
    pub(crate) String,
    pub(crate) usize,
    pub(crate) String,
);

/// Numbers taken for a write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taken {
    /// The stream's key.
    pub(crate) number: i64,
    last_seq: i64,
    count: i64,
}

impl Taken {
    pub(crate) const fn first_seq(&self) -> i64 {
        self.last_seq.saturating_sub(self.count).saturating_add(1)
    }
}

/// Takes the next `count` numbers of `stream` and holds its counter until the commit.
pub(crate) async fn take(tx: &mut Tx, stream: Stream, count: i64) -> Result<Taken, StoreError> {
    let name = stream.to_string();
    let row = match tx.fetch_optional(&TAKE, values![&name, count]).await? {
        Some(row) => row,
        None => tx.fetch_one(&CREATE_AND_TAKE, values![&name, count]).await?,
    };
    Ok(Taken { number: row.get("number")?, last_seq: row.get("last_seq")?, count })
}

/// Inserts events that have their numbers.
pub(crate) async fn insert(
    tx: &mut Tx,
    at: Timestamp,
    rows: &[Numbered],
) -> Result<(), StoreError> {
    // Numbers and texts always have a JSON form.
    let rows = serde_json::to_string(rows).unwrap_or_default();
    tx.execute(&INSERT, values![&rows, at]).await.map(drop)
}
