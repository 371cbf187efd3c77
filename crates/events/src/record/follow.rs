//! What followers read: the counters of streams, and pages of events.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mainstay_store::{Db, Row, Sql, StoreError, values};

use crate::frame::Frame;
use crate::stream::Stream;

/// Numbers the reads of counters in the order in which they begin. A clone counts on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reads(Arc<AtomicU64>);

impl Reads {
    pub(crate) fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::AcqRel)
    }
}

/// The counters of streams and the epoch they belong to, of one moment.
#[derive(Debug)]
pub(crate) struct Counters {
    pub(crate) epoch: Arc<str>,
    /// The number of this read.
    pub(crate) read: u64,
    streams: HashMap<Stream, Counter>,
}

/// How far a stream goes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counter {
    pub(crate) last_seq: i64,
    pub(crate) floor_seq: i64,
}

/// How much of a stream is read at once. At least one event is, however large.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageSize {
    pub(crate) events: u32,
    pub(crate) bytes: u32,
}

/// The index is named because SQLite may have counted the streams when there were hardly any.
pub(super) const COUNTERS: Sql = Sql::pair(
    "events.counters",
    "SELECT epoch, name, last_seq, floor_seq FROM event_epoch
     LEFT JOIN event_streams INDEXED BY event_streams_by_name
       ON name IN (SELECT value FROM json_each($1))",
    "SELECT epoch, name, last_seq, floor_seq FROM event_epoch
     LEFT JOIN event_streams ON name IN (SELECT json_array_elements_text($1::json))",
);

const PAGE: Sql = Sql::same(
    "events.page",
    "SELECT seq, at, kind, payload FROM (
       SELECT seq, at, kind, payload, size, sum(size) OVER (ORDER BY seq) AS running FROM (
         SELECT seq, at, kind, payload, size FROM events
         WHERE stream = (SELECT number FROM event_streams WHERE name = $1) AND seq > $2
         ORDER BY seq LIMIT $3
       ) AS page
     ) AS summed WHERE running - size < $4 ORDER BY seq",
);

impl Counters {
    /// The counter of `stream`; one without events has none.
    pub(crate) fn of(&self, stream: Stream) -> Counter {
        self.streams.get(&stream).copied().unwrap_or_default()
    }
}

/// The counters of `streams` and the epoch.
pub(crate) async fn counters(
    db: &Db,
    reads: &Reads,
    streams: &[Stream],
) -> Result<Counters, StoreError> {
    let read = reads.next();
    let names: Vec<String> = streams.iter().map(ToString::to_string).collect();
    // Texts always have a JSON form.
    let names = serde_json::to_string(&names).unwrap_or_default();
    let rows = db.fetch_all(&COUNTERS, values![&names]).await?;
    let first = rows.first().ok_or(StoreError::NoRow { statement: COUNTERS.name() })?;
    let epoch: String = first.get("epoch")?;
    let streams = rows.iter().filter_map(|row| counter(row).transpose());
    Ok(Counters { epoch: epoch.into(), read, streams: streams.collect::<Result<_, _>>()? })
}

fn counter(row: &Row) -> Result<Option<(Stream, Counter)>, StoreError> {
    let Some(name) = row.get::<Option<String>>("name")? else { return Ok(None) };
    let counter = Counter { last_seq: row.get("last_seq")?, floor_seq: row.get("floor_seq")? };
    Ok(Stream::parse(&name).map(|stream| (stream, counter)))
}

/// The events of `stream` behind `after`, in order.
pub(crate) async fn page(
    db: &Db,
    stream: Stream,
    after: i64,
    size: PageSize,
) -> Result<Vec<Frame>, StoreError> {
    let name = stream.to_string();
    let rows = db.fetch_all(&PAGE, values![&name, after, size.events, size.bytes]).await?;
    rows.iter().map(|row| frame(stream, row)).collect()
}

fn frame(stream: Stream, row: &Row) -> Result<Frame, StoreError> {
    let (kind, payload): (String, String) = (row.get("kind")?, row.get("payload")?);
    Ok(Frame::new(stream, row.get("seq")?, row.get("at")?, &kind, &payload))
}
