//! How long events can be read again.

use std::time::Duration;

use super::reader::{Reader, number};
use super::setting::{Fallback, Kind, Setting};

/// By age.
pub const KEEP_DAYS: Setting = Setting {
    key: "events.keep_days",
    variables: &["MAINSTAY_EVENTS_KEEP_DAYS"],
    flag: None,
    kind: Kind::Integer,
    fallback: Fallback::Fixed("7"),
    mask: None,
    help: "Days that an event can be read again, 1 to 3650",
};

/// By count.
pub const KEEP_COUNT: Setting = Setting {
    key: "events.keep_count",
    variables: &["MAINSTAY_EVENTS_KEEP_COUNT"],
    flag: None,
    kind: Kind::Integer,
    fallback: Fallback::Fixed("1000000"),
    mask: None,
    help: "Events of one stream that can be read again, 1000 to 100000000",
};

/// How long events can be read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventsConfig {
    /// No longer than this.
    pub keep_age: Duration,
    /// No more than these of one stream.
    pub keep_count: u32,
}

/// Reads the settings of events.
pub(super) fn read(reader: &mut Reader<'_>) -> Option<EventsConfig> {
    let days = reader.required(&KEEP_DAYS, |text| number(text, 1..=3_650));
    let keep_count = reader.required(&KEEP_COUNT, |text| number(text, 1_000..=100_000_000));
    let keep_age = Duration::from_hours(24 * u64::from(days?));
    Some(EventsConfig { keep_age, keep_count: keep_count? })
}
