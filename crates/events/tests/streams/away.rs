//! A database that is full or away: a write says so and leaves nothing, followers wait and recover.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mainstay_base::SystemClock;
use mainstay_events::{EventsError, Stream};
use mainstay_store::{Dialect, Sql, StoreError, StoreOptions};
use mainstay_testkit::{SlowProxy, TestDatabase};
use serde_json::json;

use crate::house::{
    Instance, LONG, ask, event, last_seq, log, next, nothing_comes, number, numbered, say,
};

const PAGES: Sql = Sql::same("test.pages", "PRAGMA page_count");
const NO_ROOM: Sql = Sql::same("test.no_room", "PRAGMA max_page_count = 1");
const ROOM: Sql = Sql::same("test.room", "PRAGMA max_page_count = 1000000");
const HIDE: Sql = Sql::same("test.hide", "ALTER TABLE event_epoch RENAME TO hidden");
const SHOW: Sql = Sql::same("test.show", "ALTER TABLE hidden RENAME TO event_epoch");
const HOLD: Sql = Sql::same("test.hold", "LOCK TABLE event_connections IN EXCLUSIVE MODE");
const HELD_UP: Sql = Sql::same(
    "test.held_up",
    "SELECT count(*) AS count FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock'",
);
const FAILS: &str = "the followed streams fails";
const STILL_FAILS: &str = "the followed streams still fails";
const A_SWEEP: Duration = Duration::from_millis(5);

/// What was logged.
#[derive(Debug, Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// The lines with `part`, of which at least `count` must come.
    async fn lines(&self, part: &str, count: usize) -> Vec<String> {
        let coming = async {
            loop {
                let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
                let lines = text.lines().filter(|line| line.contains(part)).map(str::to_owned);
                let lines: Vec<_> = lines.collect();
                if lines.len() >= count {
                    return lines;
                }
                tokio::time::sleep(A_SWEEP).await;
            }
        };
        tokio::time::timeout(LONG, coming).await.expect("it is logged")
    }
}

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// On one thread, because the log is kept for that one alone.
#[tokio::test]
async fn what_fails_again_and_again_is_told_of_once_and_so_is_its_end() {
    let log = Log::default();
    let kept = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::DEBUG)
        .with_ansi(false)
        .with_writer(move || kept.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let database = TestDatabase::new(Dialect::Sqlite).await;
    let instance = Instance::start_with(&database, |options| options.sweep = A_SWEEP).await;
    let (_, _feed) = instance.events.open(&ask(None)).await.unwrap();
    for round in 1..=2 {
        instance.db.write(async |tx| tx.execute(&HIDE, &[]).await).await.unwrap();
        log.lines(FAILS, round).await;
        let before = log.lines(STILL_FAILS, 0).await.len();
        log.lines(STILL_FAILS, before + 3).await;
        assert_eq!(log.lines(FAILS, round).await.len(), round);
        instance.db.write(async |tx| tx.execute(&SHOW, &[]).await).await.unwrap();
        log.lines("the followed streams goes well again", round).await;
    }
    let warned = log.lines(FAILS, 2).await;
    let told = log.lines("the followed streams goes well again", 2).await;
    assert_eq!((warned.len(), told.len()), (2, 2), "{warned:?} {told:?}");
    assert!(warned.iter().all(|line| line.contains("WARN")), "{warned:?}");
    assert!(told.iter().all(|line| line.contains("INFO")), "{told:?}");
    instance.stop().await;
}

