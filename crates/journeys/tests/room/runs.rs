//! Runs as jobs, and what they say about their journey.

use std::time::Duration;

use mainstay_jobs::Cause;
use mainstay_journeys::kept::RunStatus;
use mainstay_journeys::{JourneyEdit, JourneysError, ReadSource, RunOutcome};
use mainstay_standins::payments::Settling;
use mainstay_testkit::each_database;

use crate::house::{House, SECRET};

each_database! {
    async fn a_journey_fails_and_recovers_and_both_are_told_once(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.keep(&house.source("Pay", "touches: [Payments]")).await.unwrap();
        let runner = house.runner();
        let passed = house.run(id).await;
        assert_eq!((passed.run.status, passed.run.message.as_deref()), (RunStatus::Passed, None));
        assert_eq!(passed.record.unwrap()["steps"][0]["answer"]["status"], 201);
        house.payments.settle(Settling::Refuses);
        let failed = house.run(id).await;
        house.run(id).await;
        assert_eq!(failed.run.status, RunStatus::Failed);
        let failing = house.journeys.failing().await.unwrap();
        assert!(failing[0].touches(" payments") && !failing[0].touches("pay"), "{failing:?}");
        assert!(failing[0].message.as_deref().unwrap().contains("create"), "{failing:?}");
        let check = &failed.record.unwrap()["failures"][0]["check"];
        assert_eq!((&check["expected"], &check["got"]), (&201.into(), &503.into()));
        house.payments.settle(Settling::Approves { after: 0 });
        house.run(id).await;
        runner.stop().await;
        assert_eq!(house.kinds().await, [
            "journey:run_finished passed",
            "journey:run_finished failed",
            "journey:failed",
            "journey:run_finished failed",
            "journey:run_finished passed",
            "journey:recovered",
        ]);
        let told = house.told().await;
        assert_eq!(told[2]["touches"], serde_json::json!(["Payments"]));
        assert!(told[5]["failing_since"].is_string(), "{}", told[5]);
        assert_eq!(house.journeys.failing().await.unwrap(), []);
        let strip = house.journeys.find(id).await.unwrap().journey.strip;
        let strip: Vec<_> = strip.iter().map(|mark| mark.status).collect();
        assert_eq!(strip, [RunStatus::Passed, RunStatus::Failed, RunStatus::Failed, RunStatus::Passed]);
    }

    async fn one_run_of_a_journey_at_a_time(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.keep(&house.source("Pay", "")).await.unwrap();
        let first = house.run_now(id).await.unwrap();
        let second = house.run_now(id).await;
        assert!(matches!(second, Err(JourneysError::InProgress { run: Some(run) }) if run == first), "{second:?}");
        let runner = house.runner();
        house.ended(first).await;
        house.run(id).await;
        runner.stop().await;
    }

    async fn a_run_is_of_the_journey_as_it_is_when_it_begins(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.keep(&house.source("Pay", "")).await.unwrap();
        let run = house.run_now(id).await.unwrap();
        let source = house.source("Pay", "").replace("status: 201", "status: 299");
        let source = Some(ReadSource::read(&source).unwrap());
        house.change(id, JourneyEdit { source, ..JourneyEdit::default() }).await;
        let runner = house.runner();
        let ended = house.ended(run).await;
        runner.stop().await;
        assert_eq!((ended.run.status, ended.run.generation), (RunStatus::Failed, 2));
        assert_eq!(ended.record.unwrap()["failures"][0]["check"]["expected"], 299);
        assert_eq!(house.journeys.find(id).await.unwrap().journey.outcome, Some(RunOutcome::Failed));
    }

    async fn a_run_of_an_older_edit_says_nothing_about_the_journey(database: &TestDatabase) {
        let house = House::new(database).await;
        house.payments.settle(Settling::NeverSettles);
        let id = house.keep(&house.watching()).await.unwrap();
        let run = house.run_now(id).await.unwrap();
        let runner = house.runner();
        house.until_created(1).await;
        house.change(id, JourneyEdit { is_enabled: Some(true), ..JourneyEdit::default() }).await;
        house.payments.settle(Settling::Declines);
        let ended = house.ended(run).await.run;
        assert_eq!((ended.status, ended.generation), (RunStatus::Failed, 1));
        assert_eq!(house.journeys.find(id).await.unwrap().journey.outcome, None);
        house.run(id).await;
        runner.stop().await;
        assert_eq!(house.journeys.find(id).await.unwrap().journey.outcome, Some(RunOutcome::Failed));
    }

    async fn a_cancelled_or_deleted_run_leaves_nothing_open(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.keep(&house.source("Pay", "")).await.unwrap();
        let run = house.run_now(id).await.unwrap();
        let job = house.job(run).await;
        house.events.write(async |tx, out| house.jobs.cancel(tx, out, job).await).await.unwrap();
        let ended = house.journeys.run(run).await.unwrap().run;
        assert_eq!((ended.status, ended.message.as_deref()), (RunStatus::Aborted, Some("it was cancelled")));
        assert_eq!(house.journeys.find(id).await.unwrap().journey.outcome, None);
        house.run_now(id).await.unwrap();
        house.events.write(async |tx, out| house.journeys.remove(tx, out, id).await).await.unwrap();
        assert_eq!(house.count("SELECT count(*) AS n FROM journey_runs").await, 0);
        assert_eq!(house.count("SELECT count(*) AS n FROM jobs WHERE status = 'queued'").await, 0);
    }

    async fn a_secret_goes_out_and_into_no_row(database: &TestDatabase) {
        let house = House::new(database).await;
        let base = house.payments.base_url();
        let source = format!("journey: echo\nsteps:\n  - id: echo\n    get: \"{base}/echo\"\n    headers: {{ authorization: \"Bearer {{{{ secret.TOKEN }}}}\" }}\n    expect: {{ status: 200, body_contains: \"Bearer\" }}\n    capture: {{ all: \"$\" }}\n");
        let id = house.keep(&source).await.unwrap();
        let runner = house.runner();
        let ended = house.run(id).await;
        runner.stop().await;
        assert_eq!(ended.run.status, RunStatus::Passed, "{ended:?}");
        let text = ended.record.unwrap().to_string();
        assert!(!text.contains(SECRET) && text.contains("${TOKEN}"), "{text}");
        // Nor does a failure that quotes the answer tell it to anybody.
        let failing = source.replace("journey: echo", "journey: echoes").replace("body_contains: \"Bearer\"", "json: { headers: other }");
        let id = house.keep(&failing).await.unwrap();
        let runner = house.runner();
        let ended = house.run(id).await.run;
        runner.stop().await;
        assert!(ended.message.as_deref().unwrap().contains("Bearer [secret]"), "{ended:?}");
        assert!(house.rows_with("Bearer [secret]").await >= 3, "the run, the journey and the event");
        assert_eq!(house.rows_with(SECRET).await, 0);
    }

    async fn a_run_that_can_t_begin_has_failed(database: &TestDatabase) {
        let house = House::new(database).await;
        let source = house.source("Pay", "touches: [Payments]").replace("amount: 1", "amount: \"{{ secret.NONE }}\"");
        let warnings = house.journeys.check(&source).warnings;
        assert!(warnings.len() == 1 && warnings[0].contains("MAINSTAY_SECRET_NONE"), "{warnings:?}");
        let id = house.keep(&source).await.unwrap();
        let runner = house.runner();
        let ended = house.run(id).await.run;
        runner.stop().await;
        assert!(ended.message.as_deref().unwrap().contains("NONE"), "{ended:?}");
        assert_eq!(ended.status, RunStatus::Failed);
        // It is the journey that is wrong, and no service.
        let failing = house.journeys.failing().await.unwrap();
        assert_eq!((failing.len(), failing[0].touches.len()), (1, 0), "{failing:?}");
        assert_eq!(house.told().await[1]["touches"], serde_json::json!([]));
    }

    async fn what_nobody_could_give_a_value_is_refused_with_its_place(database: &TestDatabase) {
        let house = House::new(database).await;
        let source = "journey: x\nevery: 1m\nvars: {base: null}\nsteps:\n- id: a\n  get: '{{ base }}/'\n";
        let refused = house.keep(source).await;
        let Err(JourneysError::Mistakes(mistakes)) = refused else { panic!("{refused:?}") };
        assert_eq!((mistakes.len(), mistakes[0].line, mistakes[0].path.as_str()), (1, 3, "vars.base"));
        assert_eq!(house.journeys.check(source).mistakes, mistakes);
        house.keep(&source.replace("every: 1m\n", "")).await.unwrap();
    }

    async fn old_runs_go_and_the_records_of_those_that_passed_sooner(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.keep(&house.source("Pay", "")).await.unwrap();
        let runner = house.runner();
        let first = house.run(id).await.run.id;
        // Many more of the same, all older than what comes.
        house.execute("INSERT INTO journey_runs (id, journey_id, generation, triggered_by, status, created_at, finished_at, record, is_shortened)
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
            SELECT '00000000-0000-7000-8000-' || CAST(100000000000 + i AS text), journey_id, 1, 'manual', CASE WHEN i % 2 = 0 THEN 'passed' ELSE 'failed' END, 0, 0, '{}', 0
            FROM n CROSS JOIN journey_runs").await;
        house.run(id).await;
        runner.stop().await;
        assert_eq!(house.count("SELECT count(*) AS n FROM journey_runs").await, 300);
        let kept = house.count("SELECT count(*) AS n FROM journey_runs WHERE status = 'passed' AND record IS NOT NULL").await;
        let failed = house.count("SELECT count(*) AS n FROM journey_runs WHERE status = 'failed' AND record IS NULL").await;
        assert!(kept <= 30 && failed == 0, "{kept} {failed}");
        assert!(house.journeys.run(first).await.unwrap().record.is_some());
    }

    async fn a_run_whose_runner_stops_is_not_begun_again(database: &TestDatabase) {
        let house = House::new(database).await;
        house.payments.settle(Settling::NeverSettles);
        let id = house.keep(&house.watching()).await.unwrap();
        let run = house.run_now(id).await.unwrap();
        let runner = house.runner_with_grace(Duration::from_millis(100));
        house.until_created(1).await;
        runner.stop().await;
        let ended = house.journeys.run(run).await.unwrap().run;
        assert_eq!(ended.status, RunStatus::Aborted, "{ended:?}");
        assert!(ended.message.as_deref().unwrap().contains("was stopped before its end"), "{ended:?}");
        house.payments.settle(Settling::Approves { after: 0 });
        let next = house.runner();
        assert_eq!(house.run(id).await.run.status, RunStatus::Passed);
        next.stop().await;
        assert_eq!(house.payments.created(), 2, "each run has asked once");
    }

    async fn a_run_that_is_given_back_waits_only_if_it_was_not_begun(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.keep(&house.source("Pay", "")).await.unwrap();
        let run = house.run_now(id).await.unwrap();
        house.tell(run, Cause::Claimed).await;
        house.tell(run, Cause::Released).await;
        assert_eq!(house.statuses(id).await, [RunStatus::Queued]);
        house.execute("UPDATE journey_runs SET status = 'running', started_at = 1").await;
        house.tell(run, Cause::Released).await;
        assert_eq!(house.statuses(id).await, [RunStatus::Aborted]);
        // Its job is no one's any more, and the journey is not held up.
        let runner = house.runner();
        assert_eq!(house.run(id).await.run.status, RunStatus::Passed);
        runner.stop().await;
        assert_eq!(house.payments.created(), 1);
    }

    async fn a_run_that_has_ended_is_not_begun_by_trying_its_job_again(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.keep(&house.source("Pay", "")).await.unwrap();
        let run = house.run_now(id).await.unwrap();
        let job = house.job(run).await;
        house.events.write(async |tx, out| house.jobs.cancel(tx, out, job).await).await.unwrap();
        house.events.write(async |tx, out| house.jobs.retry(tx, out, job).await).await.unwrap();
        let runner = house.runner();
        house.until_count("SELECT count(*) AS n FROM jobs WHERE status = 'failed' AND last_error_code = 'run_begun_before'", 1).await;
        runner.stop().await;
        assert_eq!(house.payments.created(), 0);
        let ended = house.journeys.run(run).await.unwrap().run;
        assert_eq!((ended.status, ended.message.as_deref()), (RunStatus::Aborted, Some("it was cancelled")));
    }

    async fn a_run_whose_runner_died_is_aborted_and_sends_nothing_again(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.keep(&house.source("Pay", "")).await.unwrap();
        let run = house.run_now(id).await.unwrap();
        house.execute("UPDATE journey_runs SET status = 'running', started_at = 1").await;
        house.execute("UPDATE jobs SET status = 'processing', started = 1, attempts = 1, claim_at = 1, lease_token = 1,
            locked_at = 1, heartbeat_at = 1, locked_by = 'dead', lock_ttl_seconds = 1").await;
        let runner = house.runner();
        let ended = house.ended(run).await.run;
        runner.stop().await;
        assert_eq!(ended.status, RunStatus::Aborted, "{ended:?}");
        assert!(ended.message.as_deref().unwrap().contains("died"), "{ended:?}");
        assert_eq!((house.payments.created(), house.kinds().await), (0, vec!["journey:run_finished aborted".to_owned()]));
    }
}
