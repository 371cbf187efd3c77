//! What the metrics are told.

use metrics::{counter, describe_counter, describe_gauge, gauge};

use crate::kept::{RunStatus, Trigger};

const RUNS: &str = "mainstay_journey_runs_total";
const STALE: &str = "mainstay_journey_stale_results_total";
const LATE: &str = "mainstay_journeys_overdue";

/// A run has ended, or was skipped.
pub(crate) fn ran(status: RunStatus, trigger: Trigger) {
    counter!(RUNS, "outcome" => status.name(), "trigger" => trigger.name()).increment(1);
}

/// The journey was edited while the run was under way: it says nothing about the journey as it is now.
pub(crate) fn stale() {
    counter!(STALE).increment(1);
}

/// So many are due and wait for the next look of the schedule.
pub(crate) fn overdue(journeys: usize) {
    gauge!(LATE).set(u32::try_from(journeys).map_or(f64::MAX, f64::from));
}

/// Tells the recorder what each metric means. Call it once, after the recorder is installed.
pub fn describe_metrics() {
    describe_counter!(RUNS, "Runs of journeys that ended or were skipped, by outcome and trigger.");
    describe_counter!(STALE, "Runs whose journey was edited while they were under way.");
    describe_gauge!(LATE, "Journeys that were due at the last look and wait for the next one.");
}