/// SQLite takes the present size for the smallest bound: from here on not a page is to be had.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_refuses_the_write_and_nothing_is_half_done() {
    let database = TestDatabase::new(Dialect::Sqlite).await;
    let instance = Instance::start(&database).await;
    let (_, mut feed) = instance.events.open(&ask(None)).await.unwrap();
    instance.say(Stream::Org, 0).await;
    assert_eq!(number(&next(&mut feed).await), 0);
    instance.db.write(async |tx| tx.fetch_one(&NO_ROOM, &[]).await.map(drop)).await.unwrap();
    let pages = instance.db.fetch_one(&PAGES, &[]).await.unwrap();
    assert!(pages.get::<i64>("page_count").unwrap() > 0);
    let mut kept = 1;
    let refused = loop {
        let written: Result<(), EventsError> = instance
            .events
            .write(async |_tx, outbox| {
                outbox.add(Stream::Org, event("large", &json!({"text": "x".repeat(60_000)})))?;
                Ok(())
            })
            .await;
        match written {
            Ok(()) => kept += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, EventsError::Store(StoreError::Environment { .. })), "{refused:?}");
    assert_eq!(last_seq(&instance.db, Stream::Org).await, Some(kept));
    assert_eq!(log(&instance.db, Stream::Org).await.len(), usize::try_from(kept).unwrap());
    for _ in 1..kept {
        next(&mut feed).await;
    }
    nothing_comes(&mut feed).await;
    instance.db.write(async |tx| tx.fetch_one(&ROOM, &[]).await.map(drop)).await.unwrap();
    instance.say(Stream::Org, 77).await;
    let delivery = next(&mut feed).await;
    assert_eq!((number(&delivery), delivery.seq), (77, kept + 1));
    instance.stop().await;
}

/// Everything of one instance goes through a line that hangs for a while.
#[tokio::test(flavor = "multi_thread")]
async fn followers_wait_for_a_database_that_hangs() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let there = Instance::start(&database).await;
    let proxy = SlowProxy::before(database.server_address(), Duration::ZERO).await;
    let clock = Arc::new(SystemClock::new());
    let options = StoreOptions::new(database.through(proxy.address()), Arc::clone(&clock) as _);
    let db = mainstay_store::Db::open(options).await.unwrap();
    let here = Instance::start_on(db, clock, |options| {
        options.sweep = Duration::from_millis(50);
    })
    .await;
    let (_, mut slow) = here.events.open(&ask(None)).await.unwrap();
    let (_, mut quick) = here.events.open(&ask(None)).await.unwrap();
    for _ in 0..5 {
        let written: Result<(), EventsError> = there
            .events
            .write(async |_tx, outbox| {
                for number in 0..2_000 {
                    outbox.add(Stream::Org, numbered(number))?;
                }
                Ok(())
            })
            .await;
        written.unwrap();
    }
    for _ in 0..10_000 {
        next(&mut quick).await;
    }
    proxy.freeze();
    say(&there.events, &[Stream::Org], 10_000).await.unwrap();
    nothing_comes(&mut quick).await;
    nothing_comes(&mut slow).await;
    proxy.thaw();
    assert_eq!(number(&next(&mut quick).await), 10_000);
    for expected in 1..=10_001 {
        let delivery = tokio::time::timeout(LONG, slow.next()).await.unwrap().unwrap();
        assert_eq!(delivery.seq, expected);
    }
    there.stop().await;
    here.stop().await;
}

/// The line goes dead in the middle of a statement, so that no limit of the server is heard of.
#[tokio::test]
async fn a_clean_up_does_not_wait_for_ever() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let proxy = SlowProxy::before(database.server_address(), Duration::ZERO).await;
    let clock = Arc::new(SystemClock::new());
    let options = StoreOptions::new(database.through(proxy.address()), Arc::clone(&clock) as _);
    let db = mainstay_store::Db::open(options).await.unwrap();
    let here = Instance::start_on(db, clock, |_| {}).await;
    let other = database.open().await;
    let holding: Result<(), StoreError> = other
        .write(async |tx| {
            tx.execute(&HOLD, &[]).await?;
            let events = here.events.clone();
            let cleaning = tokio::spawn(async move { events.clean_up().await });
            while other.fetch_one(&HELD_UP, &[]).await?.get::<i64>("count")? == 0 {
                tokio::time::sleep(A_SWEEP).await;
            }
            proxy.freeze();
            // Nothing is under way any more, so that time goes on by itself.
            tokio::time::pause();
            let cleaned = tokio::time::timeout(LONG, cleaning).await;
            tokio::time::resume();
            let cleaned = cleaned.expect("it gives up").unwrap();
            assert!(matches!(cleaned, Err(StoreError::Busy { .. })), "{cleaned:?}");
            Ok(())
        })
        .await;
    holding.unwrap();
    proxy.thaw();
    other.close().await;
    here.stop().await;
}
