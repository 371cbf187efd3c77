//! From the queued job to the report, or to what went wrong.

use mainstay_base::Timestamp;
use mainstay_jobs::JobError;
use mainstay_reports::{Draft, FileStatus, ObjectErrorKind, ReportsError, Window};
use mainstay_testkit::each_database;
use serde_json::json;

use crate::house::{House, Log, SECOND, good, remove, whole};
use crate::storage::Call;

each_database! {
    async fn a_report_is_made_once_and_its_owner_is_told(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let id = house.upload(user, "Ada: it is down").await.unwrap();
        assert!(matches!(house.reports.read(user, id).await, Err(ReportsError::NotReady)));
        let runner = house.run();
        let file = house.until(user, id, FileStatus::Succeeded).await;
        runner.stop().await;
        assert_eq!((file.attempts, file.error, file.next_run_at), (1, None, None));
        assert!(file.processed_at.is_some() && file.started_at.is_some());
        assert_eq!(file.title.as_deref(), Some("an incident"));
        assert_eq!(file.made_with.unwrap().model, "test");
        let report = file.keys.report.unwrap();
        assert!(report.starts_with(&format!("users/{user}/files/{id}/attempts/")), "{report}");
        assert!(report.ends_with("/report.json"), "{report}");
        assert_eq!(house.storage.keys().await.len(), 2);
        let read = house.reports.read(user, id).await.unwrap();
        assert_eq!((read.report, read.recorded), (whole("an incident"), None));
        assert_eq!(read.not_found.unwrap(), ["/impact/evidence/0"]);
        assert_eq!(read.lines_left_out, Some(7));
        assert_eq!(house.writer.seen(), [("Ada: it is down".to_owned(), None)]);
        let told = house.told(user).await;
        assert_eq!(told, [
            "file_state_changed processing", "file_state_changed queued", "file_state_changed processing",
            "file_state_changed succeeded", "report_ready",
        ]);
    }

    async fn what_was_recorded_is_told_to_the_writer_and_kept(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let at = Timestamp::from_millis;
        let window = Window { from: at(1_767_225_600_000), to: at(1_767_225_602_000) };
        let id = house.upload_of(user, "it is down", Some(window)).await.unwrap();
        let runner = house.run();
        let file = house.until(user, id, FileStatus::Succeeded).await;
        runner.stop().await;
        assert_eq!(file.window, Some(window));
        let recorded = house.writer.seen().pop().unwrap().1.unwrap();
        assert_eq!(recorded.entries[0].what, "orders went down");
        let read = house.reports.read(user, id).await.unwrap();
        assert_eq!(read.recorded, Some(json!({
            "from": "2026-01-01T00:00:00.000Z",
            "to": "2026-01-01T00:00:02.000Z",
            "covered": {"from": "2026-01-01T00:00:00.000Z", "to": "2026-01-01T00:00:02.000Z"},
            "entries": [{"at": "2026-01-01T00:00:01.000Z", "what": "orders went down"}],
        })));
    }

    async fn what_may_work_later_is_tried_again(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        house.writer.say(Err(JobError::retriable("llm_timeout", "no answer came")));
        let id = house.upload(user, "x").await.unwrap();
        let runner = house.run();
        let file = loop {
            let file = house.until(user, id, FileStatus::Queued).await;
            if file.error.is_some() {
                break file;
            }
        };
        runner.stop().await;
        assert_eq!(file.attempts, 1);
        assert_eq!(file.error.unwrap().code, "llm_timeout");
        assert!(file.next_run_at.unwrap() > file.started_at.unwrap().plus(20 * SECOND));
        assert_eq!(house.storage.keys().await.len(), 1);
        let later = house.later(database, 60 * SECOND).await;
        let runner = later.run();
        let file = later.until(user, id, FileStatus::Succeeded).await;
        runner.stop().await;
        assert_eq!((file.attempts, file.error), (2, None));
    }

    async fn a_fatal_failure_of_the_model_has_its_finer_word_on_the_job(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        house.writer.say(Err(JobError::fatal("llm_provider_4xx", "the key is wrong")));
        let id = house.upload(user, "x").await.unwrap();
        let runner = house.run();
        let file = house.until(user, id, FileStatus::Failed).await;
        runner.stop().await;
        assert_eq!(file.error.unwrap().code, "llm_call_failed");
        let job = house.jobs.find(file.job_id.unwrap()).await.unwrap().unwrap();
        assert_eq!(job.last_error.unwrap().code, "llm_provider_4xx");
        assert_eq!(house.told(user).await.last().unwrap(), "report_failed");
        assert!(matches!(house.reports.read(user, id).await, Err(ReportsError::NotReady)));
        let shared = house.write(async |tx, _| house.reports.share(tx, user, id, None).await).await;
        assert!(matches!(shared, Err(ReportsError::NotReady)), "there is nothing to share: {shared:?}");
    }

    async fn an_answer_off_the_schema_is_kept_and_not_asked_for_again(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let (raw, summary) = ("{\"a\":1}".to_owned(), "/a: unknown".to_owned());
        let unfit = Draft::Unfit { code: "schema_validation_failed", raw, summary };
        house.writer.say(Ok(unfit));
        let id = house.upload(user, "x").await.unwrap();
        let runner = house.run();
        let file = house.until(user, id, FileStatus::Failed).await;
        let error = file.error.unwrap();
        assert_eq!((error.code.as_str(), error.message.as_str()), ("schema_validation_failed", "/a: unknown"));
        assert_eq!(file.attempts, 1);
        let raw = file.keys.raw.unwrap();
        assert!(raw.ends_with("/raw_llm_output.json"), "{raw}");
        assert_eq!(house.storage.text(&raw).await, "{\"a\":1}");
        assert_eq!(file.keys.report, None);
        house.write(async |tx, out| house.reports.retry(tx, out, user, id).await).await.unwrap();
        let file = house.until(user, id, FileStatus::Succeeded).await;
        runner.stop().await;
        assert_eq!((file.keys.raw, file.error), (None, None));
        assert!(house.reports.read(user, id).await.is_ok());
    }

    async fn a_job_that_is_put_off_uses_no_attempt(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        house.writer.say(Err(JobError::PutOff { wait: 300 * SECOND }));
        let id = house.upload(user, "x").await.unwrap();
        let runner = house.run();
        let file = loop {
            let file = house.until(user, id, FileStatus::Queued).await;
            if file.started_at.is_some() {
                break file;
            }
        };
        runner.stop().await;
        assert_eq!(file.attempts, 0);
        assert_eq!(file.error.unwrap().code, "llm_left_alone", "it says what it waits for");
        let told = house.news(user).await;
        let last = told.last().unwrap();
        assert_eq!((&last["status"], &last["error_code"]), (&json!("queued"), &json!("llm_left_alone")));
        let later = house.later(database, 400 * SECOND).await;
        let runner = later.run();
        let file = later.until(user, id, FileStatus::Succeeded).await;
        runner.stop().await;
        assert_eq!((file.attempts, file.error), (1, None));
    }

    async fn an_original_that_cannot_be_read_is_told(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        let id = house.upload(user, "x").await.unwrap();
        house.faults().fail(Call::Get, ObjectErrorKind::Transient);
        let runner = house.run();
        let file = loop {
            let file = house.until(user, id, FileStatus::Queued).await;
            if file.error.is_some() {
                break file;
            }
        };
        runner.stop().await;
        assert_eq!(file.error.unwrap().code, "s3_read_failed");
        house.faults().mend();
        let lost = house.upload(user, "y").await.unwrap();
        house.storage.lose(&format!("users/{user}/files/{lost}/original.txt")).await;
        let runner = house.run();
        let file = house.until(user, lost, FileStatus::Failed).await;
        runner.stop().await;
        assert_eq!(file.error.unwrap().code, "s3_read_failed");
        assert_eq!(house.writer.seen().len(), 0, "nobody is asked to write of nothing");
    }

    async fn an_artefact_that_cannot_be_stored_leaves_nothing(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        house.faults().fail(Call::Put, ObjectErrorKind::Permanent);
        let id = house.upload(user, "x").await.unwrap();
        let runner = house.run();
        let file = house.until(user, id, FileStatus::Failed).await;
        runner.stop().await;
        assert_eq!(file.error.unwrap().code, "s3_write_failed");
        assert_eq!(house.storage.keys().await.len(), 1);
        assert_eq!(file.keys.report, None);
    }

    async fn a_storage_that_is_left_alone_costs_an_attempt_once_the_model_has_written(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        house.faults().leave_alone(Call::Put, 300 * SECOND);
        house.faults().leave_alone(Call::Delete, 300 * SECOND);
        let log = Log::listen();
        let id = house.upload(user, "x").await.unwrap();
        let runner = house.run();
        let file = loop {
            let file = house.until(user, id, FileStatus::Queued).await;
            if file.error.is_some() {
                break file;
            }
        };
        runner.stop().await;
        assert_eq!((file.attempts, file.error.unwrap().code.as_str()), (1, "s3_write_failed"));
        assert!(file.next_run_at.unwrap() > file.started_at.unwrap().plus(290 * SECOND));
        assert!(!log.tells("orphan_report_object", id), "nothing was ever stored: {}", log.text());
    }

    async fn a_storage_that_is_left_alone_puts_a_read_off(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        house.faults().leave_alone(Call::Get, 300 * SECOND);
        let id = house.upload(user, "x").await.unwrap();
        let runner = house.run();
        let file = loop {
            let file = house.until(user, id, FileStatus::Queued).await;
            if file.error.is_some() {
                break file;
            }
        };
        runner.stop().await;
        assert_eq!((file.attempts, file.error.unwrap().code.as_str()), (0, "s3_left_alone"));
        assert_eq!(house.writer.seen().len(), 0, "nobody was paid");
    }

    async fn an_artefact_that_is_stored_while_the_storage_says_no_is_removed(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        house.faults().fail(Call::Stored, ObjectErrorKind::Permanent);
        let id = house.upload(user, "x").await.unwrap();
        let runner = house.run();
        let file = house.until(user, id, FileStatus::Failed).await;
        runner.stop().await;
        assert_eq!(file.error.unwrap().code, "s3_write_failed");
        assert_eq!(house.faults().count(Call::Stored), 1);
        assert_eq!(house.storage.keys().await, [file.keys.original]);
    }

    async fn a_report_that_cannot_be_read_back_is_told_so(database: &TestDatabase) {
        let house = House::new(database).await;
        let (user, stranger) = (house.user().await, house.user().await);
        let id = house.upload(user, "x").await.unwrap();
        let runner = house.run();
        let file = house.until(user, id, FileStatus::Succeeded).await;
        runner.stop().await;
        let asked = house.faults().count(Call::Get);
        assert!(matches!(house.reports.read(stranger, id).await, Err(ReportsError::NotFound)));
        assert_eq!(house.faults().count(Call::Get), asked, "the storage is not asked for a stranger");
        house.storage.replace(&file.keys.report.unwrap(), b"{\"title\": \"cut").await;
        let log = Log::listen();
        assert!(matches!(house.reports.read(user, id).await, Err(ReportsError::Fetch)));
        assert!(log.tells("report_fetch_failed", id), "{}", log.text());
        for status in ["'failed'", "'queued'", "'processing'"] {
            house.execute(format!("UPDATE files SET status = {status}").leak()).await;
            assert!(matches!(house.reports.read(user, id).await, Err(ReportsError::NotReady)), "{status}");
        }
        house.execute("UPDATE files SET status = 'succeeded', storage_key_report = NULL").await;
        assert!(matches!(house.reports.read(user, id).await, Err(ReportsError::NotReady)));
    }

    async fn a_failed_file_can_be_tried_again_after_its_job_has_left_the_queue(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        house.writer.say(Err(JobError::fatal("llm_provider_failed", "no")));
        let id = house.upload(user, "x").await.unwrap();
        let runner = house.run();
        let failed = house.until(user, id, FileStatus::Failed).await;
        runner.stop().await;
        let later = house.later(database, 40 * 24 * 3_600 * SECOND).await;
        later.jobs.clean_up().await.unwrap();
        later.write(async |tx, out| later.reports.retry(tx, out, user, id).await).await.unwrap();
        assert_ne!(later.file(user, id).await.job_id, failed.job_id);
        let runner = later.run();
        later.until(user, id, FileStatus::Succeeded).await;
        runner.stop().await;
        let again = later.write(async |tx, out| later.reports.retry(tx, out, user, id).await).await;
        assert!(matches!(again, Err(ReportsError::NotFailed)));
    }

    async fn a_deleted_file_takes_everything_with_it(database: &TestDatabase) {
        let house = House::new(database).await;
        let (user, stranger) = (house.user().await, house.user().await);
        let waiting = house.upload(user, "x").await.unwrap();
        let runner = house.run();
        let done = house.upload(user, "y").await.unwrap();
        house.until(user, done, FileStatus::Succeeded).await;
        house.until(user, waiting, FileStatus::Succeeded).await;
        runner.stop().await;
        let queued = house.upload(user, "z").await.unwrap();
        assert!(matches!(remove(&house, stranger, queued).await, Err(ReportsError::NotFound)));
        let job = house.file(user, queued).await.job_id.unwrap();
        for id in [queued, done, waiting] {
            remove(&house, user, id).await.unwrap();
            assert!(matches!(remove(&house, user, id).await, Err(ReportsError::NotFound)));
        }
        let told = house.told(user).await;
        assert!(told.ends_with(&["file_removed", "file_removed", "file_removed"].map(str::to_owned)), "{told:?}");
        assert_eq!(house.storage.keys().await, Vec::<String>::new());
        let job = house.jobs.find(job).await.unwrap().unwrap();
        assert_eq!(job.last_error.unwrap().code, "cancelled");
    }

    async fn each_attempt_has_keys_of_its_own(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = house.user().await;
        // A text without NUL is all that every database holds.
        house.writer.say(good("fir\0st"));
        house.writer.say(good("second"));
        let (one, other) = (house.upload(user, "x").await.unwrap(), house.upload(user, "y").await.unwrap());
        let runner = house.run();
        let one = house.until(user, one, FileStatus::Succeeded).await;
        let other = house.until(user, other, FileStatus::Succeeded).await;
        runner.stop().await;
        assert_ne!(one.keys.report, other.keys.report);
        let titles = [one.title.as_deref().unwrap(), other.title.as_deref().unwrap()];
        assert!(titles.contains(&"fir\u{FFFD}st") && titles.contains(&"second"), "{titles:?}");
    }
}
