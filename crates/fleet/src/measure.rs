//! What the metrics are told.

use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};

use crate::decide::gather::Counts;
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
const PANICS: &str = "mainstay_fleet_sweep_panics_total";
const FINDINGS: &str = "mainstay_fleet_findings_total";
const COLLECTIONS: &str = "mainstay_fleet_collections_total";
const UNREADABLE: &str = "mainstay_fleet_unreadable_rows_total";
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

/// A sweep panicked.
pub(crate) fn panicked() {
    counter!(PANICS).increment(1);
}

/// An operation has ended, as the word says.
pub(crate) fn operated(kind: &'static str, outcome: &'static str) {
    counter!(OPERATIONS, "operation" => kind, "outcome" => outcome).increment(1);
}

/// Findings of nets were recorded, or not.
pub(crate) fn gathered(counts: Counts) {
    let Counts { recorded, repeated, stale, foreign, unreadable } = counts;
    for (outcome, count) in [
        ("recorded", recorded),
        ("repeated", repeated),
        ("stale", stale),
        ("foreign", foreign),
        ("unreadable", unreadable),
    ] {
        counter!(FINDINGS, "outcome" => outcome).increment(count);
    }
}

/// Findings were dropped by an agent because nobody fetched them in time.
pub(crate) fn dropped(count: u64) {
    counter!(FINDINGS, "outcome" => "dropped").increment(count);
}

/// The findings of a net were asked for, with this outcome.
pub(crate) fn collected(outcome: &'static str) {
    counter!(COLLECTIONS, "outcome" => outcome).increment(1);
}

/// A row of the database can't be read.
pub(crate) fn unreadable(thing: &'static str) {
    counter!(UNREADABLE, "thing" => thing).increment(1);
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
    describe_counter!(
        FINDINGS,
        "Findings of nets, by what became of them; those that are dropped were never fetched."
    );
    describe_counter!(COLLECTIONS, "Times that the findings of a net were asked for, by outcome.");
    describe_counter!(
        UNREADABLE,
        "Times that a worker, net or order was left out because its row can't be read."
    );
    describe_counter!(PANICS, "Sweeps of the health loop that panicked: a mistake in Mainstay.");
    counter!(PANICS).increment(0);
    gathered(Counts::default());
    dropped(0);
    describe_counter!(OPERATIONS, "Operations on workers and nets that ended, by outcome.");
}
