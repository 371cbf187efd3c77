//! A write is whole or not at all, and nobody waits for ever.
#![cfg(test)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use mainstay_base::{Clock as _, SystemClock};
use mainstay_conformance_tests::{COUNT, INSERT, count, create, insert};
use mainstay_store::{Db, Dialect, Sql, StoreError, values};
use mainstay_testkit::{FakeClock, each_database};

const SHORT: Duration = Duration::from_millis(500);
/// For what comes, however busy the machine is.
const LONG: Duration = Duration::from_secs(30);

const PARENT: Sql = Sql::same("test.parent", "CREATE TABLE parent (id BIGINT PRIMARY KEY)");
/// What refers to nothing is found out at the commit only.
const CHILD: Sql = Sql::same(
    "test.child",
    "CREATE TABLE child (parent BIGINT REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED)",
);
const ORPHAN: Sql = Sql::same("test.orphan", "INSERT INTO child (parent) VALUES (1)");
const FIRST_PARENT: Sql = Sql::same("test.first_parent", "INSERT INTO parent (id) VALUES (1)");
const CHILDREN: Sql = Sql::same("test.children", "SELECT count(*) AS count FROM child");
const SESSION: Sql =
    Sql::pair("test.session", "SELECT 0 AS session", "SELECT pg_backend_pid()::bigint AS session");

const SESSIONS: Sql =
    Sql::same("test.sessions", "SELECT count(*) AS count FROM pg_stat_activity WHERE pid = $1");

