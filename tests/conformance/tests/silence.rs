//! A PostgreSQL that falls silent without hanging up holds nobody for ever, and costs no connection.
#![cfg(test)]

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::SystemClock;
use mainstay_conformance_tests::{INSERT, count, create, insert};
use mainstay_store::{Db, Dialect, Sql, StoreError, StoreOptions, values};
use mainstay_testkit::{SlowProxy, TestDatabase};

/// More than a busy machine takes for any answer that comes.
const ANSWER_LIMIT: Duration = Duration::from_secs(2);
/// Far more than a bounded wait takes, far less than the server's own limits.
const PATIENCE: Duration = Duration::from_secs(60);
/// More than there are connections.
const ROUNDS: i64 = 3;

/// Takes long enough for the server to fall silent meanwhile.
const ECHO: Sql = Sql::same(
    "test.echo",
    "SELECT CAST($1 AS BIGINT) AS echo FROM (SELECT pg_sleep(0.5)) AS slept",
);
const MEANWHILE: Duration = Duration::from_millis(50);

struct House {
    db: Db,
    proxy: SlowProxy,
    _database: TestDatabase,
}

async fn house() -> House {
    let database = TestDatabase::empty(Dialect::Postgres).await;
    let proxy = SlowProxy::before(database.server_address(), Duration::ZERO).await;
    let target = database.through(proxy.address());
    let mut options = StoreOptions::new(target, Arc::new(SystemClock::new()));
    options.connections = 2;
    options.answer_limit = ANSWER_LIMIT;
    let db = Db::open(options).await.unwrap();
    create(&db).await.unwrap();
    House { db, proxy, _database: database }
}

async fn soon<F: Future>(work: F) -> F::Output {
    tokio::time::timeout(PATIENCE, work).await.expect("nobody waits for ever")
}

async fn echo(db: &Db, number: i64) -> Result<i64, StoreError> {
    db.fetch_one(&ECHO, values![number]).await?.get("echo")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_without_an_answer_ends_and_its_connection_with_it() {
    let House { db, proxy, _database } = house().await;
    for round in 0..ROUNDS {
        let silent: Result<(), StoreError> = soon(db.write(async |tx| {
            tx.now().await?;
            proxy.swallow(1);
            tx.execute(&INSERT, values![round, "lost", None::<i64>]).await.map(drop)
        }))
        .await;
        let error = silent.unwrap_err();
        assert!(
            matches!(error, StoreError::Unreachable { .. }) && error.is_transient(),
            "{error:?}"
        );
        assert!(error.to_string().contains("no answer within 2000 ms"), "{error}");
    }
    soon(insert(&db, 1, Some("kept"))).await.unwrap();
    assert_eq!(soon(count(&db)).await.unwrap(), 1, "what was not answered is rolled back");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_without_an_answer_ends_and_the_next_gets_its_own() {
    let House { db, proxy, _database } = house().await;
    for round in 0..ROUNDS {
        assert_eq!(soon(echo(&db, round)).await.unwrap(), round);
        // Its connection is back by then, so that the silence falls on the statement.
        tokio::time::sleep(MEANWHILE).await;
        let freezing = async {
            tokio::time::sleep(MEANWHILE).await;
            proxy.freeze();
        };
        let (silent, ()) = tokio::join!(soon(echo(&db, -1)), freezing);
        let error = silent.unwrap_err();
        assert!(error.is_transient(), "{error:?}");
        proxy.thaw();
    }
    assert_eq!(soon(echo(&db, 7)).await.unwrap(), 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_without_an_answer_is_unknown() {
    let House { db, proxy, _database } = house().await;
    for round in 0..ROUNDS {
        let silent: Result<(), StoreError> = soon(db.write(async |tx| {
            tx.execute(&INSERT, values![round, "perhaps", None::<i64>]).await?;
            proxy.swallow(1);
            Ok(())
        }))
        .await;
        assert!(matches!(silent, Err(StoreError::CommitUnknown { .. })), "{silent:?}");
    }
    assert_eq!(soon(count(&db)).await.unwrap(), ROUNDS, "only the answer was lost");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_hangs_up_on_silence_costs_no_connection() {
    let House { db, proxy, _database } = house().await;
    for round in 0..ROUNDS {
        let dropped = soon(db.write(async |tx| {
            tx.now().await?;
            proxy.swallow(1);
            let lost = values![round, "lost", None::<i64>];
            // Whoever asked hangs up once the answer is lost: a later one is nobody's to lose.
            tokio::select! {
                _ = tx.execute(&INSERT, lost) => {}
                () = proxy.until_swallowed() => {}
            }
            Ok(())
        }));
        assert!(matches!(dropped.await, Err(StoreError::Poisoned)));
    }
    soon(insert(&db, 1, Some("kept"))).await.unwrap();
    assert_eq!(soon(count(&db)).await.unwrap(), 1);
}
