//! What is told of recording.

use std::time::Duration;

use crate::sink::Recorded;

/// The buckets of this room's histograms.
pub const METRIC_BUCKETS: &[(&str, &[f64])] = &[
    ("mainstay_recorder_batch_size", &[1.0, 4.0, 16.0, 64.0, 128.0, 256.0, 512.0]),
    ("mainstay_recorder_batch_seconds", &[0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0]),
];

/// Names what the metrics mean.
pub fn describe_metrics() {
    metrics::describe_histogram!(
        "mainstay_recorder_batch_size",
        "Results that were recorded in one transaction."
    );
    metrics::describe_histogram!(
        "mainstay_recorder_batch_seconds",
        metrics::Unit::Seconds,
        "How long a transaction of results took."
    );
    metrics::describe_counter!(
        "mainstay_recorder_results_total",
        "Results by what became of them: written, stale, refused, taken_over (by another instance)."
    );
    metrics::describe_counter!(
        "mainstay_recorder_retries_total",
        "Batches that the database did not take and that were tried again."
    );
    metrics::describe_counter!(
        "mainstay_recorder_rows_total",
        "Rows that results have written, by kind."
    );
    metrics::describe_gauge!("mainstay_recorder_waiting", "Results that wait to be recorded.");
}

pub(super) fn batch(results: usize, took: Duration) {
    #[expect(clippy::cast_precision_loss, reason = "a batch is small")]
    metrics::histogram!("mainstay_recorder_batch_size").record(results as f64);
    metrics::histogram!("mainstay_recorder_batch_seconds").record(took.as_secs_f64());
}

/// What became of the results of a batch.
pub(super) fn results(outcomes: &[Recorded]) {
    let count = |is: fn(&Recorded) -> bool| outcomes.iter().filter(|one| is(one)).count();
    for (outcome, count) in [
        ("written", count(|one| matches!(one, Recorded::Written(_)))),
        ("stale", count(|one| *one == Recorded::Stale)),
        ("refused", count(|one| *one == Recorded::Refused)),
        ("taken_over", count(|one| *one == Recorded::TakenOver)),
    ] {
        if count > 0 {
            let count = u64::try_from(count).unwrap_or(u64::MAX);
            metrics::counter!("mainstay_recorder_results_total", "outcome" => outcome)
                .increment(count);
        }
    }
}

pub(super) fn retry() {
    metrics::counter!("mainstay_recorder_retries_total").increment(1);
}

pub(super) fn rows(kind: &'static str, count: usize) {
    if count > 0 {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        metrics::counter!("mainstay_recorder_rows_total", "kind" => kind).increment(count);
    }
}

pub(super) fn waiting(count: usize) {
    #[expect(clippy::cast_precision_loss, reason = "a queue is bounded")]
    metrics::gauge!("mainstay_recorder_waiting").set(count as f64);
}
