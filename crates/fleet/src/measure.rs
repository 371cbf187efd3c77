//! What the metrics are told.

use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};

use crate::model::WorkerStatus;
use crate::providers::measure::{CALL_DURATION, DURATION_BUCKETS};

/// The buckets of this room's histograms.
pub const METRIC_BUCKETS: &[(&str, &[f64])] = &[
    (SWEEP, &[0.01, 0.05, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 60.0]),
    (CALL_DURATION, DURATION_BUCKETS),
];

const MOVES: &str = "mainstay_fleet_worker_moves_total";
const LOOKS: &str = "mainstay_fleet_looks_total";
const STALE: &str = "mainstay_fleet_stale_results_total";
const BRAKE: &str = "mainstay_fleet_brake_pulled";
const SWEEP: &str = "mainstay_fleet_sweep_seconds";
const OPERATIONS: &str = "mainstay_fleet_operations_total";

/// A worker went from one status to another.
pub(crate) fn moved(from: WorkerStatus, to: WorkerStatus) {
    counter!(MOVES, "from" => from.name(), "to" => to.name()).increment(1);
}

/// The health loop has looked at a worker.
pub(crate) fn looked(found: &'static str) {
    counter!(LOOKS, "found" => found).increment(1);
}

/// What was found is of a generation that is over.
pub(crate) fn stale() {
    counter!(STALE).increment(1);
}

/// Whether the health loop doubts itself.
pub(crate) fn brake(is_pulled: bool) {
    gauge!(BRAKE).set(if is_pulled { 1.0 } else { 0.0 });
}

/// A sweep took so long.
pub(crate) fn swept(took: std::time::Duration) {
    histogram!(SWEEP).record(took.as_secs_f64());
}

/// An operation has ended, as the word says.
pub(crate) fn operated(kind: &'static str, outcome: &'static str) {
    counter!(OPERATIONS, "operation" => kind, "outcome" => outcome).increment(1);
}

/// Tells the recorder what each metric means.
pub(crate) fn describe_metrics() {
    describe_counter!(MOVES, "Workers that went from one status to another.");
    describe_counter!(LOOKS, "Looks of the health loop at a worker, by what was found.");
    describe_counter!(
        STALE,
        "Findings about workers that had changed meanwhile, and were dropped."
    );
    describe_gauge!(BRAKE, "1 while most workers fail at once, and Mainstay doubts itself first.");
    describe_histogram!(SWEEP, "How long a sweep of the health loop took, in seconds.");
    describe_counter!(OPERATIONS, "Operations on workers and nets that ended, by outcome.");
}
