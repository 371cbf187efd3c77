//! Jobs that come again by the clock.

use std::time::Duration;

use mainstay_jobs::{CronJob, JobsError, NewJob, Status};
use mainstay_testkit::each_database;
use serde_json::json;

use crate::house::{House, SECOND, claim, work};

fn hourly() -> CronJob {
    CronJob::new("hourly", "0 * * * *", NewJob::new(work(), json!("tick"))).unwrap()
}

const HOUR: i64 = 3_600_000;
const YEAR: Duration = Duration::from_hours(365 * 24);

async fn finish_all(house: &House) {
    let queue = house.queue("r");
    for job in queue.claim(&claim(9)).await.unwrap().jobs {
        queue.succeed(job.lease()).await.unwrap();
    }
}

each_database! {
    async fn a_schedule_fires_once_at_its_time_however_many_instances_there_are(database: &TestDatabase) {
        let house = House::new(database).await;
        let wait = house.jobs.fire_due(&[hourly()]).await.unwrap();
        assert!(wait <= 30 * SECOND, "it is looked at now and then");
        assert_eq!(house.count("SELECT count(*) AS n FROM jobs").await, 0, "not before its time");
        house.advance(Duration::from_hours(1));
        let instances: Vec<_> = (0..8).map(|_| {
            let jobs = house.jobs.clone();
            tokio::spawn(async move { jobs.fire_due(&[hourly()]).await })
        }).collect();
        for instance in instances {
            instance.await.unwrap().unwrap();
        }
        assert_eq!(house.count("SELECT count(*) AS n FROM jobs").await, 1);
        let queue = house.queue("r");
        let job = queue.claim(&claim(9)).await.unwrap().jobs.pop().unwrap();
        assert_eq!((job.subject.as_deref(), job.payload), (Some("cron:hourly"), json!("tick")));
    }

    async fn what_was_missed_comes_once(database: &TestDatabase) {
        let house = House::new(database).await;
        house.jobs.fire_due(&[hourly()]).await.unwrap();
        house.advance(Duration::from_hours(50));
        for _ in 0..3 {
            house.jobs.fire_due(&[hourly()]).await.unwrap();
        }
        let queue = house.queue("r");
        let job = queue.claim(&claim(9)).await.unwrap().jobs.pop().unwrap();
        queue.succeed(job.lease()).await.unwrap();
        house.jobs.fire_due(&[hourly()]).await.unwrap();
        assert_eq!(house.count("SELECT count(*) AS n FROM jobs").await, 1);
        house.advance(Duration::from_hours(1));
        house.jobs.fire_due(&[hourly()]).await.unwrap();
        assert_eq!(house.count("SELECT count(*) AS n FROM jobs").await, 2);
    }

    async fn a_changed_schedule_counts_from_now_and_a_forgotten_one_rests(database: &TestDatabase) {
        let house = House::new(database).await;
        house.jobs.fire_due(&[hourly()]).await.unwrap();
        house.advance(Duration::from_mins(90));
        let daily = CronJob::new("hourly", "0 3 * * *", NewJob::new(work(), json!(1))).unwrap();
        house.jobs.fire_due(std::slice::from_ref(&daily)).await.unwrap();
        assert_eq!(house.count("SELECT count(*) AS n FROM jobs").await, 0, "it was never due as it is now");
        house.advance(Duration::from_hours(48));
        house.jobs.fire_due(&[]).await.unwrap();
        assert_eq!(house.count("SELECT count(*) AS n FROM jobs").await, 0, "nobody registers it");
        house.jobs.fire_due(&[daily]).await.unwrap();
        assert_eq!(house.count("SELECT count(*) AS n FROM jobs").await, 1);
    }

    async fn a_schedule_goes_on_after_the_clock_was_ahead(database: &TestDatabase) {
        let house = House::new(database).await;
        house.jobs.fire_due(&[hourly()]).await.unwrap();
        house.advance(YEAR);
        house.jobs.fire_due(&[hourly()]).await.unwrap();
        finish_all(&house).await;
        house.set_back(YEAR);
        let wait = house.jobs.fire_due(&[hourly()]).await.unwrap();
        assert!(wait <= 30 * SECOND);
        assert_eq!(house.count("SELECT count(*) AS n FROM jobs").await, 1, "not before its time");
        house.advance(Duration::from_hours(1));
        house.jobs.fire_due(&[hourly()]).await.unwrap();
        assert_eq!(house.count("SELECT count(*) AS n FROM jobs").await, 2);
    }

    async fn a_clock_that_is_set_back_by_a_little_fires_nothing_twice(database: &TestDatabase) {
        let house = House::new(database).await;
        house.jobs.fire_due(&[hourly()]).await.unwrap();
        let now = house.db.now().await.unwrap().as_millis();
        house.advance(Duration::from_millis((HOUR - now % HOUR).try_into().unwrap()) + SECOND);
        house.jobs.fire_due(&[hourly()]).await.unwrap();
        finish_all(&house).await;
        house.set_back(20 * SECOND);
        house.jobs.fire_due(&[hourly()]).await.unwrap();
        house.advance(30 * SECOND);
        house.jobs.fire_due(&[hourly()]).await.unwrap();
        assert_eq!(house.count("SELECT count(*) AS n FROM jobs").await, 1);
    }

    async fn a_run_that_is_unfinished_is_not_doubled(database: &TestDatabase) {
        let house = House::new(database).await;
        house.jobs.fire_due(&[hourly()]).await.unwrap();
        for _ in 0..3 {
            house.advance(Duration::from_hours(1));
            house.jobs.fire_due(&[hourly()]).await.unwrap();
        }
        assert_eq!(house.count("SELECT count(*) AS n FROM jobs").await, 1);
        let part = house.jobs.list(&Default::default(), mainstay_jobs::Page { after: None, limit: 9 }).await.unwrap();
        assert_eq!(part.items[0].status, Status::Queued);
    }
}

#[test]
fn what_is_no_schedule_is_refused() {
    for expression in ["", "every day", "61 * * * *", "* * * *", "0 0 30 2 *"] {
        let refused = CronJob::new("bad", expression, NewJob::new(work(), json!(1)));
        assert!(matches!(refused, Err(JobsError::BadSchedule { .. })), "{expression}");
    }
}
