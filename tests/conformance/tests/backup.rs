//! A backup is taken while others write, and a restore brings back exactly that.
#![cfg(test)]

use mainstay_base::Timestamp;
use mainstay_conformance_tests::{INSERT, count, create, insert};
use mainstay_store::backup::{BackupError, backup, restore};
use mainstay_store::lock::DatabaseLock;
use mainstay_store::{Dialect, Sql, StoreError, values};
use mainstay_testkit::TestDatabase;

const NOW: Timestamp = Timestamp::from_millis(1_794_776_400_007);

async fn database_with(rows: i64) -> TestDatabase {
    let database = TestDatabase::empty(Dialect::Sqlite).await;
    let db = database.open_migrated().await;
    create(&db).await.unwrap();
    for id in 1..=rows {
        insert(&db, id, Some("kept")).await.unwrap();
    }
    db.close().await;
    database
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_under_writes_is_a_whole_state() {
    let database = database_with(0).await;
    let db = database.open().await;
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let writing = tokio::spawn({
        let (db, stop) = (db.clone(), std::sync::Arc::clone(&stop));
        async move {
            let mut id = 0_i64;
            while !stop.load(std::sync::atomic::Ordering::SeqCst) {
                id += 1;
                db.write(async |tx| {
                    tx.execute(&INSERT, values![id, "one", None::<i64>]).await?;
                    tx.execute(&INSERT, values![-id, "other", None::<i64>]).await
                })
                .await
                .unwrap();
            }
            id * 2
        }
    });
    let folder = tempfile::tempdir().unwrap();
    for copy in 0..5 {
        let target = folder.path().join(format!("copy-{copy}.db"));
        let copied = backup(database.path(), &target).await.unwrap();
        assert!(copied.bytes > 0);
        let restored = TestDatabase::empty(Dialect::Sqlite).await;
        restore(&target, restored.path(), NOW).await.unwrap();
        assert_eq!(count(&restored.open().await).await.unwrap() % 2, 0, "half a write was copied");
    }
    stop.store(true, std::sync::atomic::Ordering::SeqCst);
    let written = writing.await.unwrap();
    assert_eq!(count(&db).await.unwrap(), written, "the writer lost nothing");
}

#[tokio::test]
async fn a_restore_brings_back_the_state_and_keeps_what_it_replaced() {
    let database = database_with(3).await;
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.db");
    backup(database.path(), &copy).await.unwrap();
    let db = database.open().await;
    insert(&db, 4, Some("after the backup")).await.unwrap();
    db.close().await;

    let restored = restore(&copy, database.path(), NOW).await.unwrap();
    assert_eq!(count(&database.open().await).await.unwrap(), 3);

    let aside = restored.replaced.unwrap();
    let other = TestDatabase::empty(Dialect::Sqlite).await;
    restore(&aside, other.path(), NOW).await.unwrap();
    assert_eq!(count(&other.open().await).await.unwrap(), 4, "what was replaced is whole");
}

const SET_EPOCH: Sql =
    Sql::same("test.set_epoch", "INSERT INTO event_epoch (singleton, epoch) VALUES (1, 'first')");
const EPOCH: Sql = Sql::same("test.epoch", "SELECT epoch FROM event_epoch");

async fn epoch(database: &TestDatabase) -> String {
    database.open().await.fetch_one(&EPOCH, &[]).await.unwrap().get("epoch").unwrap()
}

/// A cursor into the events of one copy must mean nothing in another.
#[tokio::test]
async fn every_copy_and_every_restored_one_has_an_event_epoch_of_its_own() {
    let database = database_with(1).await;
    let db = database.open().await;
    db.write(async |tx| tx.execute(&SET_EPOCH, &[]).await).await.unwrap();
    db.close().await;
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.db");
    backup(database.path(), &copy).await.unwrap();
    assert_eq!(epoch(&database).await, "first", "the original goes on");
    let mut seen = std::collections::BTreeSet::from(["first".to_owned()]);
    for _ in 0..2 {
        let restored = TestDatabase::empty(Dialect::Sqlite).await;
        restore(&copy, restored.path(), NOW).await.unwrap();
        assert!(seen.insert(epoch(&restored).await), "{seen:?}");
    }
    let served = TestDatabase::empty(Dialect::Sqlite).await;
    std::fs::copy(&copy, served.path()).unwrap();
    assert!(seen.insert(epoch(&served).await), "a copy that is served as it is: {seen:?}");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[tokio::test]
async fn a_log_that_was_never_folded_in_does_not_spoil_the_restored_file() {
    let database = database_with(3).await;
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.db");
    backup(database.path(), &copy).await.unwrap();
    // A server that was killed leaves its log behind: copy the files while it is open.
    let db = database.open().await;
    insert(&db, 4, Some("only in the log")).await.unwrap();
    let crashed = folder.path().join("crashed.db");
    for suffix in ["", "-wal"] {
        let from = format!("{}{suffix}", database.path().display());
        std::fs::copy(from, format!("{}{suffix}", crashed.display())).unwrap();
    }
    let restored = restore(&copy, &crashed, NOW).await.unwrap();
    let other = TestDatabase::empty(Dialect::Sqlite).await;
    restore(&crashed, other.path(), NOW).await.unwrap();
    assert_eq!(count(&other.open().await).await.unwrap(), 3);
    let aside = TestDatabase::empty(Dialect::Sqlite).await;
    restore(&restored.replaced.unwrap(), aside.path(), NOW).await.unwrap();
    assert_eq!(count(&aside.open().await).await.unwrap(), 4);
}

#[tokio::test]
async fn a_backup_never_overwrites_and_leaves_nothing_half() {
    let database = database_with(1).await;
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("mine.txt");
    std::fs::write(&target, "mine").unwrap();
    let refused = backup(database.path(), &target).await;
    assert!(matches!(refused, Err(BackupError::Exists { .. })), "{refused:?}");
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "mine");
    let nowhere = folder.path().join("nowhere").join("copy.db");
    assert!(backup(database.path(), &nowhere).await.is_err());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn a_restore_is_refused_while_the_database_is_served() {
    let database = database_with(1).await;
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.db");
    backup(database.path(), &copy).await.unwrap();
    let before = std::fs::read(database.path()).unwrap();
    let _serving = DatabaseLock::take(database.path()).unwrap();
    let refused = restore(&copy, database.path(), NOW).await;
    assert!(matches!(refused, Err(BackupError::Lock(_))), "{refused:?}");
    assert_eq!(std::fs::read(database.path()).unwrap(), before);
}

#[tokio::test]
async fn a_damaged_foreign_or_missing_backup_changes_nothing() {
    let database = database_with(200).await;
    let folder = tempfile::tempdir().unwrap();
    let good = folder.path().join("good.db");
    backup(database.path(), &good).await.unwrap();
    let mut bytes = std::fs::read(&good).unwrap();
    let middle = bytes.len() / 2;
    bytes[4096..middle].fill(0xAA);
    let damaged = folder.path().join("damaged.db");
    std::fs::write(&damaged, &bytes).unwrap();
    let foreign = folder.path().join("foreign.txt");
    std::fs::write(&foreign, "no database at all ".repeat(300)).unwrap();
    let before = std::fs::read(database.path()).unwrap();

    let outcome = restore(&damaged, database.path(), NOW).await;
    assert!(matches!(outcome, Err(BackupError::Damaged { .. })), "{outcome:?}");
    let outcome = restore(&foreign, database.path(), NOW).await;
    assert!(matches!(outcome, Err(BackupError::Store(StoreError::Foreign { .. }))), "{outcome:?}");
    let truncated = folder.path().join("truncated.db");
    std::fs::write(&truncated, &std::fs::read(&good).unwrap()[..5000]).unwrap();
    let empty = folder.path().join("empty.db");
    std::fs::write(&empty, "").unwrap();
    for broken in [&truncated, &empty] {
        let outcome = restore(broken, database.path(), NOW).await;
        assert!(matches!(outcome, Err(BackupError::Damaged { .. })), "{outcome:?}");
    }
    let outcome = restore(folder.path(), database.path(), NOW).await;
    assert!(matches!(outcome, Err(BackupError::Missing { .. })), "a folder: {outcome:?}");
    let outcome = restore(&folder.path().join("missing.db"), database.path(), NOW).await;
    assert!(matches!(outcome, Err(BackupError::Missing { .. })), "{outcome:?}");
    assert_eq!(std::fs::read(database.path()).unwrap(), before);
}

#[tokio::test]
async fn an_interrupted_restore_is_told_at_the_next_start() {
    let database = database_with(1).await;
    let marker = format!("{}.restoring", database.path().display());
    std::fs::write(marker, "").unwrap();
    let options = mainstay_store::StoreOptions::new(
        database.target().clone(),
        std::sync::Arc::new(mainstay_base::SystemClock::new()),
    );
    let refused = mainstay_store::Db::open(options).await.unwrap_err().to_string();
    assert!(refused.contains("mainstay restore FILE"), "{refused}");
}

#[tokio::test]
async fn a_restore_that_fails_before_the_swap_leaves_the_database_in_use() {
    let database = database_with(3).await;
    let folder = tempfile::tempdir().unwrap();
    let good = folder.path().join("good.db");
    backup(database.path(), &good).await.unwrap();
    // The copy can't be made: its name is taken by a folder.
    let blocked = format!("{}.restore-copy", database.path().display());
    std::fs::create_dir(&blocked).unwrap();
    let outcome = restore(&good, database.path(), NOW).await;
    assert!(matches!(outcome, Err(BackupError::Write { .. })), "{outcome:?}");
    assert_eq!(count(&database.open().await).await.unwrap(), 3, "it opens as before");
}

#[tokio::test]
async fn two_backups_to_one_name_at_once_give_one_whole_file() {
    let database = database_with(50).await;
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("copy.db");
    let (first, second) =
        tokio::join!(backup(database.path(), &target), backup(database.path(), &target));
    assert!(first.is_ok() || second.is_ok(), "{first:?} {second:?}");
    let restored = TestDatabase::empty(Dialect::Sqlite).await;
    restore(&target, restored.path(), NOW).await.unwrap();
    assert_eq!(count(&restored.open().await).await.unwrap(), 50);
}

#[cfg(unix)]
#[tokio::test]
async fn a_backup_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let database = database_with(1).await;
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("copy.db");
    backup(database.path(), &target).await.unwrap();
    assert_eq!(std::fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn a_backup_that_is_newer_than_the_binary_is_refused() {
    const FUTURE: Sql = Sql::same(
        "test.future",
        "INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES (9999, 'future', 'x', 0)",
    );
    let newer = database_with(1).await;
    let db = newer.open().await;
    db.write(async |tx| tx.execute(&FUTURE, &[]).await).await.unwrap();
    db.close().await;
    let database = database_with(2).await;
    let outcome = restore(newer.path(), database.path(), NOW).await;
    assert!(
        matches!(outcome, Err(BackupError::Store(StoreError::Newer { found: 9999, .. }))),
        "{outcome:?}"
    );
    assert_eq!(count(&database.open().await).await.unwrap(), 2);
}
