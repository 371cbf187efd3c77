//! What comes by the clock: cron, clean-up, the depth of the queue.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::errands::{ERRAND_BOUND, in_time};
use crate::cron::CronJob;
use crate::error::JobsError;
use crate::jobs::{FULL_CLEAN_UP, Jobs};
use crate::measure;

/// How often old finished jobs are moved.
const CLEAN_EVERY: Duration = Duration::from_mins(1);
/// The wait when a clean-up has left some.
const CLEAN_ON: Duration = Duration::from_secs(1);
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
    let mut wait = CLEAN_EVERY;
    loop {
        tokio::time::sleep(wait).await;
        let cleaned = in_time(CLEAN_BOUND, jobs.clean_up()).await;
        wait = clean_again_after(cleaned.as_ref().ok().copied());
        match cleaned {
            Ok(0) => {}
            Ok(rows) => tracing::debug!(rows, "finished jobs were moved or removed by age"),
            Err(error) => note(&error, "the clean-up"),
        }
    }
}

/// The wait after a clean-up that touched so many rows, or failed.
fn clean_again_after(rows: Option<u64>) -> Duration {
    if rows.is_some_and(|rows| rows >= FULL_CLEAN_UP) { CLEAN_ON } else { CLEAN_EVERY }
}

pub(super) async fn tell(jobs: &Jobs) {
    let mut depth = measure::Depth::default();
    loop {
        match in_time(ERRAND_BOUND, jobs.summary()).await {
            Ok(summary) => depth.tell(&summary),
            Err(error) => note(&error, "the depth"),
        }
        tokio::time::sleep(TELL_EVERY).await;
    }
}

fn note(error: &JobsError, what: &str) {
    tracing::warn!(%error, "{what} of the jobs failed; trying later");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clean_up_that_left_some_goes_on() {
        for (rows, wait) in [
            (None, CLEAN_EVERY),
            (Some(0), CLEAN_EVERY),
            (Some(FULL_CLEAN_UP - 1), CLEAN_EVERY),
            (Some(FULL_CLEAN_UP), CLEAN_ON),
            (Some(3 * FULL_CLEAN_UP), CLEAN_ON),
        ] {
            assert_eq!(clean_again_after(rows), wait, "{rows:?}");
        }
    }
}
