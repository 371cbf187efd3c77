//! A disk without room refuses writes, and nothing else: nothing half done, and once there is room
//! again, writes go on by themselves.
#![cfg(test)]
#![cfg(unix)]

use std::process::Command;
use std::time::Duration;

use mainstay_conformance_tests::{COUNT, INSERT, count, create, insert};
use mainstay_store::{Db, Dialect, StoreError, values};
use mainstay_testkit::TestDatabase;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Set in the process that may fill its disk: a limit holds for a whole process.
const INSIDE: &str = "MAINSTAY_TEST_FULL_DISK";

const PROBE_LIMIT: Duration = Duration::from_secs(5);

/// Runs the test `name` in a process of its own, which is refused room instead of ended by a signal:
/// what a shell ignores stays ignored in what it becomes.
#[expect(clippy::disallowed_methods, reason = "how a test knows that it is the inner process")]
fn in_a_process_of_its_own(name: &str, test: impl Future<Output = ()>) {
    if std::env::var_os(INSIDE).is_some() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        return runtime.block_on(test);
    }
    let ran = Command::new("sh")
        .args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture"])
        .env(INSIDE, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    assert!(String::from_utf8_lossy(&ran.stdout).contains("1 passed"), "nothing ran: {said}");
}

/// No file may grow beyond `bytes`.
fn limit_files(bytes: Option<u64>) {
    let maximum = getrlimit(Resource::Fsize).maximum;
    setrlimit(Resource::Fsize, Rlimit { current: bytes, maximum }).unwrap();
}

/// No room for what comes next in the write-ahead log.
fn fill_the_disk(database: &TestDatabase) {
    let mut log = database.path().as_os_str().to_owned();
    log.push("-wal");
    limit_files(Some(std::fs::metadata(log).unwrap().len()));
}

async fn insert_two(db: &Db, id: i64) -> Result<(), StoreError> {
    db.write(async |tx| {
        tx.execute(&INSERT, values![id, "one", None::<i64>]).await?;
        tx.execute(&INSERT, values![id + 1, "other", None::<i64>]).await?;
        Ok(())
    })
    .await
}

#[test]
fn a_commit_without_room_fails_alone() {
    in_a_process_of_its_own("a_commit_without_room_fails_alone", async {
        let database = TestDatabase::empty(Dialect::Sqlite).await;
        let db = database.open().await;
        create(&db).await.unwrap();
        assert_eq!(count(&db).await.unwrap(), 0);
        db.probe_write(PROBE_LIMIT).await.unwrap();
        fill_the_disk(&database);
        let refused = insert_two(&db, 1).await.unwrap_err();
        assert!(
            matches!(refused, StoreError::Environment { statement: "commit", .. }),
            "{refused:?}"
        );
        for id in [3, 5, 7] {
            let refused = insert_two(&db, id).await.unwrap_err();
            assert!(refused.is_transient(), "{refused:?}");
        }
        assert_eq!(count(&db).await.unwrap(), 0, "what was refused is not there");
        db.write(async |tx| tx.fetch_one(&COUNT, &[]).await).await.unwrap();
        let noticed = db.probe_write(PROBE_LIMIT).await.unwrap_err();
        assert!(matches!(noticed, StoreError::Environment { .. }), "{noticed:?}");
        limit_files(None);
        db.probe_write(PROBE_LIMIT).await.unwrap();
        insert_two(&db, 9).await.unwrap();
        insert(&db, 1, Some("again")).await.unwrap();
        assert_eq!(count(&db).await.unwrap(), 3, "writes go on once there is room");
    });
}