/// A session whose outcome is in doubt is not used again.
async fn ends(db: &Db, session: i64) {
    for _ in 0..500 {
        let row = db.fetch_one(&SESSIONS, values![session]).await.unwrap();
        if row.get::<i64>("count").unwrap() == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the session {session} is still there");
}

async fn patient(database: &mainstay_testkit::TestDatabase) -> Db {
    database.open_with(Arc::new(SystemClock::new()), |options| options.wait = SHORT).await
}

each_database! {
    empty;
    async fn an_error_rolls_everything_back(database: &TestDatabase) {
        let db = database.open().await;
        create(&db).await.unwrap();
        let failed: Result<(), StoreError> = db.write(async |tx| {
            tx.execute(&INSERT, values![1_i64, "a", None::<i64>]).await?;
            tx.execute(&INSERT, values![1_i64, "b", None::<i64>]).await?;
            Ok(())
        }).await;
        assert!(matches!(failed, Err(StoreError::Unique { statement: "test.insert" })));
        assert_eq!(count(&db).await.unwrap(), 0);
    }

    async fn a_refused_commit_spoils_nothing_for_the_next_write(database: &TestDatabase) {
        let db = database.open().await;
        db.write(async |tx| {
            tx.execute(&PARENT, &[]).await?;
            tx.execute(&CHILD, &[]).await
        }).await.unwrap();
        let mut session = 0;
        let refused: Result<u64, StoreError> = db.write(async |tx| {
            session = tx.fetch_one(&SESSION, &[]).await?.get("session")?;
            tx.execute(&ORPHAN, &[]).await
        }).await;
        assert!(matches!(refused, Err(StoreError::Reference { statement: "commit" })), "{refused:?}");
        db.write(async |tx| tx.execute(&FIRST_PARENT, &[]).await).await.unwrap();
        let children: i64 = db.fetch_one(&CHILDREN, &[]).await.unwrap().get("count").unwrap();
        assert_eq!(children, 0, "the refused child is not there");
        if db.dialect() == Dialect::Postgres {
            ends(&db, session).await;
        }
    }

    async fn a_writer_that_nobody_gets_is_noticed(database: &TestDatabase) {
        let db = database.open_with(Arc::new(SystemClock::new()), |options| {
            options.connections = 2;
        }).await;
        db.probe_write(LONG).await.unwrap();
        let (holds, held) = tokio::sync::oneshot::channel();
        let (release, released) = tokio::sync::oneshot::channel::<()>();
        let holder = tokio::spawn({
            let db = db.clone();
            async move {
                db.write(async move |_| {
                    holds.send(()).unwrap();
                    let _ = released.await;
                    Ok::<_, StoreError>(())
                }).await
            }
        });
        held.await.unwrap();
        let noticed = db.probe_write(SHORT).await;
        assert!(matches!(noticed, Err(StoreError::Busy { waited: SHORT })), "{noticed:?}");
        release.send(()).unwrap();
        holder.await.unwrap().unwrap();
        db.probe_write(LONG).await.unwrap();
    }

    async fn a_busy_writer_that_commits_is_well(database: &TestDatabase) {
        let db = database.open_with(Arc::new(SystemClock::new()), |options| {
            options.connections = 2;
            options.wait = LONG;
        }).await;
        create(&db).await.unwrap();
        let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let writers: Vec<_> = (0..50).map(|_| {
            let (db, stop) = (db.clone(), Arc::clone(&stop));
            tokio::spawn(async move {
                while !stop.load(Ordering::SeqCst) {
                    db.write(async |_| {
                        tokio::time::sleep(Duration::from_millis(100)).await;
                        Ok::<_, StoreError>(())
                    }).await.unwrap();
                }
            })
        }).collect();
        tokio::time::sleep(Duration::from_millis(150)).await;
        // Its own turn would come after all of theirs, which take longer: five seconds.
        db.probe_write(Duration::from_secs(4)).await.unwrap();
        stop.store(true, Ordering::SeqCst);
        for writer in writers {
            writer.await.unwrap();
        }
    }

    async fn a_swallowed_error_is_not_committed(database: &TestDatabase) {
        let db = database.open().await;
        create(&db).await.unwrap();
        let rung = Arc::new(AtomicU32::new(0));
        let bell = Arc::clone(&rung);
        let swallowed: Result<(), StoreError> = db.write(async |tx| {
            tx.after_commit(move || { bell.fetch_add(1, Ordering::SeqCst); });
            tx.execute(&INSERT, values![1_i64, "a", None::<i64>]).await?;
            let _ = tx.execute(&INSERT, values![1_i64, "b", None::<i64>]).await;
            Ok(())
        }).await;
        assert!(matches!(swallowed, Err(StoreError::Poisoned)));
        assert_eq!(count(&db).await.unwrap(), 0);
        assert_eq!(rung.load(Ordering::SeqCst), 0, "nothing is announced that was not committed");
    }

    async fn nothing_runs_in_a_failed_transaction(database: &TestDatabase) {
        let db = database.open().await;
        create(&db).await.unwrap();
        let mut inside = None;
        let after: Result<(), StoreError> = db.write(async |tx| {
            let _ = tx.execute(&INSERT, values![1_i64, "a\0", None::<i64>]).await;
            inside = Some(tx.fetch_all(&COUNT, &[]).await.map(drop));
            Ok(())
        }).await;
        assert!(matches!(inside, Some(Err(StoreError::Poisoned))), "{inside:?}");
        assert!(matches!(after, Err(StoreError::Poisoned)));
    }

    async fn a_statement_that_was_given_up_is_not_committed(database: &TestDatabase) {
        let db = database.open().await;
        create(&db).await.unwrap();
        // Long enough that it can't be answered before it is given up.
        const MANY: Sql = Sql::same(
            "test.many",
            "INSERT INTO thing (id)
             WITH RECURSIVE series (n) AS (
               SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < 500000
             ) SELECT n FROM series",
        );
        let given_up: Result<(), StoreError> = db.write(async |tx| {
            let dropped = mainstay_testkit::drop_at_await(0, tx.execute(&MANY, &[])).await;
            assert!(dropped.is_none(), "the statement was answered without waiting");
            Ok(())
        }).await;
        assert!(matches!(given_up, Err(StoreError::Poisoned)), "{given_up:?}");
        assert_eq!(count(&db).await.unwrap(), 0);
    }

    async fn a_read_transaction_takes_no_write(database: &TestDatabase) {
        const SNEAK: Sql =
            Sql::same("test.sneak", "INSERT INTO thing (id) VALUES (1) RETURNING id");
        let db = database.open().await;
        create(&db).await.unwrap();
        let refused = db.snapshot(async |snapshot| snapshot.fetch_all(&SNEAK, &[]).await).await;
        assert!(matches!(refused, Err(StoreError::Denied { .. })), "{refused:?}");
        if db.dialect() == Dialect::Sqlite {
            let refused = db.fetch_all(&SNEAK, &[]).await;
            assert!(matches!(refused, Err(StoreError::Denied { .. })), "{refused:?}");
        }
        assert_eq!(count(&db).await.unwrap(), 0);
    }

    async fn closing_is_bounded_even_when_somebody_stays_inside(database: &TestDatabase) {
        let db = database.open().await;
        create(&db).await.unwrap();
        let (entered, waiting) = tokio::sync::oneshot::channel();
        let staying = tokio::spawn({
            let db = db.clone();
            async move {
                db.write(async |tx| {
                    tx.execute(&INSERT, values![1_i64, "a", None::<i64>]).await?;
                    let _ = entered.send(());
                    std::future::pending::<Result<(), StoreError>>().await
                }).await
            }
        });
        waiting.await.unwrap();
        let closing = tokio::time::timeout(LONG, db.close()).await;
        assert!(closing.is_ok(), "closing waits for ever");
        staying.abort();
    }

    async fn the_bell_rings_once_after_the_commit(database: &TestDatabase) {
        let db = database.open().await;
        create(&db).await.unwrap();
        let rung = Arc::new(AtomicU32::new(0));
        let bell = Arc::clone(&rung);
        db.write(async |tx| {
            tx.after_commit(move || { bell.fetch_add(1, Ordering::SeqCst); });
            tx.execute(&INSERT, values![1_i64, "a", None::<i64>]).await
        }).await.unwrap();
        assert_eq!(rung.load(Ordering::SeqCst), 1);
    }

    async fn a_bell_that_panics_keeps_the_write_and_the_other_bells(database: &TestDatabase) {
        let db = database.open().await;
        create(&db).await.unwrap();
        let rung = Arc::new(AtomicU32::new(0));
        let bell = Arc::clone(&rung);
        db.write(async |tx| {
            tx.after_commit(|| panic!("the bell is broken"));
            tx.after_commit(move || { bell.fetch_add(1, Ordering::SeqCst); });
            tx.execute(&INSERT, values![1_i64, "a", None::<i64>]).await
        }).await.unwrap();
        assert_eq!(rung.load(Ordering::SeqCst), 1);
        assert_eq!(count(&db).await.unwrap(), 1);
    }

    async fn a_write_inside_a_write_is_refused_at_once(database: &TestDatabase) {
        let db = database.open().await;
        create(&db).await.unwrap();
        let inner = Arc::new(std::sync::Mutex::new(None));
        let outer: Result<(), StoreError> = db.write(async |tx| {
            tx.execute(&INSERT, values![1_i64, "outer", None::<i64>]).await?;
            let nested = insert(&db, 2, Some("inner")).await;
            *inner.lock().unwrap() = Some(nested);
            Ok(())
        }).await;
        outer.unwrap();
        let nested = inner.lock().unwrap().take().unwrap();
        assert!(matches!(nested, Err(StoreError::NestedWrite)));
        assert_eq!(count(&db).await.unwrap(), 1, "the outer write is kept");
    }

    async fn two_writes_side_by_side_in_one_task_are_no_nesting(database: &TestDatabase) {
        let db = database.open().await;
        create(&db).await.unwrap();
        let (first, second) = tokio::join!(insert(&db, 1, None), insert(&db, 2, None));
        first.unwrap();
        second.unwrap();
        assert_eq!(count(&db).await.unwrap(), 2);
    }

    async fn a_snapshot_sees_one_state_while_others_write(database: &TestDatabase) {
        let db = database.open().await;
        create(&db).await.unwrap();
        insert(&db, 1, None).await.unwrap();
        let (before, after) = db.snapshot(async |snapshot| {
            let before: i64 = snapshot.fetch_one(&COUNT, &[]).await?.get("count")?;
            insert(&db, 2, None).await?;
            let after: i64 = snapshot.fetch_one(&COUNT, &[]).await?.get("count")?;
            Ok::<_, StoreError>((before, after))
        }).await.unwrap();
        assert_eq!((before, after), (1, 1));
        assert_eq!(count(&db).await.unwrap(), 2);
    }

    async fn many_writers_all_get_through(database: &TestDatabase) {
        let db = database.open().await;
        create(&db).await.unwrap();
        let writers: Vec<_> = (0..64_i64).map(|id| {
            let db = db.clone();
            tokio::spawn(async move { insert(&db, id, Some("x")).await })
        }).collect();
        for writer in writers {
            writer.await.unwrap().unwrap();
        }
        assert_eq!(count(&db).await.unwrap(), 64);
    }

    async fn a_closed_store_says_so_and_has_kept_what_was_committed(database: &TestDatabase) {
        let db = database.open().await;
        create(&db).await.unwrap();
        insert(&db, 1, None).await.unwrap();
        db.close().await;
        assert!(matches!(insert(&db, 2, None).await, Err(StoreError::Closed)));
        assert!(matches!(db.ping().await, Err(StoreError::Closed)));
        assert_eq!(count(&database.open().await).await.unwrap(), 1);
    }

    async fn the_database_clock_can_be_moved_by_a_test(database: &TestDatabase) {
        let clock = Arc::new(FakeClock::new());
        let db = database.open_with(Arc::clone(&clock) as _, |_| {}).await;
        let before = db.now().await.unwrap();
        match db.dialect() {
            Dialect::Sqlite => clock.advance(Duration::from_secs(3_600)),
            Dialect::Postgres => db.shift_clock(3_600_000),
        }
        let moved = db.now().await.unwrap().since(before);
        assert!(moved >= Duration::from_secs(3_600), "{moved:?}");
        assert!(moved < Duration::from_secs(3_660), "{moved:?}");
    }
}

/// PostgreSQL lets several writers in; SQLite has one, and the wait for it is bounded.
#[tokio::test]
async fn the_wait_for_the_sqlite_writer_is_bounded() {
    let database = mainstay_testkit::TestDatabase::empty(Dialect::Sqlite).await;
    let db = patient(&database).await;
    create(&db).await.unwrap();
    let waiting = db.clone();
    db.write(async |tx| {
        tx.execute(&INSERT, values![1_i64, "first", None::<i64>]).await?;
        // Another task, so that this is a wait and not a nesting.
        let second = tokio::spawn(async move { insert(&waiting, 2, None).await }).await;
        assert!(matches!(second, Ok(Err(StoreError::Busy { waited: SHORT }))), "{second:?}");
        Ok::<_, StoreError>(())
    })
    .await
    .unwrap();
    insert(&db, 2, None).await.unwrap();
}

/// The time of PostgreSQL is its own, so that several instances agree.
#[tokio::test]
async fn postgres_does_not_take_its_time_from_the_injected_clock() {
    let database = mainstay_testkit::TestDatabase::empty(Dialect::Postgres).await;
    let db = database.open_with(Arc::new(FakeClock::new()), |_| {}).await;
    let now = db.now().await.unwrap();
    let real = SystemClock::new().now();
    assert!(now.since(real).max(real.since(now)) < Duration::from_secs(60));
}

#[tokio::test]
async fn a_server_that_is_read_only_takes_no_writes() {
    const READ_ONLY: Sql = Sql::same(
        "test.read_only",
        "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$",
    );
    let database = mainstay_testkit::TestDatabase::empty(Dialect::Postgres).await;
    let before = database.open().await;
    before.write(async |tx| tx.execute(&READ_ONLY, &[]).await).await.unwrap();
    let db = database.open().await;
    db.ping().await.unwrap();
    let noticed = db.probe_write(LONG).await;
    assert!(matches!(noticed, Err(StoreError::Denied { .. })), "{noticed:?}");
}
