//! From the first byte to the queued job, and what is left when that ends early.

use bytes::Bytes;
use mainstay_reports::{FileStatus, MAX_FILE_BYTES, ReportsError};
use mainstay_testkit::each_database;

use crate::house::{House, failing, name, nothing, refusing, until};
use crate::storage::Call;

const PART: usize = 64 * 1024;

async fn is_empty(house: &House) -> bool {
    house.count("SELECT count(*) AS n FROM files").await == 0
        && house.count("SELECT count(*) AS n FROM jobs").await == 0
        && house.storage.keys().await.is_empty()
}

each_database! {
    async fn a_file_is_stored_and_its_report_is_queued(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let id = house.upload(user, "Ada: it is down").await.unwrap();
        let file = house.file(user, id).await;
        assert_eq!((file.status, file.attempts, file.error), (FileStatus::Queued, 0, None));
        assert_eq!((file.name.as_str(), file.size_bytes), ("call.txt", Some(15)));
        let key = format!("users/{user}/files/{id}/original.txt");
        assert_eq!(house.storage.keys().await, [key.as_str()]);
        assert_eq!(house.storage.text(&key).await, "Ada: it is down");
        let job = house.jobs.find(file.job_id.unwrap()).await.unwrap().unwrap();
        assert_eq!((job.kind.as_str(), job.subject.unwrap()), ("report", id.to_string()));
        assert_eq!(house.told(user).await, ["file_state_changed processing", "file_state_changed queued"]);
    }

    async fn an_upload_that_is_abandoned_leaves_nothing(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let mut upload = house.reports.upload(user, name("call.vtt")).unwrap();
        for _ in 0..20 {
            upload.write(Bytes::from(vec![b'x'; PART])).await.unwrap();
        }
        assert_eq!(house.count("SELECT count(*) AS n FROM files").await, 1);
        drop(upload);
        house.reports.landed().await;
        assert!(is_empty(&house).await);
        assert_eq!(house.told(user).await, ["file_state_changed processing", "file_removed"]);
    }

    async fn an_upload_that_is_given_up_while_it_is_stored_leaves_nothing(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let gate = house.faults().hold(Call::Finished);
        let mut upload = house.reports.upload(user, name("call.txt")).unwrap();
        upload.write(Bytes::from_static(b"Ada: it is down")).await.unwrap();
        let finishing = tokio::spawn(upload.finish(None, nothing()));
        until(|| house.faults().count(Call::Finished) == 1).await;
        finishing.abort();
        assert!(finishing.await.unwrap_err().is_cancelled());
        gate.add_permits(1);
        house.reports.landed().await;
        assert!(is_empty(&house).await);
        assert_eq!(house.told(user).await, ["file_state_changed processing", "file_removed"]);
    }

    async fn the_largest_file_fits_and_one_byte_more_leaves_nothing(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let most = usize::try_from(MAX_FILE_BYTES).unwrap();
        let mut upload = house.reports.upload(user, name("call.txt")).unwrap();
        for _ in 0..most / PART {
            upload.write(Bytes::from(vec![b'x'; PART])).await.unwrap();
        }
        let refused = upload.write(Bytes::from_static(b"y")).await;
        assert!(matches!(refused, Err(ReportsError::TooLarge)));
        drop(upload);
        house.reports.landed().await;
        assert!(is_empty(&house).await);
        let mut upload = house.reports.upload(user, name("call.txt")).unwrap();
        for _ in 0..most / PART {
            upload.write(Bytes::from(vec![b'x'; PART])).await.unwrap();
        }
        let id = upload.finish(None, nothing()).await.unwrap();
        assert_eq!(house.file(user, id).await.size_bytes, Some(i64::try_from(most).unwrap()));
    }

    async fn an_upload_without_a_byte_is_refused(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let upload = house.reports.upload(user, name("call.txt")).unwrap();
        assert!(matches!(upload.finish(None, nothing()).await, Err(ReportsError::Empty)));
        house.reports.landed().await;
        assert!(is_empty(&house).await);
    }

    async fn what_goes_with_an_upload_can_refuse_it(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let mut upload = house.reports.upload(user, name("call.txt")).unwrap();
        upload.write(Bytes::from_static(b"x")).await.unwrap();
        let refused = upload.finish(None, refusing()).await;
        assert!(matches!(refused, Err(ReportsError::Beside(_))), "{refused:?}");
        assert!(is_empty(&house).await);
    }

    async fn what_goes_with_an_upload_can_fail_and_then_its_file_has_failed(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let mut upload = house.reports.upload(user, name("call.txt")).unwrap();
        upload.write(Bytes::from_static(b"x")).await.unwrap();
        let id = upload.id();
        let failed = upload.finish(None, failing()).await;
        assert!(matches!(failed, Err(ReportsError::Enqueue(_))), "{failed:?}");
        let file = house.file(user, id).await;
        assert_eq!(file.status, FileStatus::Failed);
        assert_eq!(file.error.unwrap().code, "enqueue_failed");
        assert!(file.job_id.is_none() && house.storage.keys().await.is_empty());
    }

    async fn what_is_undone_is_gone_when_that_is_told(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let mut upload = house.reports.upload(user, name("call.txt")).unwrap();
        upload.write(Bytes::from_static(b"x")).await.unwrap();
        upload.undo().await;
        assert!(is_empty(&house).await);
    }

    async fn nobody_has_more_files_than_one_may_have(database: &TestDatabase) {
        let house = House::new(database).await;
        let (user, other) = (house.user().await, house.user().await);
        house.upload(user, "x").await.unwrap();
        house.execute(
            "INSERT INTO files (user_id, id, original_name, extension, status, storage_key_original,
               processing_attempts, created_at, updated_at)
             WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1999)
             SELECT f.user_id, 'file-' || n.i, 'a.txt', 'txt', 'failed', 'key', 0, 0, 0
             FROM n CROSS JOIN (SELECT user_id FROM files LIMIT 1) AS f",
        ).await;
        assert!(matches!(house.upload(user, "x").await, Err(ReportsError::TooManyFiles)));
        assert!(house.upload(other, "x").await.is_ok(), "others may");
        assert_eq!(house.faults().count(Call::Upload), 2, "nothing is stored before it is written down");
    }
}

#[tokio::test]
async fn without_a_language_model_nothing_is_taken() {
    let database = mainstay_testkit::TestDatabase::new(mainstay_store::Dialect::Sqlite).await;
    let house = House::switched_off(&database).await;
    let user = house.user().await;
    let refused = house.reports.upload(user, name("call.txt")).map(drop);
    assert!(matches!(refused, Err(ReportsError::NotConfigured)));
}
