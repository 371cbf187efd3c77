//! Runs the journeys of nets, each on its interval: one run of each at a time, and few of all.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Moment};
use mainstay_fleet::agent::Reporter;
use mainstay_fleet::agents::Finding;
use mainstay_fleet::{CheckKind, LocationStatus};
use mainstay_journeys::{Courier, Journey, Options, RunOutcome, RunRecord, Secrets, StartError};
use mainstay_monitor::decide::{Ending, due_after_poll};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Runs of all journeys at once.
const MAX_AT_ONCE: usize = 16;
/// Over so long the first runs of the journeys of a net are spread.
const FIRST_WITHIN: Duration = Duration::from_secs(5);

/// Runs journeys. A clone is the same one.
#[derive(Clone)]
pub(super) struct Trips {
    courier: Courier,
    clock: Arc<dyn Clock>,
    turns: Arc<Semaphore>,
}

impl Trips {
    pub(super) fn new(courier: Courier, clock: Arc<dyn Clock>) -> Self {
        Self { courier, clock, turns: Arc::new(Semaphore::new(MAX_AT_ONCE)) }
    }

    /// Runs these until what it gives is dropped, in the middle of a run too.
    pub(super) fn start(&self, journeys: Vec<Journey>, reporter: &Reporter) -> JoinSet<()> {
        let mut running = JoinSet::new();
        let count = u32::try_from(journeys.len()).unwrap_or(u32::MAX).max(1);
        for (place, journey) in (0_u32..).zip(journeys) {
            let (trips, reporter) = (self.clone(), reporter.clone());
            let first = FIRST_WITHIN.saturating_mul(place) / count;
            running.spawn(async move {
                tokio::time::sleep(first).await;
                trips.travel(&journey, &reporter).await;
            });
        }
        running
    }

    async fn travel(&self, journey: &Journey, reporter: &Reporter) {
        // A net holds no journey without one.
        let Some(every) = journey.every else { return };
        let mut rhythm = Rhythm { every, due: self.clock.moment() };
        loop {
            // It is never closed.
            let Ok(turn) = self.turns.acquire().await else { return };
            reporter.found(&self.run(journey).await);
            drop(turn);
            rhythm.rest(&*self.clock).await;
        }
    }

    async fn run(&self, journey: &Journey) -> Finding {
        let (courier, clock) = (self.courier.clone(), Arc::clone(&self.clock));
        let (vars, secrets) = (BTreeMap::new(), Secrets::default());
        let options = Options { mode: None, vars, secrets, courier, clock };
        let ended = mainstay_journeys::run(journey, options, Arc::new(())).await;
        let (status, latency_ms, error) = outcome(ended);
        let (kind, name) = (CheckKind::Journey, journey.name.clone());
        Finding { kind, name, at: self.clock.now(), status, latency_ms, error }
    }
}

/// When runs come that follow one another.
struct Rhythm {
    every: Duration,
    due: Moment,
}

impl Rhythm {
    /// Waits for the next run. One that took longer than the interval leaves out what it missed.
    async fn rest(&mut self, clock: &dyn Clock) {
        let now = clock.moment();
        self.due = due_after_poll(self.due, self.every, Ending::Success, now);
        tokio::time::sleep(self.due.since(now)).await;
    }
}

fn outcome(ended: Result<RunRecord, StartError>) -> (LocationStatus, Option<f64>, Option<String>) {
    match ended {
        // What is in a net needs neither secrets nor values, so this is not to be met.
        Err(error) => (LocationStatus::Degraded, None, Some(error.to_string())),
        Ok(record) => {
            let status = match record.outcome {
                RunOutcome::Passed => LocationStatus::Healthy,
                RunOutcome::Failed => LocationStatus::Degraded,
            };
            let failed = status == LocationStatus::Degraded;
            (status, Some(record.duration_ms), record.reason().filter(|_| failed))
        }
    }
}

#[cfg(test)]
#[path = "trips_tests.rs"]
mod tests;
