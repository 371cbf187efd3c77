//! The schema goes up, down and up again, and nobody migrates twice or backwards by accident.
#![cfg(test)]

use mainstay_base::{IdSource, SystemClock, SystemRng};
use mainstay_store::{Db, Dialect, Sql, StoreError, StoreOptions, installation, migrate, values};
use mainstay_testkit::{TestDatabase, each_database};
use std::sync::Arc;

const FROM_THE_FUTURE: Sql = Sql::same(
    "test.future",
    "INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES (9999, 'future', 'x', 0)",
);
const EDIT: Sql =
    Sql::same("test.edit", "UPDATE schema_migrations SET checksum = 'other' WHERE version = 1");
/// SQLite keeps the numbers of AUTOINCREMENT in a table of its own, which nobody can drop.
const TABLES: Sql = Sql::pair(
    "test.tables",
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'schema_migrations' AND name <> 'sqlite_sequence' ORDER BY name",
    "SELECT tablename::text AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema_migrations' ORDER BY 1",
);

/// The version after which it is recorded since when something fails.
const BEFORE_FAILING_SINCE: i64 = 12;
/// One that works, one that was degraded before it went down, and one of which no change is kept.
const FAILING: [Sql; 4] = [
    Sql::same(
        "test.services",
        "INSERT INTO services (id, name, name_key, health_endpoint, format, poll_interval_ms,
           timeout_ms, header_names, is_active, revision, generation, created_at, updated_at)
         SELECT v.name, v.name, v.name, 'http://a.test/', 'status', 30000, 10000, '[]', 1, 1, 1, 0, 0
         FROM (SELECT 'a' AS name UNION SELECT 'b' UNION SELECT 'c') AS v ORDER BY v.name",
    ),
    Sql::same(
        "test.states",
        "INSERT INTO service_states (service_no, poll_seq, dependency_revision, status, status_since,
           breaker_state, breaker_failures, breaker_generation, backoff_attempt, healthy_count,
           degraded_count, down_count, skipped_count)
         SELECT v.number, 0, 0, v.status, v.since, 'closed', 0, 0, 0, 0, 0, 0, 0
         FROM (SELECT 1 AS number, 'healthy' AS status, 25 AS since UNION SELECT 2, 'down', 50
               UNION SELECT 3, 'degraded', 70) AS v",
    ),
    Sql::same(
        "test.dependencies",
        "INSERT INTO dependencies (id, service_no, slot, name, canonical_name, canonical_key, kind,
           healthy, state, code, skipped, status, status_since, first_seen_at)
         SELECT v.name, v.number, 0, v.name, v.name, v.name, 'other', 0, 2, 0, 0, v.status, v.since, 0
         FROM (SELECT 1 AS number, 'x' AS name, 'healthy' AS status, 40 AS since
               UNION SELECT 2, 'y', 'down', 40 UNION SELECT 3, 'z', 'down', 80) AS v ORDER BY v.number",
    ),
    Sql::same(
        "test.changes",
        "INSERT INTO changes (at, kind, service_no, dependency_no, before, after) VALUES
           (10, 'service', 2, NULL, 'unknown', 'down'), (20, 'service', 2, NULL, 'down', 'healthy'),
           (30, 'service', 2, NULL, 'healthy', 'degraded'), (50, 'service', 2, NULL, 'degraded', 'down'),
           (10, 'service', 1, NULL, 'unknown', 'down'), (25, 'service', 1, NULL, 'down', 'healthy'),
           (20, 'added', 2, 2, NULL, 'degraded'), (40, 'dependency', 2, 2, 'degraded', 'down')",
    ),
];
const SERVICES_FAIL_SINCE: Sql = Sql::same(
    "test.services_fail_since",
    "SELECT failing_since FROM service_states ORDER BY service_no",
);
const DEPENDENCIES_FAIL_SINCE: Sql = Sql::same(
    "test.dependencies_fail_since",
    "SELECT failing_since FROM dependencies ORDER BY number",
);

async fn tables(db: &Db) -> Vec<String> {
    let rows = db.fetch_all(&TABLES, &[]).await.unwrap();
    rows.iter().map(|row| row.get("name").unwrap()).collect()
}

