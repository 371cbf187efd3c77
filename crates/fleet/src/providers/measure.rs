//! What the calls to providers tell about themselves.

use std::time::Duration;

use mainstay_outbound::WebAnswer;
use metrics::{Unit, counter, describe_counter, describe_histogram, histogram};

use super::api::Trouble;
use super::kind::ProviderKind;

/// The histogram of calls; the recorder needs [`DURATION_BUCKETS`] for it.
pub const CALL_DURATION: &str = "mainstay_fleet_provider_call_duration_seconds";
const CALLS: &str = "mainstay_fleet_provider_calls_total";

/// The upper ends of the histogram's buckets, in seconds.
pub const DURATION_BUCKETS: &[f64] = &[0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 70.0];

/// Every outcome that there is.
const OUTCOMES: [&str; 8] =
    ["ok", "denied", "not_found", "throttled", "refused", "failed", "no_answer", "left_alone"];

/// Gives each metric its help text and shows every outcome from the start. Call it once, after the
/// recorder is installed.
pub fn describe_metrics() {
    describe_counter!(
        CALLS,
        "Calls to the providers of machines, by provider and outcome; left_alone was not made."
    );
    describe_histogram!(
        CALL_DURATION,
        Unit::Seconds,
        "Time of one call to a provider of machines, by provider."
    );
    for kind in [ProviderKind::Fly, ProviderKind::Sprite] {
        for outcome in OUTCOMES {
            counter!(CALLS, "provider" => kind.name(), "outcome" => outcome).increment(0);
        }
    }
}

/// A call ended.
pub(crate) fn called(
    kind: ProviderKind,
    action: &'static str,
    answered: &Result<WebAnswer, Trouble>,
    took: Duration,
) {
    let outcome = outcome(action, answered);
    counter!(CALLS, "provider" => kind.name(), "outcome" => outcome).increment(1);
    // Who was not asked took no time, and who was asked to wait took as long as was said.
    if outcome != "left_alone" && action != "wait" {
        histogram!(CALL_DURATION, "provider" => kind.name()).record(took.as_secs_f64());
    }
}

fn outcome(action: &str, answered: &Result<WebAnswer, Trouble>) -> &'static str {
    match answered {
        Ok(answer) => match answer.status {
            200..=299 => "ok",
            401 | 403 => "denied",
            404 => "not_found",
            429 => "throttled",
            // A wait that runs out is answered so, and is no failure.
            408 if action == "wait" => "refused",
            408 | 500..=599 => "failed",
            _ => "refused",
        },
        Err(Trouble::Unheard(_) | Trouble::Lost(_)) => "no_answer",
        Err(Trouble::LeftAlone(_)) => "left_alone",
    }
}
