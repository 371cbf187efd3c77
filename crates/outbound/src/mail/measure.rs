//! What mail tells about itself: outcomes, and the time of the tries.

use std::time::Duration;

use metrics::{Unit, counter, describe_counter, describe_histogram, histogram};

use super::error::SendError;

/// The histogram of tries; the recorder needs [`DURATION_BUCKETS`] for it.
pub const ATTEMPT_DURATION: &str = "mainstay_mail_attempt_duration_seconds";
const OUTCOMES: &str = "mainstay_mail_total";

/// The upper ends of the histogram's buckets, in seconds.
pub const DURATION_BUCKETS: &[f64] = &[0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

/// How a call to send ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The server has it.
    Sent,
    /// It will never be sent.
    Failed,
    /// Another try may do better.
    PutOff,
    /// The server was not asked.
    LeftAlone,
}

/// Gives each metric its help text and shows every outcome from the start. Call it once, after the
/// recorder is installed.
pub fn describe_metrics() {
    describe_counter!(
        OUTCOMES,
        "Calls to send a mail: sent, failed for good, put_off, left_alone."
    );
    describe_histogram!(ATTEMPT_DURATION, Unit::Seconds, "Time of one try to send, by outcome.");
    for outcome in [Outcome::Sent, Outcome::Failed, Outcome::PutOff, Outcome::LeftAlone] {
        counter!(OUTCOMES, "outcome" => outcome.label()).increment(0);
    }
}

impl Outcome {
    pub(crate) const fn of(result: &Result<(), SendError>) -> Self {
        match result {
            Ok(()) => Self::Sent,
            Err(SendError::Mail(_) | SendError::Refused { .. }) => Self::Failed,
            Err(SendError::Later { .. }) => Self::PutOff,
            Err(SendError::LeftAlone { .. }) => Self::LeftAlone,
        }
    }

    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Failed => "failed",
            Self::PutOff => "put_off",
            Self::LeftAlone => "left_alone",
        }
    }
}

/// A call to send ended.
pub(crate) fn ended(outcome: Outcome) {
    counter!(OUTCOMES, "outcome" => outcome.label()).increment(1);
}

/// One try ended. A server that was not asked was not tried.
pub(crate) fn attempted(outcome: Outcome, took: Duration) {
    if outcome != Outcome::LeftAlone {
        histogram!(ATTEMPT_DURATION, "outcome" => outcome.label()).record(took.as_secs_f64());
    }
}
