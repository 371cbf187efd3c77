//! The schedule: due runs are queued once, bounded, and never piled up.

use std::time::Duration;

use mainstay_journeys::engine::STARTED_TOGETHER;
use mainstay_journeys::kept::{RunStatus, Trigger};
use mainstay_testkit::each_database;

use crate::house::House;

each_database! {
    async fn a_due_journey_is_queued_once_and_again_after_its_interval(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.keep(&house.source("Pay", "every: 1m")).await.unwrap();
        house.keep(&house.source("By hand", "")).await.unwrap();
        assert_eq!(house.journeys.start_due().await.unwrap(), 1);
        assert_eq!(house.journeys.start_due().await.unwrap(), 0);
        let runner = house.runner();
        let run = house.journeys.runs(id, None, 1).await.unwrap().items.remove(0);
        assert_eq!(run.trigger, Trigger::Schedule);
        house.ended(run.id).await;
        runner.stop().await;
        let later = house.later(database, Duration::from_secs(61)).await;
        assert_eq!(later.journeys.start_due().await.unwrap(), 1);
        assert_eq!(later.statuses(id).await, [RunStatus::Queued, RunStatus::Passed]);
    }

    async fn what_takes_longer_than_its_interval_is_skipped_and_said(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.keep(&house.source("Pay", "every: 10s")).await.unwrap();
        house.journeys.start_due().await.unwrap();
        // An hour without a look is one skipped run, not 360.
        let later = house.later(database, Duration::from_secs(3_600)).await;
        assert_eq!(later.journeys.start_due().await.unwrap(), 1);
        assert_eq!(later.journeys.start_due().await.unwrap(), 0);
        assert_eq!(later.statuses(id).await, [RunStatus::Skipped, RunStatus::Queued]);
        assert_eq!(later.kinds().await, ["journey:run_finished skipped"]);
        let skipped = later.journeys.runs(id, None, 1).await.unwrap().items.remove(0);
        let message = skipped.message.unwrap();
        assert!(message.contains("had not ended: it waits for a runner for 3"), "{message}");
        assert_eq!(house.journeys.find(id).await.unwrap().journey.not_run_since, None, "an hour before");
        let first = later.journeys.runs(id, None, 9).await.unwrap().items.pop().unwrap();
        let since = later.journeys.find(id).await.unwrap().journey.not_run_since;
        assert_eq!(since, Some(first.created_at));
        let listed = later.journeys.list("PAY", None, 9).await.unwrap().items;
        assert_eq!(listed[0].not_run_since, since);
    }

    async fn what_is_skipped_for_long_is_trimmed_and_not_run_since_the_same_time(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.keep(&house.source("Pay", "every: 10s")).await.unwrap();
        let runner = house.runner();
        let judged = house.run(id).await.run;
        runner.stop().await;
        for _ in 0..401 {
            house.execute("UPDATE journeys SET next_run_at = 1").await;
            assert_eq!(house.journeys.start_due().await.unwrap(), 1);
        }
        assert_eq!(house.count("SELECT count(*) AS n FROM journey_runs").await, 300);
        assert_eq!(house.count("SELECT count(*) AS n FROM journey_runs WHERE status = 'queued'").await, 1);
        let since = house.journeys.find(id).await.unwrap().journey.not_run_since;
        assert_eq!(since, judged.finished_at);
        assert!(house.journeys.run(judged.id).await.is_ok(), "what it says is from this run");
    }

    async fn many_that_are_due_at_once_are_begun_in_portions_and_by_one_instance_each(database: &TestDatabase) {
        let house = House::new(database).await;
        let count = STARTED_TOGETHER + 10;
        for index in 0..count {
            house.keep(&house.source(&format!("j{index}"), "every: 1m")).await.unwrap();
        }
        let now = house.db.now().await.unwrap();
        assert_eq!(house.journeys.due_count(now).await.unwrap(), count);
        let other = house.later(database, Duration::from_millis(1)).await;
        let (one, two) = tokio::join!(house.journeys.start_due(), other.journeys.start_due());
        let (one, two) = (one.unwrap(), two.unwrap());
        assert!(one <= STARTED_TOGETHER && two <= STARTED_TOGETHER, "{one} {two}");
        let begun = i64::try_from(one + two).unwrap();
        assert_eq!(house.count("SELECT count(*) AS n FROM journey_runs").await, begun);
        while house.journeys.start_due().await.unwrap() > 0 {}
        assert_eq!(house.count("SELECT count(*) AS n FROM journey_runs").await, i64::try_from(count).unwrap());
        assert_eq!(house.count("SELECT count(*) AS n FROM jobs").await, i64::try_from(count).unwrap());
        assert_eq!(house.count("SELECT count(*) AS n FROM journey_runs WHERE status = 'skipped'").await, 0);
    }

    async fn what_somebody_asks_for_goes_before_all_that_is_only_due(database: &TestDatabase) {
        let house = House::new(database).await;
        for number in 0..10 {
            house.keep(&house.source(&format!("due {number}"), "every: 1h")).await.unwrap();
        }
        assert_eq!(house.journeys.start_due().await.unwrap(), 10);
        let id = house.keep(&house.source("By hand", "")).await.unwrap();
        let run = house.run_now(id).await.unwrap();
        let runner = house.weak_runner();
        let asked = house.ended(run).await.run;
        house.until_count("SELECT count(*) AS n FROM journey_runs WHERE finished_at IS NULL", 0).await;
        runner.stop().await;
        let first = house.count("SELECT min(started_at) AS n FROM journey_runs").await;
        assert_eq!(asked.started_at.unwrap().as_millis(), first);
        let last = house.count("SELECT max(started_at) AS n FROM journey_runs").await;
        assert!(first < last, "one goes at a time");
    }
}
