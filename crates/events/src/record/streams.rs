//! Counters and events as a write leaves them.

use mainstay_store::{Dialect, Row, Sql, StoreError, Tx, Value, values};
use serde::Serialize;

use crate::event::Event;
use crate::stream::Stream;

/// Events that one statement inserts.
pub(crate) const INSERT_TOGETHER: usize = 512;

/// Two writers may both bring the first event of a stream: the second waits, and finds it.
const CREATE: Sql = Sql::same(
    "events.create",
    "INSERT INTO event_streams (name, last_seq, floor_seq) VALUES ($1, 0, 0)
     ON CONFLICT (name) DO NOTHING",
);

const TAKE: Sql = Sql::same(
    "events.take",
    "UPDATE event_streams SET last_seq = last_seq + $2 WHERE name = $1
     RETURNING number, last_seq",
);

const INSERT: Sql = Sql::same(
    "events.insert",
    "INSERT INTO events (stream, seq, at, kind, size, payload)
     SELECT $1, $2 + key, $3, value->>0, value->>1, value->>2 FROM json_each($4)",
);

/// Numbers and events in one statement: each way to PostgreSQL and back would be paid by every
/// change, and by whoever waits for the counter.
const TAKE_AND_INSERT: Sql = Sql::same(
    "events.take_and_insert",
    "WITH taken AS (
       UPDATE event_streams SET last_seq = last_seq + $2 WHERE name = $1
       RETURNING number, last_seq
     ), inserted AS (
       INSERT INTO events (stream, seq, at, kind, size, payload)
       SELECT taken.number, taken.last_seq - $2 + place,
              (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint + $3),
              one->>0, (one->>1)::bigint, one->>2
       FROM taken, json_array_elements($4::json) WITH ORDINALITY AS listed (one, place)
     )
     SELECT last_seq FROM taken",
);

/// An event as the statements read it: kind, size of the fields, fields.
#[derive(Serialize)]
struct Listed<'a>(&'a str, usize, &'a str);

/// Gives `events` the next numbers of `stream`, inserts them, and holds the counter until the commit.
/// Returns the number of the first.
pub(crate) async fn append(
    tx: &mut Tx,
    stream: Stream,
    events: &[Event],
) -> Result<i64, StoreError> {
    let name = stream.to_string();
    let count = i64::try_from(events.len()).unwrap_or(i64::MAX);
    let last_seq = match tx.dialect() {
        Dialect::Sqlite => take_then_insert(tx, &name, count, events).await?,
        Dialect::Postgres => take_and_insert(tx, &name, count, events).await?,
    };
    Ok(first_of(last_seq, count))
}

async fn take_and_insert(
    tx: &mut Tx,
    name: &str,
    count: i64,
    events: &[Event],
) -> Result<i64, StoreError> {
    let (shift, rows) = (tx.clock_shift(), listed(events));
    take(tx, name, &TAKE_AND_INSERT, values![name, count, shift, &rows]).await?.get("last_seq")
}

async fn take_then_insert(
    tx: &mut Tx,
    name: &str,
    count: i64,
    events: &[Event],
) -> Result<i64, StoreError> {
    let taken = take(tx, name, &TAKE, values![name, count]).await?;
    let (number, last_seq): (i64, i64) = (taken.get("number")?, taken.get("last_seq")?);
    let (at, rows) = (tx.now().await?, listed(events));
    tx.execute(&INSERT, values![number, first_of(last_seq, count), at, &rows]).await?;
    Ok(last_seq)
}

/// Runs `sql`, which takes numbers of the stream `name`; its first event creates the stream.
async fn take(tx: &mut Tx, name: &str, sql: &Sql, values: &[Value<'_>]) -> Result<Row, StoreError> {
    if let Some(row) = tx.fetch_optional(sql, values).await? {
        return Ok(row);
    }
    tx.execute(&CREATE, values![name]).await?;
    tx.fetch_one(sql, values).await
}

const fn first_of(last_seq: i64, count: i64) -> i64 {
    last_seq.saturating_sub(count).saturating_add(1)
}

fn listed(events: &[Event]) -> String {
    let rows: Vec<_> =
        events.iter().map(|one| Listed(one.kind(), one.fields().len(), one.fields())).collect();
    // Numbers and texts always have a JSON form.
    serde_json::to_string(&rows).unwrap_or_default()
}