async fn open(database: &TestDatabase) -> Result<Db, StoreError> {
    let clock = Arc::new(SystemClock::new());
    Db::open(StoreOptions::new(database.target().clone(), clock)).await
}

/// Opens and migrates `database` several times at once.
async fn all_succeed_at_once(database: &TestDatabase) {
    let runs: Vec<_> = (0..4)
        .map(|_| {
            let target = database.target().clone();
            tokio::spawn(async move {
                let db = Db::open(StoreOptions::new(target, Arc::new(SystemClock::new()))).await?;
                migrate::up(&db).await
            })
        })
        .collect();
    let mut applied = 0;
    for run in runs {
        let moved = run.await.unwrap().unwrap();
        assert_eq!(moved.version, migrate::newest());
        applied += moved.steps.len();
    }
    assert_eq!(i64::try_from(applied).unwrap(), migrate::newest(), "each step ran once");
}

/// A fresh file is turned into one with a write-ahead log by whoever comes first, and SQLite does
/// not wait there: a single try hides that.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn several_that_make_a_fresh_file_at_once_all_succeed() {
    for _ in 0..40 {
        all_succeed_at_once(&TestDatabase::empty(Dialect::Sqlite).await).await;
    }
}

each_database! {
    empty;
    async fn up_down_and_up_again_from_a_clean_database(database: &TestDatabase) {
        let db = database.open().await;
        let newest = migrate::newest();
        assert_eq!(migrate::version(&db).await.unwrap(), 0);
        assert!(migrate::status(&db).await.unwrap().iter().all(|step| step.applied_at.is_none()));

        let up = migrate::up(&db).await.unwrap();
        assert_eq!((i64::try_from(up.steps.len()).unwrap(), up.version), (newest, newest));
        let after_first = tables(&db).await;
        assert!(!after_first.is_empty());
        assert!(migrate::status(&db).await.unwrap().iter().all(|step| step.applied_at.is_some()));

        let down = migrate::down(&db, u32::MAX).await.unwrap();
        assert_eq!((down.steps.len(), down.version), (up.steps.len(), 0));
        assert_eq!(tables(&db).await, Vec::<String>::new(), "down leaves nothing behind");
        assert_eq!(migrate::down(&db, 1).await.unwrap().steps, []);

        migrate::up(&db).await.unwrap();
        assert_eq!(tables(&db).await, after_first);
        assert_eq!(migrate::up(&db).await.unwrap().steps, [], "the second run has nothing to do");
    }

    async fn several_that_start_at_once_all_succeed(database: &TestDatabase) {
        all_succeed_at_once(database).await;
    }

    async fn a_newer_database_is_refused_and_left_untouched(database: &TestDatabase) {
        let db = database.open_migrated().await;
        db.write(async |tx| tx.execute(&FROM_THE_FUTURE, &[]).await).await.unwrap();
        let before = tables(&db).await;
        for refused in [migrate::up(&db).await, migrate::down(&db, 1).await] {
            assert!(matches!(refused, Err(StoreError::Newer { found: 9999, .. })), "{refused:?}");
        }
        assert_eq!(tables(&db).await, before);
        db.close().await;
        let refused = open(database).await.unwrap_err();
        let sentence = refused.to_string();
        assert!(sentence.contains("9999") && sentence.contains("untouched"), "{sentence}");
    }

    async fn an_edited_migration_is_refused(database: &TestDatabase) {
        let db = database.open_migrated().await;
        db.write(async |tx| tx.execute(&EDIT, &[]).await).await.unwrap();
        db.close().await;
        let refused = open(database).await.unwrap_err();
        assert!(matches!(refused, StoreError::ChangedMigration { version: 1 }), "{refused}");
    }

    async fn what_fails_when_it_is_migrated_does_so_since_it_last_worked(database: &TestDatabase) {
        let db = database.open().await;
        migrate::up(&db).await.unwrap();
        let later = migrate::newest() - BEFORE_FAILING_SINCE;
        migrate::down(&db, u32::try_from(later).unwrap()).await.unwrap();
        let written: Result<(), StoreError> = db.write(async |tx| {
            for sql in &FAILING {
                tx.execute(sql, &[]).await?;
            }
            Ok(())
        }).await;
        written.unwrap();
        migrate::up(&db).await.unwrap();
        for (sql, expected) in [(SERVICES_FAIL_SINCE, [None, Some(30), Some(70)]), (DEPENDENCIES_FAIL_SINCE, [None, Some(20), Some(80)])] {
            let rows = db.fetch_all(&sql, &[]).await.unwrap();
            let found: Vec<Option<i64>> = rows.iter().map(|row| row.get("failing_since").unwrap()).collect();
            assert_eq!(found, expected);
        }
    }

    async fn an_installation_is_made_once(database: &TestDatabase) {
        let db = database.open_migrated().await;
        let ids = IdSource::new(Arc::new(SystemClock::new()), Arc::new(SystemRng));
        let first = installation::find_or_create(&db, ids.next()).await.unwrap();
        let second = installation::find_or_create(&db, ids.next()).await.unwrap();
        assert_eq!(first, second);
    }
}

