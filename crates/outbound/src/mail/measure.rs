//! What mail tells about itself: outcomes, the queue and the time of the tries.

use std::time::Duration;

use metrics::{
    Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};

/// The histogram of tries; the recorder needs [`DURATION_BUCKETS`] for it.
pub const ATTEMPT_DURATION: &str = "mainstay_mail_attempt_duration_seconds";
const OUTCOMES: &str = "mainstay_mail_total";
const QUEUED: &str = "mainstay_mail_queued";

/// The upper ends of the histogram's buckets, in seconds.
pub const DURATION_BUCKETS: &[f64] = &[0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

/// How a mail ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The server has it.
    Sent,
    /// It was tried and given up.
    Failed,
    /// It was not tried to the end: the queue was full, or the process stopped.
    Dropped,
}

/// Gives each metric its help text and shows every outcome from the start. Call it once, after the
/// recorder is installed.
pub fn describe_metrics() {
    describe_counter!(OUTCOMES, "Mails that ended, by outcome: sent, failed or dropped.");
    describe_gauge!(QUEUED, "Mails that wait to be sent, or to be tried again.");
    describe_histogram!(ATTEMPT_DURATION, Unit::Seconds, "Time of one try to send, by outcome.");
    for outcome in [Outcome::Sent, Outcome::Failed, Outcome::Dropped] {
        counter!(OUTCOMES, "outcome" => outcome.label()).increment(0);
    }
    gauge!(QUEUED).set(0.0);
}

impl Outcome {
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Failed => "failed",
            Self::Dropped => "dropped",
        }
    }
}

/// A mail ended.
pub(crate) fn ended(outcome: Outcome) {
    counter!(OUTCOMES, "outcome" => outcome.label()).increment(1);
}

/// A mail was taken into the queue.
pub(crate) fn entered() {
    gauge!(QUEUED).increment(1.0);
}

/// A mail left the queue, however it ended.
pub(crate) fn left() {
    gauge!(QUEUED).decrement(1.0);
}

/// One try ended.
pub(crate) fn attempted(outcome: Outcome, took: Duration) {
    histogram!(ATTEMPT_DURATION, "outcome" => outcome.label()).record(took.as_secs_f64());
}
