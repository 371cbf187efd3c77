//! What nobody else ends or refers to.

use bytes::Bytes;
use mainstay_reports::sweep::SweepError;
use mainstay_reports::{FileStatus, ObjectErrorKind, Objects as _};
use mainstay_store::{Sql, values};
use mainstay_testkit::{TestDatabase, each_database};

use crate::house::{House, Log, SECOND, name, remove};
use crate::storage::Call;

const HOUR: std::time::Duration = std::time::Duration::from_secs(3_600);

const LOSE: Sql = Sql::same("test.lose_file", "DELETE FROM files WHERE user_id = $1 AND id = $2");

/// What is left of two files that were deleted.
async fn deleted(house: &House) -> (&'static str, &'static str) {
    house
        .execute(
            "INSERT INTO deleted_files (user_id, file_id, deleted_at) VALUES
             ('01a1e102-8087-7707-8707-070707070701', '01a1e102-8087-7707-8707-070707070701', 0),
             ('01a1e102-8087-7707-8707-070707070709', '01a1e102-8087-7707-8707-070707070709', 0)",
        )
        .await;
    (
        "users/01a1e102-8087-7707-8707-070707070701/files/01a1e102-8087-7707-8707-070707070701/original.txt",
        "users/01a1e102-8087-7707-8707-070707070709/files/01a1e102-8087-7707-8707-070707070709/original.txt",
    )
}

