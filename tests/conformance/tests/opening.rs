//! What can't be opened says so in one sentence, and is left as it was.
#![cfg(test)]

use std::path::Path;
use std::sync::Arc;

use mainstay_base::{Secret, SystemClock};
use mainstay_store::{Db, Dialect, StoreError, StoreOptions, Target};
use mainstay_testkit::TestDatabase;

async fn open(target: Target) -> Result<Db, StoreError> {
    Db::open(StoreOptions::new(target, Arc::new(SystemClock::new()))).await
}

async fn open_file(path: &Path) -> Result<Db, StoreError> {
    open(Target::Sqlite { path: path.to_owned() }).await
}

async fn open_server(url: &str) -> Result<Db, StoreError> {
    open(Target::Postgres { url: Secret::new(url.to_owned()) }).await
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    let text = "these are somebody's notes, not a database\n".repeat(100);
    std::fs::write(&path, &text).unwrap();
    let refused = open_file(&path).await.unwrap_err();
    assert!(matches!(refused, StoreError::Foreign { .. }), "{refused}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}

#[tokio::test]
async fn the_database_of_another_program_is_refused_and_kept() {
    // An SQLite file whose header carries no mark of ours but which holds a table.
    let database = TestDatabase::empty(Dialect::Sqlite).await;
    database.open_migrated().await.close().await;
    let mut bytes = std::fs::read(database.path()).unwrap();
    bytes[68..72].fill(0);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.db");
    std::fs::write(&path, &bytes).unwrap();
    let refused = open_file(&path).await.unwrap_err();
    assert!(refused.to_string().contains("tables of another program"), "{refused}");
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

#[tokio::test]
async fn a_missing_folder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nowhere").join("mainstay.db");
    let refused = open_file(&path).await.unwrap_err();
    let sentence = refused.to_string();
    assert!(
        sentence.contains("nowhere") && sentence.contains("check that its folder exists"),
        "{sentence}"
    );
}

#[cfg(unix)]
#[tokio::test]
async fn the_file_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let database = TestDatabase::empty(Dialect::Sqlite).await;
    database.open_migrated().await;
    let mode = std::fs::metadata(database.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn an_unreachable_server_is_named_without_its_password() {
    let refused = open_server("postgres://anna:hunter2@127.0.0.1:1/ledger").await.unwrap_err();
    let sentence = format!("{refused} {refused:?}");
    assert!(sentence.contains("127.0.0.1:1/ledger"), "{sentence}");
    assert!(sentence.contains("check that it runs"), "{sentence}");
    assert!(!sentence.contains("hunter2"), "{sentence}");
}

#[tokio::test]
async fn an_address_that_is_none_is_refused_without_repeating_it() {
    let refused = open_server("postgres://anna:hunter2@:port/ledger").await.unwrap_err();
    let sentence = format!("{refused} {refused:?}");
    assert!(!sentence.contains("hunter2"), "{sentence}");
}

#[tokio::test]
async fn a_wrong_password_is_told_from_a_missing_server() {
    let database = TestDatabase::empty(Dialect::Postgres).await;
    let address = database.address();
    let (before, after) = address.split_once("://").unwrap().1.split_once('@').unwrap();
    let user = before.split(':').next().unwrap();
    let refused = open_server(&format!("postgres://{user}:wrong@{after}")).await.unwrap_err();
    let sentence = refused.to_string();
    assert!(sentence.contains("password authentication failed"), "{sentence}");
}

#[tokio::test]
async fn sqlite_keeps_what_is_announced_through_a_power_loss() {
    use mainstay_store::Sql;
    const SYNCHRONOUS: Sql = Sql::same("test.synchronous", "PRAGMA synchronous");
    const JOURNAL: Sql = Sql::same("test.journal", "PRAGMA journal_mode");
    let database = TestDatabase::empty(Dialect::Sqlite).await;
    let db = database.open().await;
    let (full, wal) = db
        .write(async |tx| {
            let full: i64 = tx.fetch_one(&SYNCHRONOUS, &[]).await?.get("synchronous")?;
            let wal: String = tx.fetch_one(&JOURNAL, &[]).await?.get("journal_mode")?;
            Ok::<_, StoreError>((full, wal))
        })
        .await
        .unwrap();
    assert_eq!((full, wal.as_str()), (2, "wal"));
}

#[tokio::test]
async fn every_postgres_session_has_its_bounds() {
    use mainstay_store::Sql;
    const BOUNDS: Sql = Sql::same(
        "test.bounds",
        "SELECT current_setting('idle_in_transaction_session_timeout') AS idle,
                current_setting('statement_timeout') AS statement,
                current_setting('lock_timeout') AS lock,
                current_setting('tcp_user_timeout') AS network",
    );
    let database = TestDatabase::empty(Dialect::Postgres).await;
    let db = database.open().await;
    let row = db.fetch_one(&BOUNDS, &[]).await.unwrap();
    let bounds =
        ["idle", "statement", "lock", "network"].map(|name| row.get::<String>(name).unwrap());
    assert_eq!(bounds, ["30s", "30s", "5s", "5000"]);
}
