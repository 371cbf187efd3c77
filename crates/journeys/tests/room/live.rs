//! Runs that are under way: how far they are is seen, and whoever may run them can end them.

use std::time::Duration;

use mainstay_journeys::JourneysError;
use mainstay_journeys::kept::RunStatus;
use mainstay_standins::payments::Settling;
use mainstay_store::Dialect;
use mainstay_testkit::each_database;
use serde_json::{Value, json};

use crate::house::{House, PROGRESSED, SECRET};

fn states(part: &Value) -> Vec<&str> {
    part.as_array().unwrap().iter().map(|one| one["state"].as_str().unwrap()).collect()
}

each_database! {
    async fn how_far_a_run_is_is_seen_while_it_is_under_way(database: &TestDatabase) {
        let house = House::new(database).await;
        house.payments.settle(Settling::NeverSettles);
        let source = house.watching().replace("within: 2m\nsteps", "mode: record\nwithin: 2m\nsteps").replace("    json: {}", "    headers: { authorization: \"{{ secret.TOKEN }}\" }\n    json: {}\n    emit: Created")
            + "  - id: charge\n    needs: [create.Created]\n    get: \"" + &house.payments.base_url() + "/authorizations/{{ id }}/{{ secret.TOKEN }}\"\n";
        let id = house.keep(&source).await.unwrap();
        let run = house.run_now(id).await.unwrap();
        assert_eq!(house.journeys.run(run).await.unwrap().progress, None);
        let runner = house.runner();
        let has_failed = |progress: &Value| progress["steps"][1]["state"] == "failed";
        let seen = house.until(run, |run| run.progress.as_ref().is_some_and(has_failed)).await;
        assert_eq!((seen.run.status, &seen.record), (RunStatus::Running, &None));
        let first = seen.progress.unwrap();
        assert_eq!((states(&first["steps"]), states(&first["pollers"])), (vec!["passed", "failed"], vec!["running"]));
        assert_eq!((&first["events"][0]["name"], &first["pollers"][0]["step"]), (&json!("Created"), &json!("create")));
        assert!(first["steps"][1]["error"].is_string() && first["elapsed_ms"].as_f64().unwrap() >= 1_000.0, "{first}");
        assert_eq!(house.rows_with(SECRET).await, 0);
        // Polls alone make it grow.
        let polls = |progress: &Value| progress["pollers"][0]["poll_count"].as_u64().unwrap();
        house.until(run, |run| run.progress.as_ref().is_some_and(|now| polls(now) > polls(&first))).await;
        let told = house.all_told().await;
        let told: Vec<_> = told.iter().filter(|event| event["type"] == PROGRESSED).collect();
        assert!(told.len() >= 2 && told.iter().all(|event| event["run_id"] == json!(run)), "{told:?}");
        house.payments.settle(Settling::Approves { after: 0 });
        let ended = house.ended(run).await;
        runner.stop().await;
        assert!(ended.progress.is_none() && ended.record.is_some(), "{ended:?}");
    }

    async fn a_run_that_is_cancelled_ends_at_once_and_leaves_its_record(database: &TestDatabase) {
        let house = House::new(database).await;
        house.payments.settle(Settling::Hangs);
        let id = house.keep(&house.watching()).await.unwrap();
        let run = house.run_now(id).await.unwrap();
        // It hears of it by the bell: its next heartbeat comes too late for this test.
        let runner = house.runner_that_seldom_beats();
        house.until(run, |run| run.progress.is_some()).await;
        // Another instance than the one that runs it; SQLite has one.
        let instance = house.later(database, Duration::ZERO).await;
        let other = if house.db.dialect() == Dialect::Postgres { &instance } else { &house };
        let cancelled = other.cancel(run).await.unwrap();
        assert_eq!((cancelled.status, cancelled.message.as_deref()), (RunStatus::Aborted, Some("it was cancelled")));
        let ended = house.until(run, |run| run.record.is_some()).await;
        assert_eq!((ended.run.status, ended.progress), (RunStatus::Aborted, None));
        assert!(ended.run.duration_ms.is_some_and(|took| took >= 1_000.0), "{:?}", ended.run);
        let record = ended.record.unwrap();
        assert_eq!(record["steps"][0]["answer"]["status"], 201);
        assert_eq!((&record["pollers"][0]["state"], &record["failures"][0]["kind"]), (&json!("stopped"), &json!("cancelled")));
        let again = other.cancel(run).await;
        assert!(matches!(again, Err(JourneysError::RunEnded)), "{again:?}");
        // It says nothing about the journey, which is free for the next one.
        assert_eq!(house.journeys.find(id).await.unwrap().journey.outcome, None);
        assert_eq!(house.kinds().await, ["journey:run_finished aborted"]);
        let told = house.all_told().await;
        assert_eq!(told.last().unwrap()["type"], PROGRESSED, "{told:?}");
        house.payments.settle(Settling::Approves { after: 0 });
        assert_eq!(house.run(id).await.run.status, RunStatus::Passed);
        runner.stop().await;
    }

    async fn a_run_that_waits_is_cancelled_and_never_begun(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.keep(&house.source("Pay", "")).await.unwrap();
        let run = house.run_now(id).await.unwrap();
        assert_eq!(house.cancel(run).await.unwrap().status, RunStatus::Aborted);
        let runner = house.runner();
        assert_eq!(house.run(id).await.run.status, RunStatus::Passed);
        runner.stop().await;
        assert_eq!(house.payments.created(), 1);
        let ended = house.journeys.run(run).await.unwrap();
        assert_eq!((ended.run.started_at, ended.record), (None, None));
    }

    async fn a_run_whose_job_is_gone_is_ended_all_the_same(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.keep(&house.source("Pay", "")).await.unwrap();
        let run = house.run_now(id).await.unwrap();
        house.execute("DELETE FROM jobs").await;
        assert_eq!(house.cancel(run).await.unwrap().status, RunStatus::Aborted);
        let unknown = house.cancel(id).await;
        assert!(matches!(unknown, Err(JourneysError::NoRun)), "{unknown:?}");
    }

    async fn how_far_a_run_came_is_seen_when_its_runner_died(database: &TestDatabase) {
        let house = House::new(database).await;
        house.payments.settle(Settling::NeverSettles);
        let id = house.keep(&house.watching()).await.unwrap();
        let run = house.run_now(id).await.unwrap();
        let runner = house.runner_with_grace(Duration::ZERO);
        house.until(run, |run| run.progress.is_some()).await;
        house.tell(run, mainstay_jobs::Cause::CrashLoop).await;
        let died = house.journeys.run(run).await.unwrap();
        assert_eq!((died.run.status, died.progress.is_some()), (RunStatus::Aborted, true), "{died:?}");
        runner.stop().await;
    }
}
