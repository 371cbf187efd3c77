//! An instance as tests start it, and what they read behind its back.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Id, IdSource, SystemClock, SystemRng};
use mainstay_events::{
    Ask, Delivery, Event, Events, EventsError, EventsOptions, EventsTasks, Feed, Stream,
};
use mainstay_store::{Db, Sql, migrate, values};
use mainstay_testkit::TestDatabase;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// So long that only a bell can have told: a test that waits for it fails.
pub(crate) const NEVER: Duration = Duration::from_hours(1);
/// Longer than anything takes that is to happen at all.
pub(crate) const LONG: Duration = Duration::from_secs(60);

pub(crate) struct Instance {
    pub(crate) db: Db,
    pub(crate) events: Events,
    pub(crate) stop: CancellationToken,
    tasks: EventsTasks,
}

impl Instance {
    pub(crate) async fn start(database: &TestDatabase) -> Self {
        Self::start_with(database, |_| {}).await
    }

    pub(crate) async fn start_with(
        database: &TestDatabase,
        change: impl FnOnce(&mut EventsOptions),
    ) -> Self {
        Self::start_on(database.open().await, Arc::new(SystemClock::new()), change).await
    }

    pub(crate) async fn start_on(
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

    pub(crate) async fn stop(self) {
        self.stop.cancel();
        tokio::time::timeout(LONG, self.tasks.finished()).await.unwrap();
        self.db.close().await;
    }

    /// Writes one event with `number` as its field.
    pub(crate) async fn say(&self, stream: Stream, number: i64) {
        say(&self.events, &[stream], number).await.unwrap();
    }
}

/// Writes one event for each of `streams`.
pub(crate) async fn say(
    events: &Events,
    streams: &[Stream],
    number: i64,
) -> Result<(), EventsError> {
    events
        .write(async |_tx, outbox| {
            for stream in streams {
                outbox.add(*stream, numbered(number))?;
            }
            Ok(())
        })
        .await
}

pub(crate) fn numbered(number: i64) -> Event {
    event("said", &json!({ "number": number }))
}

pub(crate) fn event(kind: &str, fields: &Value) -> Event {
    Event::new(kind, fields.as_object().unwrap()).unwrap()
}

pub(crate) fn user() -> Id {
    IdSource::new(Arc::new(SystemClock::new()), Arc::new(SystemRng)).next()
}

const LOG: Sql = Sql::same(
    "test.log",
    "SELECT seq, payload FROM events JOIN event_streams ON number = stream
     WHERE name = $1 ORDER BY seq",
);

/// The numbers and fields of a stream as the database holds them.
pub(crate) async fn log(db: &Db, stream: Stream) -> Vec<(i64, Value)> {
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
pub(crate) async fn last_seq(db: &Db, stream: Stream) -> Option<i64> {
    let name = stream.to_string();
    let row = db.fetch_optional(&LAST, values![&name]).await.unwrap();
    row.map(|row| row.get("last_seq").unwrap())
}

/// Everything of the organisation and of `user`.
pub(crate) fn ask(user: Option<Id>) -> Ask {
    Ask { user, ..Ask::default() }
}

pub(crate) fn ask_after(user: Option<Id>, after: &impl ToString) -> Ask {
    Ask { after: Some(after.to_string()), ..ask(user) }
}

/// The next event, which must come.
pub(crate) async fn next(feed: &mut Feed) -> Delivery {
    tokio::time::timeout(LONG, feed.next()).await.expect("an event comes").unwrap()
}

/// The field `number` of an event.
pub(crate) fn number(delivery: &Delivery) -> i64 {
    data(delivery)["number"].as_i64().unwrap()
}

pub(crate) fn data(delivery: &Delivery) -> Value {
    let text = std::str::from_utf8(&delivery.frame).unwrap();
    let line = text.strip_prefix("data: ").unwrap().strip_suffix("\n\n").unwrap();
    serde_json::from_str(line).unwrap()
}

/// Nothing is at hand and nothing comes by itself.
pub(crate) async fn nothing_comes(feed: &mut Feed) {
    let waited = tokio::time::timeout(Duration::from_millis(50), feed.next()).await;
    assert!(waited.is_err(), "{waited:?}");
}
