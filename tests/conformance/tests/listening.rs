//! PostgreSQL's bells: heard in order, on their own connection, and their end is noticed.
#![cfg(test)]

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Secret, SystemClock};
use mainstay_store::listen::MAX_NOTICE;
use mainstay_store::{Db, Dialect, Listener, Notifier, Sql, StoreError, Target};
use mainstay_testkit::{SlowProxy, TestDatabase};

const LONG: Duration = Duration::from_secs(60);
const KILL: Sql = Sql::same(
    "test.kill",
    "SELECT count(pg_terminate_backend(pid)) AS killed FROM pg_stat_activity
     WHERE datname = current_database() AND query LIKE 'LISTEN%'",
);
const SYNCHRONOUS: Sql = Sql::same("test.synchronous", "SHOW synchronous_commit");

async fn listener(db: &Db) -> Listener {
    Listener::connect(db, &["one", "other"]).await.unwrap().expect("PostgreSQL has bells")
}

async fn notifier(db: &Db) -> Notifier {
    Notifier::connect(db).await.unwrap().expect("PostgreSQL has bells")
}

async fn next(listener: &mut Listener) -> Result<mainstay_store::Notice, StoreError> {
    tokio::time::timeout(LONG, listener.next()).await.expect("something is heard")
}

#[tokio::test]
async fn bells_are_heard_in_order_with_who_rang_them() {
    let database = TestDatabase::empty(Dialect::Postgres).await;
    let db = database.open().await;
    let (mut listener, mut notifier) = (listener(&db).await, notifier(&db).await);
    let largest = "x".repeat(MAX_NOTICE);
    let bells =
        format!(r#"[["one","first"],["third","unheard"],["other","{largest}"],["one",""]]"#);
    notifier.ring(&bells).await.unwrap();
    for (channel, payload) in [("one", "first"), ("other", largest.as_str()), ("one", "")] {
        let notice = next(&mut listener).await.unwrap();
        assert_eq!((notice.channel.as_str(), notice.payload.as_str()), (channel, payload));
        assert_eq!(notice.ringer, notifier.process());
    }
    listener.probe().await.unwrap();
    let commit: String =
        db.fetch_one(&SYNCHRONOUS, &[]).await.unwrap().get("synchronous_commit").unwrap();
    assert_eq!(commit, "on", "only the ringing session does not wait for the disk");
}

#[tokio::test]
async fn a_bell_that_is_too_long_is_refused() {
    let database = TestDatabase::empty(Dialect::Postgres).await;
    let mut notifier = notifier(&database.open().await).await;
    let bells = format!(r#"[["one","{}"]]"#, "x".repeat(MAX_NOTICE + 1));
    assert!(notifier.ring(&bells).await.is_err());
}

#[tokio::test]
async fn a_dropped_wait_loses_no_bell() {
    let database = TestDatabase::empty(Dialect::Postgres).await;
    let db = database.open().await;
    let (mut listener, mut notifier) = (listener(&db).await, notifier(&db).await);
    for round in 0..20 {
        let waited = tokio::time::timeout(Duration::from_micros(round * 50), listener.next()).await;
        assert!(waited.is_err());
        notifier.ring(&format!(r#"[["one","{round}"]]"#)).await.unwrap();
        assert_eq!(next(&mut listener).await.unwrap().payload, round.to_string());
    }
}

#[tokio::test]
async fn a_killed_listener_says_so_instead_of_reconnecting() {
    let database = TestDatabase::empty(Dialect::Postgres).await;
    let db = database.open().await;
    let mut listener = listener(&db).await;
    let killed: i64 = db.fetch_one(&KILL, &[]).await.unwrap().get("killed").unwrap();
    assert_eq!(killed, 1);
    assert!(next(&mut listener).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_peer_that_is_gone_without_a_word_is_noticed_by_the_probe() {
    let database = TestDatabase::empty(Dialect::Postgres).await;
    let proxy = SlowProxy::before(database.server_address(), Duration::ZERO).await;
    let Target::Postgres { url } = database.through(proxy.address()) else { unreachable!() };
    let direct: Secret<String> = url;
    let db = database
        .open_with(Arc::new(SystemClock::new()), |options| options.direct = Some(direct))
        .await;
    let mut listener = listener(&db).await;
    listener.probe().await.unwrap();
    proxy.freeze();
    assert!(matches!(listener.probe().await, Err(StoreError::Unreachable { .. })));
    db.ping().await.unwrap();
}

#[tokio::test]
async fn sqlite_has_no_bells() {
    let database = TestDatabase::empty(Dialect::Sqlite).await;
    let db = database.open().await;
    assert!(Listener::connect(&db, &["one"]).await.unwrap().is_none());
    assert!(Notifier::connect(&db).await.unwrap().is_none());
}
