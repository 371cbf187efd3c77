//! What comes by the clock: cron, clean-up, the depth of the queue.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::errands::{ERRAND_BOUND, in_time};
use crate::cron::CronJob;
use crate::error::JobsError;
use crate::jobs::Jobs;
use crate::measure;

/// How often old finished jobs are moved.
const CLEAN_EVERY: Duration = Duration::from_mins(1);
/// A clean-up that takes longer is given up, and begun anew.
const CLEAN_BOUND: Duration = Duration::from_mins(10);
/// How often the depth of the queue is told.
const TELL_EVERY: Duration = Duration::from_secs(15);
/// The shortest wait between two looks at the schedules.
const SHORTEST_WAIT: Duration = Duration::from_millis(10);
/// The wait after the database failed.
const WAIT_AFTER_FAILURE: Duration = Duration::from_secs(1);

/// Runs until `stop`; what is under way then is given up.
pub(super) async fn run(jobs: Jobs, cron: Vec<CronJob>, stop: CancellationToken) {
    let caring = async {
        tokio::join!(fire(&jobs, &cron), clean(&jobs), tell(&jobs));
    };
    stop.run_until_cancelled(caring).await;
}

async fn fire(jobs: &Jobs, cron: &[CronJob]) {
    if cron.is_empty() {
        return;
    }
    loop {
        let wait = in_time(ERRAND_BOUND, jobs.fire_due(cron)).await.unwrap_or_else(|error| {
            note(&error, "the schedules");
            WAIT_AFTER_FAILURE
        });
        tokio::time::sleep(wait.max(SHORTEST_WAIT)).await;
    }
}

async fn clean(jobs: &Jobs) {
    loop {
        tokio::time::sleep(CLEAN_EVERY).await;
        match in_time(CLEAN_BOUND, jobs.clean_up()).await {
            Ok(0) => {}
            Ok(rows) => tracing::debug!(rows, "finished jobs were moved or removed by age"),
            Err(error) => note(&error, "the clean-up"),
        }
    }
}

pub(super) async fn tell(jobs: &Jobs) {
    loop {
        match in_time(ERRAND_BOUND, jobs.summary()).await {
            Ok(summary) => measure::summary(&summary),
            Err(error) => note(&error, "the depth"),
        }
        tokio::time::sleep(TELL_EVERY).await;
    }
}

fn note(error: &JobsError, what: &str) {
    tracing::warn!(%error, "{what} of the jobs failed; trying later");
}
