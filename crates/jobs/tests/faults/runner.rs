//! A runner in a process of its own, with short leases, for the fault matrix. Each job leaves a row
//! behind in the transaction that finishes it: two rows would be a job that took effect twice.
//!
//! `job-runner-under-test ADDRESS NAME`
#![expect(clippy::expect_used, reason = "a test's process stops with the reason")]

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use mainstay_base::{IdSource, Secret, SystemClock, SystemRng};
use mainstay_events::{Events, EventsOptions};
use mainstay_jobs::{
    Claimed, Context, Handler, JobError, Jobs, JobsError, JobsOptions, Kind, Runner, RunnerOptions,
};
use mainstay_store::{Db, Sql, StoreError, StoreOptions, Target, values};
use tokio_util::sync::CancellationToken;

struct Effect {
    runner: String,
}

const EFFECT: Sql =
    Sql::same("test.effect", "INSERT INTO effects (round, number, runner) VALUES ($1, $2, $3)");

impl Handler for Effect {
    fn kind(&self) -> Kind {
        Kind::new("effect").expect("a kind")
    }

    fn run<'a>(
        &'a self,
        job: &'a Claimed,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<(), JobError>> {
        async move {
            let of = |field: &str| job.payload.get(field).and_then(serde_json::Value::as_i64);
            let (round, number) = (of("round"), of("number"));
            tokio::time::sleep(Duration::from_millis(20)).await;
            context
                .finish(async |tx, _| {
                    tx.execute(&EFFECT, values![round, number, &self.runner]).await?;
                    Ok::<(), JobsError>(())
                })
                .await?;
            Ok(())
        }
        .boxed()
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().expect("the address of the database");
    let name = arguments.next().expect("the runner's name");
    let clock = Arc::new(SystemClock::new());
    let target = match address.strip_prefix("sqlite:") {
        Some(path) => Target::Sqlite { path: path.into() },
        None => Target::Postgres { url: Secret::new(address) },
    };
    let (rng, stop) = (Arc::new(SystemRng), CancellationToken::new());
    let start = async || {
        let db = Db::open(StoreOptions::new(target.clone(), clock.clone())).await?;
        let options = EventsOptions::default();
        Events::start(db, options, clock.clone(), rng.clone(), stop.clone()).await
    };
    let (events, _tasks) = loop {
        match start().await {
            // PostgreSQL may be on its way back.
            Err(StoreError::Unreachable { .. }) => {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            started => break started.expect("the streams"),
        }
    };
    let ids = IdSource::new(clock.clone(), rng.clone());
    let jobs = Jobs::new(events, clock, ids, rng, JobsOptions::default());
    let options = RunnerOptions {
        ttl: Duration::from_secs(1),
        poll: Duration::from_millis(100),
        concurrency: 4,
        ..RunnerOptions::new(name.clone())
    };
    let handler = Arc::new(Effect { runner: name });
    Runner::start(jobs, vec![handler], vec![], options, stop).finished().await;
}
