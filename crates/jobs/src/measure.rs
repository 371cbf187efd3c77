//! What the queue tells about itself. Labels are bounded: a kind is one that a handler is registered
//! for, or one that a bounded look at the queue has found.

use std::collections::BTreeSet;
use std::time::Duration;

use metrics::{
    Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};

use crate::model::{Cause, Change, Kind};
use crate::view::Summary;

/// The upper ends of the buckets for the queue's timings, in seconds.
pub const METRIC_BUCKETS: &[f64] =
    &[0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0, 60.0, 180.0, 600.0];

const DEPTH: &str = "mainstay_jobs_depth";
const OLDEST: &str = "mainstay_jobs_oldest_due_seconds";
const STUCK: &str = "mainstay_jobs_stuck";
const CLAIM: &str = "mainstay_jobs_claim_duration_seconds";
const PICK_UP: &str = "mainstay_jobs_pick_up_seconds";
const RUN: &str = "mainstay_jobs_run_duration_seconds";
const ENDED: &str = "mainstay_jobs_ended_total";
const RETRIES: &str = "mainstay_jobs_retries_total";
const CRASHES: &str = "mainstay_jobs_crashes_total";
const LOST: &str = "mainstay_jobs_leases_lost_total";
const GIVEN_UP: &str = "mainstay_jobs_statements_given_up_total";
const RUNNING: &str = "mainstay_jobs_running";

/// Gives each metric its help text. Call it once, after the recorder is installed.
pub fn describe_metrics() {
    describe_gauge!(DEPTH, "Jobs in the queue, by kind and status; counts stop at 10000.");
    describe_gauge!(OLDEST, Unit::Seconds, "For how long the first job of a kind has been due.");
    describe_gauge!(STUCK, "Jobs whose runner has not been heard of for longer than their lease.");
    describe_histogram!(CLAIM, Unit::Seconds, "Time of a look at the queue with its claim.");
    describe_histogram!(
        PICK_UP,
        Unit::Seconds,
        "Time from when a job was due until its runner had it, by kind."
    );
    describe_histogram!(RUN, Unit::Seconds, "Time that a handler ran, by kind and outcome.");
    describe_counter!(ENDED, "Jobs that ended, by kind and cause.");
    describe_counter!(RETRIES, "Jobs that failed and are tried again, by kind.");
    describe_counter!(
        CRASHES,
        "Times a runner died while it ran a job, as the next one finds them, by kind."
    );
    describe_counter!(LOST, "Leases that a runner lost while it had the job, by kind.");
    describe_counter!(
        GIVEN_UP,
        "Statements of the runner that the database did not answer in time, by what they were for."
    );
    describe_gauge!(RUNNING, "Handlers that run in this process.");
    // Whoever asks before the runner has looked for work finds it too.
    running(0);
}

/// What was last told of the depth of the queue: a gauge keeps its value until it is set again.
#[derive(Debug, Default)]
pub(crate) struct Depth {
    kinds: BTreeSet<Kind>,
}

impl Depth {
    /// Writes the depth of the queue into the metrics.
    pub(crate) fn tell(&mut self, summary: &Summary) {
        let kinds: BTreeSet<Kind> = summary.kinds.iter().map(|one| one.kind.clone()).collect();
        for gone in self.kinds.difference(&kinds) {
            depth(gone, [0; STATUSES.len()], Duration::ZERO);
        }
        self.kinds = kinds;
        for one in &summary.kinds {
            let counts = [one.due, one.scheduled, one.processing, one.failed, one.succeeded];
            depth(&one.kind, counts, one.oldest_due().unwrap_or_default());
        }
        gauge!(STUCK).set(as_float(summary.stuck));
    }
}

/// What is told of each kind.
const STATUSES: [&str; 5] = ["due", "scheduled", "processing", "failed", "succeeded"];

