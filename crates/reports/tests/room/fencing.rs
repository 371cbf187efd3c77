//! Two attempts at the same report: the one whose lease holds wins, and the other touches nothing of it.

use std::time::Duration;

use futures_util::FutureExt as _;
use mainstay_jobs::RunnerOptions;
use mainstay_reports::{Draft, FileStatus, ObjectErrorKind};
use mainstay_testkit::each_database;

use crate::house::{House, Log, SECOND, good, remove, whole, window};
use crate::storage::Call;

const TTL: Duration = Duration::from_secs(300);

/// A runner that says that it is alive so rarely that it seems dead by the clock of a later house.
fn silent() -> RunnerOptions {
    RunnerOptions { ttl: TTL, poll: Duration::from_millis(50), ..RunnerOptions::new("silent") }
}

/// Waits (bounded) until so many puts were done.
async fn until_puts(house: &House, count: usize) {
    for _ in 0..6_000 {
        if house.faults().count(Call::Stored) >= count {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("only {} puts came", house.faults().count(Call::Stored));
}

each_database! {
    async fn a_late_attempt_neither_finishes_nor_removes_what_the_newer_one_made(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        house.writer.say(good("by the late one"));
        let gate = house.faults().hold_puts();
        let id = house.upload(user, "x").await.unwrap();
        let late = house.run_with(silent());
        // Its report is stored, and it stands still before it can say so.
        until_puts(&house, 1).await;
        let stored = house.storage.keys().await;
        assert_eq!(stored.len(), 2);
        let newer = house.later(database, TTL + 10 * SECOND).await;
        newer.writer.say(good("by the newer one"));
        let runner = newer.run();
        until_puts(&house, 2).await;
        // Both go on, the late one first in line.
        gate.add_permits(2);
        let file = newer.until(user, id, FileStatus::Succeeded).await;
        runner.stop().await;
        late.stop().await;
        let read = newer.reports.read(user, id).await.unwrap();
        assert_eq!(read.report, whole("by the newer one"));
        assert_eq!(file.attempts, 2);
        let mut wanted = vec![file.keys.original, file.keys.report.unwrap()];
        wanted.sort_by_key(|key| !key.contains("attempts"));
        assert_eq!(house.storage.keys().await, wanted, "the late one has removed its own");
        let ready = newer.told(user).await.iter().filter(|kind| *kind == "report_ready").count();
        assert_eq!(ready, 1);
    }

    async fn a_late_answer_that_is_no_report_changes_nothing_of_the_newer_one(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let (raw, summary) = ("no".to_owned(), "no report".to_owned());
        house.writer.say(Ok(Draft::Unfit { code: "schema_validation_failed", raw, summary }));
        let gate = house.faults().hold_puts();
        let id = house.upload(user, "x").await.unwrap();
        let late = house.run_with(silent());
        until_puts(&house, 1).await;
        let newer = house.later(database, TTL + 10 * SECOND).await;
        let runner = newer.run();
        until_puts(&house, 2).await;
        gate.add_permits(2);
        let file = newer.until(user, id, FileStatus::Succeeded).await;
        runner.stop().await;
        late.stop().await;
        assert_eq!(newer.file(user, id).await, file);
        assert_eq!((file.keys.raw, file.error), (None, None));
        assert_eq!(house.storage.keys().await.len(), 2, "the late one has removed its own");
    }

    async fn what_a_loser_cannot_remove_is_told(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let gate = house.faults().hold_puts();
        let id = house.upload(user, "x").await.unwrap();
        let log = Log::listen();
        let late = house.run_with(silent());
        until_puts(&house, 1).await;
        let newer = house.later(database, TTL + 10 * SECOND).await;
        let runner = newer.run();
        until_puts(&house, 2).await;
        house.faults().fail(Call::Delete, ObjectErrorKind::Transient);
        gate.add_permits(2);
        newer.until(user, id, FileStatus::Succeeded).await;
        runner.stop().await;
        late.stop().await;
        assert!(log.tells("orphan_report_object", id), "{}", log.text());
        assert_eq!(house.storage.keys().await.len(), 3);
        house.faults().mend();
        let much_later = house.later(database, 26 * 3_600 * SECOND).await;
        assert_eq!(much_later.reports.sweep_objects().await.unwrap().objects, 1);
        assert!(much_later.reports.read(user, id).await.is_ok());
    }

    async fn what_a_dropped_attempt_stores_late_is_removed(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let gate = house.faults().hold_puts();
        let id = house.upload_of(user, "x", window()).await.unwrap();
        let runner = house.run_with(RunnerOptions { ttl: 2 * SECOND, grace: Duration::ZERO, ..silent() });
        until_puts(&house, 1).await;
        // It has gone on for longer than its runner waits for it.
        runner.stop().await;
        assert_eq!(house.storage.keys().await.len(), 2);
        assert!(house.reports.landed().now_or_never().is_none(), "a stop waits for it");
        gate.add_permits(2);
        house.reports.landed().await;
        let file = house.file(user, id).await;
        assert_eq!(house.storage.keys().await, [file.keys.original]);
        assert_eq!((file.status, file.keys.report), (FileStatus::Queued, None));
    }

    async fn what_a_dropped_attempt_cannot_remove_is_told(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let gate = house.faults().hold_puts();
        let id = house.upload(user, "x").await.unwrap();
        let log = Log::listen();
        let runner = house.run_with(RunnerOptions { ttl: 2 * SECOND, grace: Duration::ZERO, ..silent() });
        until_puts(&house, 1).await;
        runner.stop().await;
        house.faults().fail(Call::Delete, ObjectErrorKind::Transient);
        gate.add_permits(1);
        house.reports.landed().await;
        assert!(log.tells("orphan_report_object", id), "{}", log.text());
    }

    async fn a_file_that_is_deleted_while_its_report_is_made_leaves_nothing(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let gate = house.faults().hold_puts();
        let id = house.upload(user, "x").await.unwrap();
        let runner = house.run();
        until_puts(&house, 1).await;
        remove(&house, user, id).await.unwrap();
        gate.add_permits(1);
        runner.stop().await;
        house.reports.landed().await;
        assert_eq!(house.storage.keys().await, Vec::<String>::new());
        assert_eq!(house.count("SELECT count(*) AS n FROM files").await, 0);
    }
}
