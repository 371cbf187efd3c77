//! What is due is begun as soon as there is a place for it, not at the next poll.

use std::time::Duration;

use futures_util::FutureExt as _;
use mainstay_jobs::{Kind, NewJob, RunnerOptions, Status};
use mainstay_testkit::each_database;
use serde_json::json;

use crate::house::{Doing, LiveHouse, SECOND, work};

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
}