fn depth(kind: &Kind, counts: [i64; STATUSES.len()], oldest: Duration) {
    let kind = || kind.as_str().to_owned();
    for (status, count) in STATUSES.into_iter().zip(counts) {
        gauge!(DEPTH, "kind" => kind(), "status" => status).set(as_float(count));
    }
    gauge!(OLDEST, "kind" => kind()).set(oldest.as_secs_f64());
}

pub(crate) fn claimed(took: Duration) {
    histogram!(CLAIM).record(took.as_secs_f64());
}

pub(crate) fn picked_up(kind: &Kind, after: Duration) {
    histogram!(PICK_UP, "kind" => kind.as_str().to_owned()).record(after.as_secs_f64());
}

pub(crate) fn crashed(kind: &Kind) {
    counter!(CRASHES, "kind" => kind.as_str().to_owned()).increment(1);
}

pub(crate) fn ran(kind: &Kind, outcome: &'static str, took: Duration) {
    let kind = kind.as_str().to_owned();
    histogram!(RUN, "kind" => kind, "outcome" => outcome).record(took.as_secs_f64());
}

pub(crate) fn retried(kind: &Kind) {
    counter!(RETRIES, "kind" => kind.as_str().to_owned()).increment(1);
}

pub(crate) fn succeeded(kind: &Kind, count: u64) {
    counter!(ENDED, "kind" => kind.as_str().to_owned(), "cause" => "succeeded").increment(count);
}

pub(crate) fn failed(kind: &Kind) {
    counter!(ENDED, "kind" => kind.as_str().to_owned(), "cause" => "failed").increment(1);
}

/// Counts a job that ended without a handler.
pub(crate) fn ended(change: &Change) {
    let cause = match change.cause {
        Cause::CrashLoop => "crash_loop",
        Cause::AttemptsExhausted => "attempts_exhausted",
        _ => "cancelled",
    };
    counter!(ENDED, "kind" => change.kind.as_str().to_owned(), "cause" => cause).increment(1);
}

pub(crate) fn lost(kind: &Kind) {
    counter!(LOST, "kind" => kind.as_str().to_owned()).increment(1);
}

pub(crate) fn given_up(what: &'static str) {
    counter!(GIVEN_UP, "what" => what).increment(1);
}

pub(crate) fn running(count: usize) {
    gauge!(RUNNING).set(as_float(i64::try_from(count).unwrap_or(i64::MAX)));
}

#[expect(clippy::cast_precision_loss, reason = "a count of jobs is far below 2^52")]
fn as_float(count: i64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use metrics_exporter_prometheus::PrometheusBuilder;

    use super::*;
    use crate::view::KindSummary;

    fn summary(kinds: Vec<KindSummary>) -> Summary {
        Summary { kinds, stuck: 0, count_cap: 9 }
    }

    #[test]
    fn a_kind_that_has_left_the_queue_is_told_as_empty() {
        let recorder = PrometheusBuilder::new().build_recorder();
        let handle = recorder.handle();
        let told = |name: &str| {
            let rendered = handle.render();
            let of_name = rendered.lines().filter(|line| line.starts_with(name));
            of_name.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).collect()
        };
        let gone = KindSummary {
            kind: Kind::new("gone").unwrap(),
            queued: 3,
            due: 1,
            scheduled: 2,
            processing: 3,
            failed: 4,
            succeeded: 5,
            oldest_due_ms: Some(7_000),
            paused: false,
            concurrency: None,
        };
        metrics::with_local_recorder(&recorder, || {
            let mut depth = Depth::default();
            depth.tell(&summary(vec![gone]));
            let counts: Vec<f64> = told("mainstay_jobs_depth{");
            assert_eq!((counts.len(), counts.iter().sum::<f64>()), (5, 15.0));
            assert_eq!(told("mainstay_jobs_oldest_due_seconds{"), [7.0]);
            depth.tell(&summary(vec![]));
            assert_eq!(told("mainstay_jobs_depth{"), [0.0; 5]);
            assert_eq!(told("mainstay_jobs_oldest_due_seconds{"), [0.0]);
        });
    }
}