each_database! {
    async fn an_upload_that_lost_its_server_is_given_up_after_ten_minutes(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let mut upload = house.reports.upload(user, name("call.txt")).unwrap();
        upload.write(Bytes::from_static(b"x")).await.unwrap();
        upload.write(Bytes::from_static(b"x")).await.unwrap();
        let id = upload.id();
        // As a server does that is killed: nobody ends it.
        std::mem::forget(upload);
        let queued = house.upload(user, "y").await.unwrap();
        let early = house.later(database, 590 * SECOND).await;
        assert_eq!(early.reports.sweep_rows().await.unwrap().uploads, 0);
        let later = house.later(database, 610 * SECOND).await;
        assert_eq!(later.reports.sweep_rows().await.unwrap().uploads, 1);
        let file = later.file(user, id).await;
        assert_eq!(file.status, FileStatus::Failed);
        assert_eq!(file.error.unwrap().code, "upload_interrupted");
        assert_eq!(later.file(user, queued).await.status, FileStatus::Queued, "one with a job waits");
        assert_eq!(later.told(user).await.last().unwrap(), "report_failed");
        assert_eq!(later.reports.sweep_rows().await.unwrap().uploads, 0);
    }

    async fn a_sweep_goes_on_where_the_one_before_it_ended(database: &TestDatabase) {
        let house = House::new(database).await;
        let (first, last) = deleted(&house).await;
        let later = house.later(database, 25 * HOUR).await;
        house.storage.put(last, Bytes::from_static(b"x")).await.unwrap();
        assert_eq!(later.reports.sweep_lists(1).await.unwrap().objects, 1);
        house.storage.put(first, Bytes::from_static(b"x")).await.unwrap();
        assert_eq!(later.reports.sweep_lists(1).await.unwrap().objects, 0, "it comes to the end");
        assert_eq!(later.reports.sweep_lists(1).await.unwrap().objects, 1, "it begins anew");
    }

    async fn a_sweep_that_was_cut_short_goes_on_where_it_was(database: &TestDatabase) {
        let house = House::new(database).await;
        let (first, last) = deleted(&house).await;
        let later = house.later(database, 25 * HOUR).await;
        house.storage.put(last, Bytes::from_static(b"x")).await.unwrap();
        // A list and a removal pass; the second list does not.
        house.faults().fail_once(2, ObjectErrorKind::Transient);
        let cut = later.reports.sweep_lists(10).await;
        assert!(matches!(cut, Err(SweepError::List(_))), "{cut:?}");
        assert_eq!(house.storage.keys().await, Vec::<String>::new(), "what was swept is swept");
        house.storage.put(first, Bytes::from_static(b"x")).await.unwrap();
        assert_eq!(later.reports.sweep_lists(1).await.unwrap().objects, 0, "it goes on behind that");
        assert_eq!(later.reports.sweep_lists(1).await.unwrap().objects, 1, "it begins anew");
    }

    async fn objects_that_nothing_refers_to_go_after_a_day(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let id = house.upload(user, "x").await.unwrap();
        let runner = house.run();
        house.until(user, id, FileStatus::Succeeded).await;
        runner.stop().await;
        let kept = house.storage.keys().await;
        let gone = house.upload(user, "y").await.unwrap();
        let refused = house.reports.upload(user, name("call.txt")).unwrap();
        let never = refused.id();
        house.until_written_down(user, never).await;
        refused.undo().await;
        remove(&house, user, gone).await.unwrap();
        assert_eq!(house.storage.keys().await, kept);
        let orphans = [
            format!("users/{user}/files/{id}/attempts/0000000000000001/report.json"),
            format!("users/{user}/files/{gone}/original.txt"),
            format!("users/{user}/files/{gone}/attempts/0000000000000001/timeline.json"),
            format!("users/{user}/files/{never}/original.txt"),
        ];
        let strangers = ["users/readme.txt".to_owned(), format!("users/{user}/notes/{id}/a.txt")];
        for key in orphans.iter().chain(&strangers) {
            house.storage.put(key, Bytes::from_static(b"x")).await.unwrap();
        }
        let early = house.later(database, 23 * HOUR).await;
        assert_eq!(early.reports.sweep_objects().await.unwrap().objects, 0);
        let later = house.later(database, 25 * HOUR).await;
        house.faults().fail(Call::Delete, ObjectErrorKind::Transient);
        let swept = later.reports.sweep_objects().await.unwrap();
        assert_eq!((swept.objects, swept.left), (0, 4));
        house.faults().mend();
        let swept = later.reports.sweep_objects().await.unwrap();
        assert_eq!((swept.objects, swept.left, swept.unknown), (4, 0, 0));
        let mut wanted: Vec<String> = kept.into_iter().chain(strangers).collect();
        wanted.sort();
        assert_eq!(house.storage.keys().await, wanted);
        assert!(later.reports.read(user, id).await.is_ok());
    }

    async fn what_another_installation_keeps_in_the_same_storage_stays(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        house.upload(user, "x").await.unwrap();
        let fresh = TestDatabase::new(house.db.dialect()).await;
        let other = house.later(&fresh, 25 * HOUR).await;
        let theirs = other.user().await;
        let id = other.upload(theirs, "y").await.unwrap();
        let kept = house.storage.keys().await;
        let log = Log::listen();
        for (neighbour, file) in [(other, id.to_string()), (house.later(database, 25 * HOUR).await, id.to_string())] {
            let swept = neighbour.reports.sweep_objects().await.unwrap();
            assert_eq!((swept.objects, swept.unknown), (0, 1), "{file}");
        }
        assert_eq!(house.storage.keys().await, kept);
        assert!(log.text().contains("event=\"unknown_objects\""), "{}", log.text());
    }

    async fn a_database_that_was_restored_loses_no_file_that_came_after_the_backup(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let id = house.upload(user, "x").await.unwrap();
        let runner = house.run();
        house.until(user, id, FileStatus::Succeeded).await;
        let lost = house.upload(user, "y").await.unwrap();
        house.until(user, lost, FileStatus::Succeeded).await;
        runner.stop().await;
        // As it was before the second upload, and an hour before the report of the first.
        let values = values![user, lost];
        house.db.write(async |tx| tx.execute(&LOSE, values).await).await.unwrap();
        house.execute("UPDATE files SET status = 'queued', storage_key_report = NULL, storage_key_timeline = NULL, updated_at = updated_at - 3600000").await;
        let kept = house.storage.keys().await;
        let (later, log) = (house.later(database, 25 * HOUR).await, Log::listen());
        let swept = later.reports.sweep_objects().await.unwrap();
        assert_eq!((swept.objects, swept.unknown, swept.undecided), (0, 2, 1));
        let text = log.text();
        let told = text.lines().find(|line| line.contains("event=\"undecided_objects\"") && line.contains(&id.to_string()));
        assert!(told.is_some_and(|line| line.contains("report.json")), "{text}");
        assert_eq!(house.storage.keys().await, kept);
    }

    async fn that_a_file_was_deleted_is_forgotten_after_ninety_days(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let id = house.upload(user, "x").await.unwrap();
        remove(&house, user, id).await.unwrap();
        for (days, remembered) in [(89, 1), (91, 0)] {
            let later = house.later(database, days * 24 * HOUR).await;
            later.reports.sweep_rows().await.unwrap();
            assert_eq!(later.count("SELECT count(*) AS n FROM deleted_files").await, remembered);
        }
    }

    async fn the_original_of_a_file_that_never_had_a_job_goes_too(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        house.execute("ALTER TABLE jobs RENAME TO jobs_away").await;
        house.faults().fail(Call::Delete, ObjectErrorKind::Transient);
        house.upload(user, "x").await.unwrap_err();
        house.execute("ALTER TABLE jobs_away RENAME TO jobs").await;
        house.faults().mend();
        let waiting = house.upload(user, "y").await.unwrap();
        assert_eq!(house.storage.keys().await.len(), 2);
        let later = house.later(database, 25 * HOUR).await;
        assert_eq!(later.reports.sweep_objects().await.unwrap().objects, 1);
        let wanted = format!("users/{user}/files/{waiting}/original.txt");
        assert_eq!(house.storage.keys().await, [wanted]);
    }

    async fn shares_that_expired_long_ago_are_forgotten(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let id = house.upload(user, "x").await.unwrap();
        house.write(async |tx, _| house.reports.share(tx, user, id, Some(60 * SECOND)).await).await.unwrap();
        let later = house.later(database, 29 * 24 * HOUR).await;
        assert_eq!(later.reports.sweep_rows().await.unwrap().shares, 0);
        let later = house.later(database, 31 * 24 * HOUR).await;
        assert_eq!(later.reports.sweep_rows().await.unwrap().shares, 1);
    }
}
