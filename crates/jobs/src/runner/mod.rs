//! Runs handlers: `engine` (the loop) asks `fetch` for jobs, keeps them in `held`, lets `run` run
//! them and `ending` write down how they ended. `care` does what comes by the clock: cron, clean-up,
//! the depth of the queue.

mod begin;
mod care;
mod ending;
mod engine;
mod errands;
mod fetch;
mod give_back;
mod held;
mod mean;
mod overrun;
mod reports;
mod run;
mod steps;
mod stop;
#[cfg(test)]
mod tests;
mod turning;

use std::sync::Arc;
use std::time::Duration;

pub use turning::Turning;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::cron::CronJob;
use crate::handler::Handler;
use crate::jobs::Jobs;

/// The shortest lease: a heartbeat must fit in three times.
pub const MIN_TTL: Duration = Duration::from_millis(500);
/// The most handlers that run at once.
pub const MAX_CONCURRENCY: u32 = 500;

/// What can be set.
#[derive(Debug, Clone)]
pub struct RunnerOptions {
    /// The runner's name, for people: it is never a fence.
    pub id: String,
    /// How many handlers run at once.
    pub concurrency: u32,
    /// How often the queue is looked at when no bell is heard.
    pub poll: Duration,
    /// How long a lease lasts without a heartbeat.
    pub ttl: Duration,
    /// How long handlers may go on after the runner was told to stop.
    pub grace: Duration,
}

impl RunnerOptions {
    /// The usual bounds.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            concurrency: 2,
            poll: Duration::from_secs(1),
            ttl: Duration::from_secs(300),
            grace: Duration::from_secs(30),
        }
    }

    fn bounded(mut self) -> Self {
        self.concurrency = self.concurrency.clamp(1, MAX_CONCURRENCY);
        self.ttl = self.ttl.max(MIN_TTL);
        self.poll = self.poll.max(Duration::from_millis(10));
        self
    }
}

/// Tells the metrics how deep the queue is until `stop`, for a process that runs no jobs itself. A
/// runner does this by itself.
pub async fn tell_depth(jobs: Jobs, stop: CancellationToken) {
    stop.run_until_cancelled(care::tell(&jobs)).await;
}

/// Starts what runs handlers.
#[derive(Debug)]
pub struct Runner;

/// A running runner.
#[derive(Debug)]
pub struct RunnerTask {
    engine: JoinHandle<()>,
    care: JoinHandle<()>,
    turning: Turning,
}

impl Runner {
    /// Runs `handlers` and enqueues `cron` until `stop`.
    #[must_use]
    pub fn start(
        jobs: Jobs,
        handlers: Vec<Arc<dyn Handler>>,
        cron: Vec<CronJob>,
        options: RunnerOptions,
        stop: CancellationToken,
    ) -> RunnerTask {
        jobs.register(&handlers);
        let care = tokio::spawn(care::run(jobs.clone(), cron, stop.clone()));
        let engine = engine::Engine::new(jobs, handlers, options.bounded(), stop);
        let turning = engine.turning.clone();
        RunnerTask { engine: tokio::spawn(engine.run()), care, turning }
    }
}

impl RunnerTask {
    /// Tells whether it turns, for as long as anybody asks.
    #[must_use]
    pub fn turning(&self) -> Turning {
        self.turning.clone()
    }

    /// Waits until every job is done or given back. Cancel the token first.
    pub async fn finished(self) {
        for task in [self.engine, self.care] {
            if let Err(error) = task.await {
                tracing::error!(%error, "a task of the job runner panicked");
            }
        }
    }
}
