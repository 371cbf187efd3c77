//! What the calls to the model tell about themselves.

use std::time::Duration;

use metrics::{Unit, counter, describe_counter, describe_histogram, histogram};

use super::error::LlmError;

/// The histogram of calls; the recorder needs [`DURATION_BUCKETS`] for it.
pub const CALL_DURATION: &str = "mainstay_llm_call_duration_seconds";
const CALLS: &str = "mainstay_llm_calls_total";
const FORMATS_REFUSED: &str = "mainstay_llm_formats_refused_total";

/// The upper ends of the histogram's buckets, in seconds.
pub const DURATION_BUCKETS: &[f64] =
    &[0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 180.0, 300.0];

const OK: &str = "ok";

/// Every outcome that there is beside [`OK`].
const CODES: [&str; 8] = [
    "llm_timeout",
    "llm_network_error",
    "llm_rate_limited",
    "llm_provider_5xx",
    "llm_provider_4xx",
    "llm_output_invalid_json",
    "llm_provider_failed",
    "llm_left_alone",
];

/// Gives each metric its help text and shows every outcome from the start. Call it once, after the
/// recorder is installed.
pub fn describe_metrics() {
    describe_counter!(
        CALLS,
        "Calls to the language model, by outcome: ok, or the code of the error."
    );
    describe_histogram!(CALL_DURATION, Unit::Seconds, "Time of one call to the language model.");
    describe_counter!(
        FORMATS_REFUSED,
        "Times that the provider refused an answer by schema, so that any JSON was asked for."
    );
    counter!(FORMATS_REFUSED).increment(0);
    for outcome in CODES.into_iter().chain([OK]) {
        counter!(CALLS, "outcome" => outcome).increment(0);
    }
}

/// A call ended.
pub(crate) fn ended<T>(outcome: &Result<T, LlmError>, took: Duration) {
    let label = outcome.as_ref().map_or_else(LlmError::code, |_| OK);
    counter!(CALLS, "outcome" => label).increment(1);
    // Who was not asked took no time.
    if !matches!(outcome, Err(LlmError::Open { .. })) {
        histogram!(CALL_DURATION).record(took.as_secs_f64());
    }
}

/// The provider does not answer by a schema.
pub(crate) fn format_refused() {
    counter!(FORMATS_REFUSED).increment(1);
}
