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
        all_succeed_at_once(&TestDatabase::new(Dialect::Sqlite).await).await;
    }
}

each_database! {
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
    let database = TestDatabase::new(Dialect::Postgres).await;
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
    let database = TestDatabase::new(Dialect::Sqlite).await;
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
    let database = TestDatabase::new(Dialect::Postgres).await;
    let db = database.open().await;
    db.write(async |tx| tx.execute(&FOREIGN, &[]).await).await.unwrap();
    let refused = open(&database).await.unwrap_err();
    assert!(matches!(refused, StoreError::Foreign { .. }), "{refused}");
}

#[tokio::test]
async fn a_database_that_takes_no_writes_says_so() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let url = format!("{}?options=-c%20default_transaction_read_only%3Don", database.address());
    let target = mainstay_store::Target::Postgres { url: mainstay_base::Secret::new(url) };
    let clock = Arc::new(SystemClock::new());
    let db = Db::open(StoreOptions::new(target, clock)).await.unwrap();
    let refused = migrate::up(&db).await.unwrap_err();
    assert!(matches!(refused, StoreError::Denied { .. }), "{refused}");
    assert!(refused.to_string().contains("the primary"), "{refused}");
}
