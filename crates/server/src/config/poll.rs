//! How services are polled.

use std::time::Duration;

use mainstay_monitor::PollPolicy;

use super::reader::{Reader, number};
use super::setting::{Fallback, Kind, Setting};

/// How often a round of polling begins.
pub const CYCLE_MS: Setting = Setting {
    key: "poll.cycle_ms",
    variables: &["MAINSTAY_POLL_CYCLE_MS"],
    flag: None,
    kind: Kind::Integer,
    fallback: Fallback::Fixed("5000"),
    mask: None,
    help: "Milliseconds of one round of polling: who found no free slot of its host waits for the next, 50 to 60000",
};

/// Polls of one host at once.
pub const PER_HOST: Setting = Setting {
    key: "poll.max_concurrent_per_host",
    variables: &["POLL_MAX_CONCURRENT_PER_HOST", "MAINSTAY_POLL_MAX_CONCURRENT_PER_HOST"],
    flag: None,
    kind: Kind::Integer,
    fallback: Fallback::Fixed("5"),
    mask: None,
    help: "Polls of one host at once, 1 to 1000",
};

/// Polls of all hosts at once.
pub const IN_FLIGHT: Setting = Setting {
    key: "poll.max_in_flight",
    variables: &["MAINSTAY_POLL_MAX_IN_FLIGHT"],
    flag: None,
    kind: Kind::Integer,
    fallback: Fallback::Fixed("256"),
    mask: None,
    help: "Polls of all hosts at once, 1 to 10000",
};

/// Reads the settings of polling.
pub(super) fn read(reader: &mut Reader<'_>) -> Option<PollPolicy> {
    let cycle = reader.required(&CYCLE_MS, |text| number(text, 50..=60_000));
    let per_host = reader.required(&PER_HOST, |text| number(text, 1..=1_000));
    let in_flight = reader.required(&IN_FLIGHT, |text| number(text, 1..=10_000));
    let count = |given: u32| usize::try_from(given).unwrap_or(usize::MAX);
    let cycle = Duration::from_millis(cycle?.into());
    // The bounds above are those of the policy.
    PollPolicy::new(cycle, count(per_host?), count(in_flight?)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::load;
    use crate::config::testing::input;

    fn poll(variables: &[(&str, &str)]) -> Result<PollPolicy, String> {
        let loaded = load(input(vec![], variables, ""));
        loaded.map(|loaded| loaded.config.poll).map_err(|error| error.to_string())
    }

    #[test]
    fn with_nothing_given_the_source_document_decides() {
        assert_eq!(poll(&[]), Ok(PollPolicy::default()));
    }

    #[test]
    fn the_name_of_the_source_document_is_known() {
        let given =
            poll(&[("POLL_MAX_CONCURRENT_PER_HOST", "2"), ("MAINSTAY_POLL_CYCLE_MS", "50")]);
        assert_eq!(given, Ok(PollPolicy::new(Duration::from_millis(50), 2, 256).unwrap()));
    }

    #[test]
    fn what_can_not_be_is_refused_by_name() {
        for (name, value) in [
            ("MAINSTAY_POLL_CYCLE_MS", "49"),
            ("MAINSTAY_POLL_CYCLE_MS", "60001"),
            ("POLL_MAX_CONCURRENT_PER_HOST", "0"),
            ("MAINSTAY_POLL_MAX_IN_FLIGHT", "10001"),
        ] {
            let text = poll(&[(name, value)]).unwrap_err();
            assert!(text.contains(name), "{text}");
        }
    }
}
