//! How long what was measured and what happened are kept.

use std::time::Duration;

use mainstay_monitor::latency::Retention;

use super::reader::{Reader, number};
use super::setting::{Fallback, Kind, Setting};

/// How long the latency of each poll is kept.
pub const RAW_HOURS: Setting = Setting {
    key: "history.raw_hours",
    variables: &["MAINSTAY_HISTORY_RAW_HOURS"],
    flag: None,
    kind: Kind::Integer,
    fallback: Fallback::Fixed("48"),
    mask: None,
    help: "Hours that the latency of each single poll is kept, 24 to 720",
};

/// How long what is missing is listed.
pub const MISSING_HOURS: Setting = Setting {
    key: "history.missing_hours",
    variables: &["MAINSTAY_HISTORY_MISSING_HOURS"],
    flag: None,
    kind: Kind::Integer,
    fallback: Fallback::Fixed("24"),
    mask: None,
    help: "Hours that a dependency is listed which its service does not report any more, 1 to 720",
};

/// How long latencies by five minutes are kept.
pub const FIVE_MINUTE_DAYS: Setting = Setting {
    key: "history.five_minute_days",
    variables: &["MAINSTAY_HISTORY_FIVE_MINUTE_DAYS"],
    flag: None,
    kind: Kind::Integer,
    fallback: Fallback::Fixed("30"),
    mask: None,
    help: "Days that latencies by five minutes are kept, 8 to 400",
};

/// How long latencies by hours are kept, and what happened.
pub const HOURLY_DAYS: Setting = Setting {
    key: "history.hourly_days",
    variables: &["MAINSTAY_HISTORY_HOURLY_DAYS"],
    flag: None,
    kind: Kind::Integer,
    fallback: Fallback::Fixed("400"),
    mask: None,
    help: "Days that latencies by hours are kept, and status changes and errors with them, 31 to 3660",
};

/// Reads how long history is kept.
pub(super) fn read(reader: &mut Reader<'_>) -> Option<Retention> {
    let raw = reader.required(&RAW_HOURS, |text| number(text, 24..=720));
    let five_minutes = reader.required(&FIVE_MINUTE_DAYS, |text| number(text, 8..=400));
    let hourly = reader.required(&HOURLY_DAYS, |text| number(text, 31..=3_660));
    let missing = reader.required(&MISSING_HOURS, |text| number(text, 1..=720));
    let hours = |count: u32| Duration::from_hours(count.into());
    let days = |count: u32| Duration::from_hours(u64::from(count).saturating_mul(24));
    // The bounds above are those of the retention.
    Retention::new(hours(raw?), days(five_minutes?), days(hourly?), hours(missing?)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::load;
    use crate::config::testing::input;

    fn history(variables: &[(&str, &str)]) -> Result<Retention, String> {
        let loaded = load(input(vec![], variables, ""));
        loaded.map(|loaded| loaded.config.history).map_err(|error| error.to_string())
    }

    #[test]
    fn the_defaults_are_those_of_the_retention() {
        assert_eq!(history(&[]), Ok(Retention::default()));
    }

    #[test]
    fn every_bound_of_the_settings_is_one_of_the_retention() {
        for (raw, five, hourly, missing) in [("24", "8", "31", "1"), ("720", "400", "3660", "720")]
        {
            let given = history(&[
                ("MAINSTAY_HISTORY_RAW_HOURS", raw),
                ("MAINSTAY_HISTORY_FIVE_MINUTE_DAYS", five),
                ("MAINSTAY_HISTORY_HOURLY_DAYS", hourly),
                ("MAINSTAY_HISTORY_MISSING_HOURS", missing),
            ]);
            let missing = missing.parse().unwrap();
            assert_eq!(given.map(|kept| kept.missing()), Ok(Duration::from_hours(missing)));
        }
        let text = history(&[("MAINSTAY_HISTORY_HOURLY_DAYS", "30")]).unwrap_err();
        assert!(text.contains("MAINSTAY_HISTORY_HOURLY_DAYS"), "{text}");
    }
}
