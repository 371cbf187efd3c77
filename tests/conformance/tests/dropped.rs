//! A caller that hangs up in the middle leaves no half write and no open transaction behind.
#![cfg(test)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mainstay_conformance_tests::{INSERT, create};
use mainstay_store::{Db, Dialect, Sql, StoreError, values};
use mainstay_testkit::{TestDatabase, drop_at_await, each_database};

/// No transaction has more awaits than this; the loop ends when one is not dropped any more.
const MOST_AWAITS: usize = 400;
/// How often the last await must be reached before the loop ends: timing moves the awaits about.
const UNDROPPED: usize = 20;
const SETTLE: Duration = Duration::from_millis(20);
const SETTLE_TRIES: usize = 500;

const PAIRS: Sql = Sql::same(
    "test.pairs",
    "SELECT count(*) AS halves FROM thing a
     WHERE NOT EXISTS (SELECT 1 FROM thing b WHERE b.id = -a.id)",
);
const COUNT: Sql = Sql::same("test.count", "SELECT count(*) AS count FROM thing WHERE id > 0");
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
    for _ in 0..SETTLE_TRIES {
        let open: i64 = db.fetch_one(&IN_TRANSACTION, &[]).await.unwrap().get("count").unwrap();
        if open == 0 {
            return;
        }
        tokio::time::sleep(SETTLE).await;
    }
    panic!("a connection stays idle in transaction");
}

each_database! {
    async fn at_every_await_of_a_write(database: &TestDatabase) {
        let db = database.open_with(Arc::new(mainstay_base::SystemClock::new()), |options| {
            options.connections = 3;
        }).await;
        create(&db).await.unwrap();
        let rung = Arc::new(AtomicU64::new(0));
        let (mut undropped, mut id) = (0, 0_i64);
        let mut dropped = 0_u64;
        for awaits in 0..MOST_AWAITS {
            id += 1;
            match drop_at_await(awaits, write_pair(&db, id, &rung)).await {
                None => dropped += 1,
                Some(outcome) => {
                    outcome.unwrap();
                    undropped += 1;
                }
            }
            if undropped == UNDROPPED {
                break;
            }
        }
        assert_eq!(undropped, UNDROPPED, "some awaits were never passed");
        assert!(dropped > 3, "the future was hardly dropped at all: {dropped}");
        // A commit that had begun is finished by its own task: wait for the last by writing once.
        write_pair(&db, id + 1, &rung).await.unwrap();
        if db.dialect() == Dialect::Postgres {
            no_transaction_stays_open(&db).await;
        }
        db.close().await;
        let db = database.open().await;
        let halves: i64 = db.fetch_one(&PAIRS, &[]).await.unwrap().get("halves").unwrap();
        assert_eq!(halves, 0, "half a write is seen");
        let pairs: i64 = db.fetch_one(&COUNT, &[]).await.unwrap().get("count").unwrap();
        assert_eq!(
            u64::try_from(pairs).unwrap(),
            rung.load(Ordering::SeqCst),
            "what is committed is announced, and nothing else"
        );
    }

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
        let database = TestDatabase::new(dialect).await;
        let db = database
            .open_with(Arc::new(mainstay_base::SystemClock::new()), |options| {
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
