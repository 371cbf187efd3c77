//! An instance as tests start it, and what they read behind its back.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Id, IdSource, SystemClock, SystemRng};
use mainstay_events::{Event, Events, EventsError, EventsOptions, EventsTasks, Stream};
use mainstay_store::{Db, Sql, migrate, values};
use mainstay_testkit::TestDatabase;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// So long that only a bell can have told: a test that waits for it fails.
pub const NEVER: Duration = Duration::from_hours(1);
/// Longer than anything takes that is to happen at all.
pub const LONG: Duration = Duration::from_secs(60);

pub struct Instance {
    pub db: Db,
    pub events: Events,
    pub stop: CancellationToken,
    tasks: EventsTasks,
}

impl Instance {
    pub async fn start(database: &TestDatabase) -> Self {
        Self::start_with(database, |_| {}).await
    }

    pub async fn start_with(
        database: &TestDatabase,
        change: impl FnOnce(&mut EventsOptions),
    ) -> Self {
        Self::start_on(database.open().await, Arc::new(SystemClock::new()), change).await
    }

    pub async fn start_on(
        db: Db,
        clock: Arc<dyn Clock>,
        change: impl FnOnce(&mut EventsOptions),
    ) -> Self {
        migrate::up(&db).await.unwrap();
        let mut options = EventsOptions::default();
        change(&mut options);
        let stop = CancellationToken::new();
        let starting = Events::start(db.clone(), options, clock, Arc::new(SystemRng), stop.clone());
        let (events, tasks) = starting.await.unwrap();
        Self { db, events, stop, tasks }
    }

    pub async fn stop(self) {
        self.stop.cancel();
        tokio::time::timeout(LONG, self.tasks.finished()).await.unwrap();
        self.db.close().await;
    }

    /// Writes one event with `number` as its field.
    pub async fn say(&self, stream: Stream, number: i64) {
        say(&self.events, &[stream], number).await.unwrap();
    }
}

/// Writes one event for each of `streams`.
pub async fn say(events: &Events, streams: &[Stream], number: i64) -> Result<(), EventsError> {
    events
        .write(async |_tx, outbox| {
            for stream in streams {
                outbox.add(*stream, numbered(number))?;
            }
            Ok(())
        })
        .await
}

pub fn numbered(number: i64) -> Event {
    event("said", &json!({ "number": number }))
}

pub fn event(kind: &str, fields: &Value) -> Event {
    Event::new(kind, fields.as_object().unwrap()).unwrap()
}

pub fn user() -> Id {
    IdSource::new(Arc::new(SystemClock::new()), Arc::new(SystemRng)).next()
}

const LOG: Sql = Sql::same(
    "test.log",
    "SELECT seq, payload FROM events JOIN event_streams ON number = stream
     WHERE name = $1 ORDER BY seq",
);

/// The numbers and fields of a stream as the database holds them.
pub async fn log(db: &Db, stream: Stream) -> Vec<(i64, Value)> {
    let name = stream.to_string();
    let rows = db.fetch_all(&LOG, values![&name]).await.unwrap();
    let read = |row: &mainstay_store::Row| {
        let payload: String = row.get("payload").unwrap();
        (row.get("seq").unwrap(), serde_json::from_str(&payload).unwrap())
    };
    rows.iter().map(read).collect()
}

const LAST: Sql = Sql::same("test.last", "SELECT last_seq FROM event_streams WHERE name = $1");

/// The counter of a stream.
pub async fn last_seq(db: &Db, stream: Stream) -> Option<i64> {
    let name = stream.to_string();
    let row = db.fetch_optional(&LAST, values![&name]).await.unwrap();
    row.map(|row| row.get("last_seq").unwrap())
}
