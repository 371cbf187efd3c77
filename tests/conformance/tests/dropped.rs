//! A caller that hangs up in the middle leaves no half write and no open transaction behind.
#![cfg(test)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mainstay_base::SystemClock;
use mainstay_conformance_tests::{INSERT, create};
use mainstay_store::{Db, Dialect, Sql, StoreError, StoreOptions, values};
use mainstay_testkit::{SlowProxy, TestDatabase, drop_at_await, each_database};

/// No write has more awaits than this.
const MOST_AWAITS: usize = 200;
/// One each for begin, three statements and commit.
const LEAST_AWAITS: usize = 5;
/// The delay of the proxy moves where exactly the drop falls, so it is tried several times.
const ROUNDS: usize = 5;
const DELAY: Duration = Duration::from_millis(2);
const SETTLE: Duration = Duration::from_millis(20);
const SETTLE_TRIES: usize = 500;

const PAIRS: Sql = Sql::same(
    "test.pairs",
    "SELECT count(*) AS halves FROM thing a
     WHERE NOT EXISTS (SELECT 1 FROM thing b WHERE b.id = -a.id)",
);
const COUNT: Sql = Sql::same("test.count", "SELECT count(*) AS count FROM thing WHERE id > 0");
const CLEAR: Sql = Sql::same("test.clear", "DELETE FROM thing");
const IN_TRANSACTION: Sql = Sql::same(
    "test.in_transaction",
    "SELECT count(*) AS count FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()
       AND state LIKE 'idle in transaction%'",
);

/// Writes `id` and `-id`: half of it would be seen.
async fn write_pair(db: &Db, id: i64, rung: &Arc<AtomicU64>) -> Result<(), StoreError> {
    let bell = Arc::clone(rung);
    db.write(async |tx| {
        tx.after_commit(move || {
            bell.fetch_add(1, Ordering::SeqCst);
        });
        tx.execute(&INSERT, values![id, "one", None::<i64>]).await?;
        tx.now().await?;
        tx.execute(&INSERT, values![-id, "other", None::<i64>]).await?;
        Ok(())
    })
    .await
}

async fn no_transaction_stays_open(db: &Db) {
    // What the dropped caller had sent must first arrive: too early a look would see nothing.
    tokio::time::sleep(SETTLE).await;
    for _ in 0..SETTLE_TRIES {
        let open: i64 = db.fetch_one(&IN_TRANSACTION, &[]).await.unwrap().get("count").unwrap();
        if open == 0 {
            return;
        }
        tokio::time::sleep(SETTLE).await;
    }
    panic!("a connection stays idle in transaction");
}

/// Drops a write at each of its awaits in turn, until none is left to drop at.
async fn drop_at_every_await(db: &Db, rung: &Arc<AtomicU64>, watching: Option<&Db>) -> usize {
    for awaits in 0..MOST_AWAITS {
        let id = i64::try_from(awaits).unwrap() + 1;
        match drop_at_await(awaits, write_pair(db, id, rung)).await {
            None => {
                if let Some(watching) = watching {
                    no_transaction_stays_open(watching).await;
                }
            }
            Some(outcome) => {
                outcome.unwrap();
                return awaits;
            }
        }
    }
    panic!("a write has more than {MOST_AWAITS} awaits");
}

async fn what_is_committed_is_whole_and_announced(db: &Db, rung: &Arc<AtomicU64>) {
    let halves: i64 = db.fetch_one(&PAIRS, &[]).await.unwrap().get("halves").unwrap();
    assert_eq!(halves, 0, "half a write is seen");
    let pairs: i64 = db.fetch_one(&COUNT, &[]).await.unwrap().get("count").unwrap();
    let announced = rung.load(Ordering::SeqCst);
    assert_eq!(u64::try_from(pairs).unwrap(), announced, "committed and announced differ");
}

/// Behind a proxy that delays each answer, so that the write truly waits at every await.
#[tokio::test(flavor = "multi_thread")]
async fn at_every_await_of_a_write_on_postgres() {
    let database = TestDatabase::empty(Dialect::Postgres).await;
    let watching = database.open().await;
    create(&watching).await.unwrap();
    let proxy = SlowProxy::before(database.server_address(), DELAY).await;
    let mut options =
        StoreOptions::new(database.through(proxy.address()), Arc::new(SystemClock::new()));
    options.connections = 3;
    let db = Db::open(options).await.unwrap();
    let rung = Arc::new(AtomicU64::new(0));
    for _ in 0..ROUNDS {
        // A warm connection, so that the first await is the one of BEGIN.
        db.ping().await.unwrap();
        let awaits = drop_at_every_await(&db, &rung, Some(&watching)).await;
        assert!(awaits >= LEAST_AWAITS, "the write was dropped at {awaits} awaits only");
        db.write(async |tx| tx.execute(&CLEAR, &[]).await).await.unwrap();
        rung.store(0, Ordering::SeqCst);
    }
    drop_at_every_await(&db, &rung, None).await;
    db.close().await;
    what_is_committed_is_whole_and_announced(&watching, &rung).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn at_every_await_of_a_write_on_sqlite() {
    let database = TestDatabase::empty(Dialect::Sqlite).await;
    let db = database.open().await;
    create(&db).await.unwrap();
    let rung = Arc::new(AtomicU64::new(0));
    drop_at_every_await(&db, &rung, None).await;
    db.close().await;
    what_is_committed_is_whole_and_announced(&database.open().await, &rung).await;
}

each_database! {
    empty;
    async fn a_storm_of_hang_ups_leaves_the_store_whole(database: &TestDatabase) {
        let db = database.open().await;
        create(&db).await.unwrap();
        let rung = Arc::new(AtomicU64::new(0));
        let callers: Vec<_> = (1..=200_i64).map(|id| {
            let (db, rung) = (db.clone(), Arc::clone(&rung));
            let awaits = usize::try_from(id % 12).unwrap();
            tokio::spawn(async move { drop_at_await(awaits, write_pair(&db, id, &rung)).await })
        }).collect();
        for caller in callers {
            if let Some(outcome) = caller.await.unwrap() {
                outcome.unwrap();
            }
        }
        write_pair(&db, 1_000, &rung).await.unwrap();
        if db.dialect() == Dialect::Postgres {
            no_transaction_stays_open(&db).await;
        }
        let halves: i64 = db.fetch_one(&PAIRS, &[]).await.unwrap().get("halves").unwrap();
        assert_eq!(halves, 0);
    }
}

/// Reads that are dropped must not spoil their connection for the next one.
#[tokio::test(flavor = "multi_thread")]
async fn dropped_reads_leave_connections_that_answer_the_right_question() {
    for dialect in [Dialect::Sqlite, Dialect::Postgres] {
        let database = TestDatabase::empty(dialect).await;
        let db = database
            .open_with(Arc::new(SystemClock::new()), |options| {
                options.connections = 2;
            })
            .await;
        const ECHO: Sql = Sql::same("test.echo", "SELECT CAST($1 AS BIGINT) AS echo");
        for number in 0..100_i64 {
            let awaits = usize::try_from(number % 5).unwrap();
            let number_value = values![number];
            let read = db.fetch_one(&ECHO, number_value);
            if let Some(row) = drop_at_await(awaits, read).await {
                assert_eq!(row.unwrap().get::<i64>("echo").unwrap(), number);
            }
        }
    }
}
