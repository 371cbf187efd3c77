//! The upkeep as a runner runs it.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, IdSource, SystemClock, SystemRng};
use mainstay_events::{Events, EventsOptions};
use mainstay_jobs::{Handler, Jobs, JobsOptions, Kind, NewJob, Runner, RunnerOptions, Status};
use mainstay_store::Db;
use mainstay_testkit::each_database;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::latency::upkeep::KIND;
use crate::latency::{Retention, Upkeep};

/// How often a test looks at its job before it gives up, a little apart.
const LOOKS: u32 = 1_000;

async fn jobs_on(db: &Db, stop: &CancellationToken) -> (Events, Jobs) {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let (options, rng) = (EventsOptions::default(), Arc::new(SystemRng));
    let started = Events::start(db.clone(), options, Arc::clone(&clock), rng, stop.clone());
    let (events, _tasks) = started.await.unwrap();
    let ids = IdSource::new(Arc::clone(&clock), Arc::new(SystemRng));
    let options = JobsOptions::default();
    let jobs = Jobs::new(events.clone(), clock, ids, Arc::new(SystemRng), options);
    (events, jobs)
}

each_database! {
    async fn a_runner_does_the_upkeep(database: &TestDatabase) {
        let db = database.open_migrated().await;
        let stop = CancellationToken::new();
        let (events, jobs) = jobs_on(&db, &stop).await;
        let upkeep = Upkeep::new(db.clone(), Retention::default()).unwrap();
        let handlers: Vec<Arc<dyn Handler>> = vec![Arc::new(upkeep)];
        let cron = vec![Upkeep::cron().unwrap()];
        let task = Runner::start(jobs.clone(), handlers, cron, RunnerOptions::new("test"), stop.clone());
        let job = NewJob::new(Kind::new(KIND).unwrap(), json!({}));
        let made = events.write(async |tx, _| jobs.enqueue(tx, job).await).await.unwrap();
        let mut looks = 0;
        while jobs.find(made.id).await.unwrap().unwrap().status != Status::Succeeded {
            looks += 1;
            assert!(looks < LOOKS, "the job was never done");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        stop.cancel();
        task.finished().await;
        let sql = mainstay_store::Sql::same("test.marks", "SELECT count(*) AS n FROM latency_rollups");
        let marks: i64 = db.fetch_one(&sql, &[]).await.unwrap().get("n").unwrap();
        assert!(marks > 0, "nothing was marked as rolled up");
    }
}
