//! How the fleet is looked at.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::reader::{Reader, number};
use super::setting::{Fallback, Kind, Setting};

/// How often workers are looked at.
pub const SWEEP_MS: Setting = Setting {
    key: "fleet.sweep_ms",
    variables: &["MAINSTAY_FLEET_SWEEP_MS"],
    flag: None,
    kind: Kind::Integer,
    fallback: Fallback::Fixed("60000"),
    mask: None,
    help: "Milliseconds from one look at all ready workers to the next, 100 to 3600000",
};

const SWEEPS_MS: RangeInclusive<u32> = 100..=3_600_000;

/// How the fleet is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FleetConfig {
    /// From one look at all ready workers to the next.
    pub sweep: Duration,
}

/// Reads the settings of the fleet.
pub(super) fn read(reader: &mut Reader<'_>) -> Option<FleetConfig> {
    let sweep = reader.required(&SWEEP_MS, |text| number(text, SWEEPS_MS))?;
    Some(FleetConfig { sweep: Duration::from_millis(u64::from(sweep)) })
}
