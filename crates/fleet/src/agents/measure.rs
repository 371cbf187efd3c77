//! What the calls to agents tell about themselves.

use metrics::{counter, describe_counter};

use super::error::AgentError;

const CALLS: &str = "mainstay_fleet_agent_calls_total";

const ACTIONS: [&str; 4] = ["health", "load", "unload", "results"];
const OUTCOMES: [&str; 7] =
    ["ok", "unreachable", "foreign", "denied", "stale", "no_such_net", "refused"];

/// Gives the metric its help text and shows every outcome from the start. Call it once, after the
/// recorder is installed.
pub fn describe_metrics() {
    describe_counter!(CALLS, "Calls to the agents of workers, by action and outcome.");
    for action in ACTIONS {
        for outcome in OUTCOMES {
            counter!(CALLS, "action" => action, "outcome" => outcome).increment(0);
        }
    }
}

/// A call ended.
pub(super) fn asked<T>(
    action: &'static str,
    outcome: Result<T, AgentError>,
) -> Result<T, AgentError> {
    let word = outcome.as_ref().map_or_else(AgentError::code, |_| "ok");
    counter!(CALLS, "action" => action, "outcome" => word).increment(1);
    outcome
}
