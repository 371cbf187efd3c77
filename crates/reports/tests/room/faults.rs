//! The storage or the database fails at each step of an upload: what is left, and what the log is told.

use bytes::Bytes;
use mainstay_reports::{FileStatus, ObjectErrorKind, ReportsError};
use mainstay_testkit::each_database;

use crate::house::{House, Log, SECOND, name, nothing};
use crate::storage::Call;

/// The only file of the house.
async fn only(house: &House, user: mainstay_base::Id) -> mainstay_reports::File {
    let mut files = house.reports.list(user, None, 10).await.unwrap().items;
    assert_eq!(files.len(), 1);
    files.pop().unwrap()
}

each_database! {
    async fn a_storage_that_fails_at_any_step_fails_the_file(database: &TestDatabase) {
        for call in [Call::Upload, Call::Write, Call::Finish, Call::Finished] {
            let house = House::new(database).await;
            let user = house.user().await;
            house.faults().fail(call, ObjectErrorKind::Transient);
            let refused = house.upload(user, "x").await;
            assert!(matches!(refused, Err(ReportsError::Storage(_))), "{call:?}: {refused:?}");
            let file = only(&house, user).await;
            assert_eq!(file.status, FileStatus::Failed);
            assert_eq!(file.error.unwrap().code, "s3_put_failed", "{call:?}");
            assert_eq!(house.storage.keys().await, Vec::<String>::new(), "{call:?}");
            assert_eq!(file.job_id, None);
            let told = house.told(user).await;
            assert_eq!(told, ["file_state_changed processing", "file_state_changed failed", "report_failed"]);
            let retried = house.write(async |tx, out| house.reports.retry(tx, out, user, file.id).await).await;
            assert!(matches!(retried, Err(ReportsError::NeverStored)), "{retried:?}");
        }
    }

    async fn an_upload_that_may_be_stored_after_all_is_told_where_it_cannot_be_deleted(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        house.faults().fail(Call::Finished, ObjectErrorKind::Transient);
        house.faults().fail(Call::Delete, ObjectErrorKind::Transient);
        let log = Log::listen();
        house.upload(user, "x").await.unwrap_err();
        let file = only(&house, user).await;
        assert_eq!(file.error.unwrap().code, "s3_put_failed");
        assert_eq!(house.storage.keys().await.len(), 1);
        assert!(log.tells("orphan_s3_object", file.id), "{}", log.text());
    }

    async fn an_upload_that_the_storage_never_heard_of_is_no_orphan(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        house.faults().leave_alone(Call::Finish, SECOND);
        house.faults().leave_alone(Call::Delete, SECOND);
        let log = Log::listen();
        house.upload(user, "x").await.unwrap_err();
        let file = only(&house, user).await;
        assert_eq!(file.error.unwrap().code, "s3_put_failed");
        assert!(!log.tells("orphan_s3_object", file.id), "{}", log.text());
    }

    async fn a_queue_that_fails_fails_the_file_and_takes_its_object(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        house.execute("ALTER TABLE jobs RENAME TO jobs_away").await;
        let log = Log::listen();
        let refused = house.upload(user, "x").await;
        assert!(matches!(refused, Err(ReportsError::Enqueue(_))), "{refused:?}");
        let file = only(&house, user).await;
        assert_eq!((file.status, file.job_id), (FileStatus::Failed, None));
        assert_eq!(file.error.unwrap().code, "enqueue_failed");
        assert_eq!(house.storage.keys().await, Vec::<String>::new());
        assert!(log.tells("orphan_file_without_job", file.id), "{}", log.text());
        assert!(!log.tells("orphan_s3_object", file.id), "{}", log.text());
    }

    async fn an_object_that_stays_behind_is_told(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        house.execute("ALTER TABLE jobs RENAME TO jobs_away").await;
        house.faults().fail(Call::Delete, ObjectErrorKind::Transient);
        let log = Log::listen();
        house.upload(user, "x").await.unwrap_err();
        let file = only(&house, user).await;
        assert_eq!(file.error.unwrap().code, "enqueue_failed");
        assert_eq!(house.storage.keys().await.len(), 1);
        assert!(log.tells("orphan_file_without_job", file.id), "{}", log.text());
        assert!(log.tells("orphan_s3_object", file.id), "{}", log.text());
    }

    async fn an_object_stays_while_the_database_does_not_say_whether_its_report_is_queued(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let mut upload = house.reports.upload(user, name("call.txt")).unwrap();
        upload.write(Bytes::from_static(b"x")).await.unwrap();
        let id = upload.id();
        house.until_written_down(user, id).await;
        house.execute("ALTER TABLE files RENAME TO files_away").await;
        let log = Log::listen();
        let refused = upload.finish(None, nothing()).await;
        assert!(matches!(refused, Err(ReportsError::Enqueue(_))), "{refused:?}");
        assert!(log.tells("orphan_file_without_job", id), "{}", log.text());
        assert_eq!(house.storage.keys().await.len(), 1, "it may be queued for all that is known");
        house.execute("ALTER TABLE files_away RENAME TO files").await;
        let later = house.later(database, 610 * SECOND).await;
        assert_eq!(later.reports.sweep_rows().await.unwrap().uploads, 1);
        let much_later = house.later(database, 26 * 3_600 * SECOND).await;
        assert_eq!(much_later.reports.sweep_objects().await.unwrap().objects, 1);
    }

    async fn a_file_that_cannot_be_written_down_is_never_stored(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        house.execute("ALTER TABLE files RENAME TO files_away").await;
        assert!(house.upload(user, "x").await.is_err());
        assert_eq!(house.faults().count(Call::Upload), 0);
    }
}
