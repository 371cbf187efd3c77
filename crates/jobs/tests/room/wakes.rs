//! What is due is begun as soon as there is a place for it, not at the next poll.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use mainstay_base::{Clock as _, SystemClock};
use mainstay_jobs::{JobView, Kind, NewJob, Queue, RunnerOptions, Status};
use mainstay_testkit::each_database;
use serde_json::json;
use tokio::sync::Semaphore;

use crate::house::{Doing, LiveHouse, SECOND, claim, claim_alone, work};

/// Nothing comes by the clock.
fn never_polls(concurrency: u32) -> RunnerOptions {
    RunnerOptions { poll: 3_600 * SECOND, concurrency, ..RunnerOptions::new("r") }
}

each_database! {
    async fn a_full_runner_looks_again_when_a_handler_ends(database: &TestDatabase) {
        let house = LiveHouse::new(database).await;
        let slow = Doing::new(work(), |_, _| async {
            tokio::time::sleep(Duration::from_millis(60)).await;
            Ok(())
        }.boxed());
        let quick = Kind::new("quick").unwrap();
        let handlers = vec![
            slow.boxed(),
            Doing::new(quick.clone(), |_, _| std::future::ready(Ok(())).boxed()).boxed(),
        ];
        let runner = house.run(handlers, never_polls(1));
        // The quick kind makes the runner ask for more than the slow one has room for.
        let first = house.enqueue(NewJob::new(quick, json!(1))).await;
        house.until(first, |view| view.status == Status::Succeeded).await;
        let new = vec![NewJob::new(work(), json!(1)); 4];
        let made = house.events.write(async |tx, _| house.jobs.enqueue_many(tx, new).await).await.unwrap();
        for one in made {
            house.until(one.id, |view| view.status == Status::Succeeded).await;
        }
        runner.stop().await;
    }

    async fn what_is_to_be_run_alone_stops_nobody_and_is_run_when_the_runner_is_idle(database: &TestDatabase) {
        let house = LiveHouse::new(database).await;
        let suspect = house.enqueue(NewJob::new(work(), json!("suspect"))).await;
        let dead = Queue::new(house.jobs.clone(), "dead".to_owned(), SECOND);
        let is_stuck = |view: &JobView| view.is_stuck(SystemClock::new().now());
        let job = dead.claim(&claim(1)).await.unwrap().jobs.pop().unwrap();
        dead.start(&[job.lease()]).await.unwrap();
        house.until(suspect, is_stuck).await;
        let job = dead.claim(&claim_alone()).await.unwrap().jobs.pop().unwrap();
        dead.start(&[job.lease()]).await.unwrap();
        let gate = Arc::new(Semaphore::new(0));
        let waiting = Arc::clone(&gate);
        let handler = Doing::new(work(), move |job, _| {
            let (waiting, waits) = (Arc::clone(&waiting), job.payload == json!("long"));
            async move {
                if waits { waiting.acquire().await.unwrap().forget(); }
                Ok(())
            }.boxed()
        });
        let runner = house.run(vec![handler.boxed()], never_polls(2));
        let long = house.enqueue(NewJob::new(work(), json!("long"))).await;
        house.until(long, |view| view.status == Status::Processing).await;
        house.until(suspect, is_stuck).await;
        for _ in 0..3 {
            let other = house.enqueue(NewJob::new(work(), json!("short"))).await;
            house.until(other, |view| view.status == Status::Succeeded).await;
        }
        let view = house.jobs.find(suspect).await.unwrap().unwrap();
        assert_eq!((view.status, view.locked_by.as_deref()), (Status::Processing, Some("dead")));
        gate.add_permits(1);
        let view = house.until(suspect, |view| view.status == Status::Succeeded).await;
        assert_eq!(view.crashes, 2);
        runner.stop().await;
    }
}
