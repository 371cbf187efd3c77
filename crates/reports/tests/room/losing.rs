//! Reports that are lost from the storage, and what earlier attempts left there.

use futures_util::FutureExt as _;
use mainstay_base::Id;
use mainstay_reports::{Draft, FileStatus, ObjectErrorKind, Objects as _, ReportsError};
use mainstay_testkit::each_database;

use crate::house::{House, Log, good, remove, until, whole, window};
use crate::storage::Call;

fn unfit() -> Draft {
    let (raw, summary) = ("{\"a\":1}".to_owned(), "/a: unknown".to_owned());
    Draft::Unfit { code: "schema_validation_failed", raw, summary }
}

async fn retry(house: &House, user: Id, id: Id) -> Result<(), ReportsError> {
    let lost = house.reports.lost_report(user, id).await?;
    let again = house.write(async |tx, out| match &lost {
        Some(lost) => house.reports.remake(tx, out, (user, id), lost).await,
        None => house.reports.retry(tx, out, user, id).await,
    });
    again.await
}

each_database! {
    async fn a_deleted_file_takes_the_answers_of_earlier_attempts_with_it(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        house.writer.say(Ok(unfit()));
        house.writer.say(Ok(unfit()));
        let id = house.upload(user, "x").await.unwrap();
        let beside = format!("users/{user}/files/{id}/notes.txt");
        house.storage.put(&beside, bytes::Bytes::from_static(b"x")).await.unwrap();
        let runner = house.run();
        for _ in 0..2 {
            house.until(user, id, FileStatus::Failed).await;
            retry(&house, user, id).await.unwrap();
        }
        house.until(user, id, FileStatus::Succeeded).await;
        runner.stop().await;
        let raw = house.storage.keys().await.iter().filter(|key| key.contains("raw")).count();
        assert_eq!(raw, 2, "each attempt keeps its own");
        remove(&house, user, id).await.unwrap();
        assert_eq!(house.storage.keys().await, [beside], "what is not ours stays");
        assert!(matches!(retry(&house, user, user).await, Err(ReportsError::NotFound)));
    }

    async fn where_a_deleted_file_cannot_be_listed_what_it_points_at_goes(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let id = house.upload(user, "x").await.unwrap();
        let log = Log::listen();
        house.faults().fail(Call::List, ObjectErrorKind::Transient);
        remove(&house, user, id).await.unwrap();
        assert_eq!(house.storage.keys().await, Vec::<String>::new());
        assert!(log.tells("orphan_s3_object", id), "{}", log.text());
    }

    async fn a_deleted_file_takes_its_objects_with_it_whether_anybody_waits_for_that(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let id = house.upload(user, "x").await.unwrap();
        let gate = house.faults().hold(Call::List);
        let removing = remove(&house, user, id);
        let left = until(|| house.faults().count(Call::List) > 0);
        // Whoever asked for it leaves while the storage does not answer.
        tokio::select! {
            _ = removing => panic!("it came back before its objects were gone"),
            () = left => {}
        }
        assert!(matches!(house.reports.find(user, id).await, Err(ReportsError::NotFound)));
        assert_eq!(house.storage.keys().await.len(), 1);
        assert!(house.reports.landed().now_or_never().is_none(), "a stop waits for it");
        gate.add_permits(1);
        house.reports.landed().await;
        assert_eq!(house.storage.keys().await, Vec::<String>::new());
    }

    async fn a_lost_report_is_made_anew_and_no_other_is(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let id = house.upload(user, "Ada: it is down").await.unwrap();
        let runner = house.run();
        let file = house.until(user, id, FileStatus::Succeeded).await;
        assert!(matches!(retry(&house, user, id).await, Err(ReportsError::NotFailed)));
        let key = file.keys.report.unwrap();
        let garbled: [&'static [u8]; 4] = [b"{\"title\": \"cut", b"[1,2]", b"{\"title\": \"no more\"}", b"null"];
        for garbled in garbled.map(Some).into_iter().chain([None]) {
            house.writer.say(good("made anew"));
            let key = house.file(user, id).await.keys.report.unwrap();
            match garbled {
                Some(bytes) => house.storage.replace(&key, bytes).await,
                None => house.storage.lose(&key).await,
            }
            assert!(matches!(house.reports.read(user, id).await, Err(ReportsError::Fetch)), "{garbled:?}");
            let lost = house.reports.lost_report(user, id).await.unwrap().unwrap();
            retry(&house, user, id).await.unwrap();
            house.until(user, id, FileStatus::Succeeded).await;
            let read = house.reports.read(user, id).await.unwrap();
            assert_eq!(read.report, whole("made anew"));
            let late = house.write(async |tx, out| house.reports.remake(tx, out, (user, id), &lost).await);
            assert!(matches!(late.await, Err(ReportsError::NotFailed)), "it has another by now");
        }
        runner.stop().await;
        assert_ne!(house.file(user, id).await.keys.report.unwrap(), key);
        // A storage that is away says nothing of what it holds.
        house.faults().fail(Call::Get, ObjectErrorKind::Transient);
        assert!(matches!(retry(&house, user, id).await, Err(ReportsError::Fetch)));
        house.faults().fail(Call::Get, ObjectErrorKind::Permanent);
        assert!(matches!(retry(&house, user, id).await, Err(ReportsError::Fetch)));
    }

    async fn a_storage_that_stays_silent_is_told_as_such_in_time(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let id = house.upload(user, "x").await.unwrap();
        let runner = house.run();
        house.until(user, id, FileStatus::Succeeded).await;
        runner.stop().await;
        let gate = house.faults().hold(Call::Get);
        let (impatient, log) = (house.impatient(database).await, Log::listen());
        let read = impatient.reports.read(user, id).await;
        assert!(matches!(read, Err(ReportsError::Fetch)), "{read:?}");
        assert!(log.tells("report_fetch_failed", id), "{}", log.text());
        let lost = impatient.reports.lost_report(user, id).await;
        assert!(matches!(lost, Err(ReportsError::Fetch)), "nothing says that it is lost: {lost:?}");
        gate.add_permits(3);
        assert_eq!(house.reports.read(user, id).await.unwrap().report, whole("an incident"));
    }

    async fn a_file_is_deleted_in_time_though_the_storage_stays_silent(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let id = house.upload(user, "x").await.unwrap();
        let gate = house.faults().hold(Call::List);
        let impatient = house.impatient(database).await;
        remove(&impatient, user, id).await.unwrap();
        assert!(matches!(house.reports.find(user, id).await, Err(ReportsError::NotFound)));
        assert_eq!(house.storage.keys().await.len(), 1, "its object follows");
        gate.add_permits(1);
        impatient.reports.landed().await;
        assert_eq!(house.storage.keys().await, Vec::<String>::new());
    }

    async fn a_report_is_told_without_what_was_recorded_where_only_that_is_lost(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let id = house.upload_of(user, "x", window()).await.unwrap();
        let runner = house.run();
        let file = house.until(user, id, FileStatus::Succeeded).await;
        runner.stop().await;
        let read = house.reports.read(user, id).await.unwrap();
        assert!(read.recorded.is_some() && !read.is_recorded_unreadable);
        house.storage.replace(&file.keys.timeline.unwrap(), b"[").await;
        let log = Log::listen();
        let read = house.reports.read(user, id).await.unwrap();
        assert_eq!(read.report, whole("an incident"));
        assert_eq!((read.recorded, read.is_recorded_unreadable), (None, true));
        assert!(log.tells("timeline_fetch_failed", id), "{}", log.text());
    }

    async fn a_title_that_nobody_can_see_is_none(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        house.writer.say(good("\u{200B} "));
        let id = house.upload(user, "x").await.unwrap();
        let runner = house.run();
        let file = house.until(user, id, FileStatus::Succeeded).await;
        runner.stop().await;
        assert_eq!(file.title, None);
    }
}