/// On PostgreSQL somebody else may hold the lock; on SQLite this is the writer's bounded wait.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_comes_second_waits_for_the_first() {
    const HOLD: Sql = Sql::same("test.hold", "SELECT pg_advisory_xact_lock($1)");
    const WAITING: Sql = Sql::same(
        "test.waiting",
        "SELECT count(*) AS count FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
    );
    let database = TestDatabase::empty(Dialect::Postgres).await;
    let db = database.open().await;
    let second = database.open().await;
    let migrating = db
        .write(async |tx| {
            tx.fetch_all(&HOLD, values![0x4D53_5459_0001_i64]).await?;
            let migrating = tokio::spawn(async move { migrate::up(&second).await });
            let mut waiting = 0_i64;
            while waiting == 0 {
                waiting = db.fetch_one(&WAITING, &[]).await?.get("count")?;
            }
            assert!(!migrating.is_finished());
            Ok::<_, StoreError>(migrating)
        })
        .await
        .unwrap();
    assert_eq!(migrating.await.unwrap().unwrap().version, migrate::newest());
}

/// Whatever refuses must not have written first, however often it is tried.
#[tokio::test]
async fn a_newer_file_keeps_every_byte() {
    let database = TestDatabase::empty(Dialect::Sqlite).await;
    let db = database.open_migrated().await;
    db.write(async |tx| tx.execute(&FROM_THE_FUTURE, &[]).await).await.unwrap();
    db.close().await;
    let before = std::fs::read(database.path()).unwrap();
    for _ in 0..20 {
        assert!(matches!(open(&database).await, Err(StoreError::Newer { found: 9999, .. })));
        assert_eq!(std::fs::read(database.path()).unwrap(), before);
        let log = std::fs::metadata(format!("{}-wal", database.path().display()));
        assert!(log.map_or(0, |log| log.len()) == 0, "something stands in the log");
    }
}

#[tokio::test]
async fn a_table_of_another_program_is_not_taken_for_ours() {
    const FOREIGN: Sql =
        Sql::same("test.foreign", "CREATE TABLE schema_migrations (version TEXT PRIMARY KEY)");
    let database = TestDatabase::empty(Dialect::Postgres).await;
    let db = database.open().await;
    db.write(async |tx| tx.execute(&FOREIGN, &[]).await).await.unwrap();
    let refused = open(&database).await.unwrap_err();
    assert!(matches!(refused, StoreError::Foreign { .. }), "{refused}");
}

#[tokio::test]
async fn a_database_that_takes_no_writes_says_so() {
    let database = TestDatabase::empty(Dialect::Postgres).await;
    let url = format!("{}?options=-c%20default_transaction_read_only%3Don", database.address());
    let target = mainstay_store::Target::Postgres { url: mainstay_base::Secret::new(url) };
    let clock = Arc::new(SystemClock::new());
    let db = Db::open(StoreOptions::new(target, clock)).await.unwrap();
    let refused = migrate::up(&db).await.unwrap_err();
    assert!(matches!(refused, StoreError::Denied { .. }), "{refused}");
    assert!(refused.to_string().contains("the primary"), "{refused}");
}
