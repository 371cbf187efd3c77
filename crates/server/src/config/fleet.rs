//! How the fleet is looked at, and where its machines come from.

use std::ops::RangeInclusive;
use std::time::Duration;

use mainstay_fleet::providers::{FlySettings, SpriteSettings};

use super::outbound::OutboundConfig;
use super::reader::{Reader, number};
use super::setting::{Fallback, Kind, Setting};
use super::{fly, sprites};

/// How often workers are looked at.
pub const SWEEP_MS: Setting = Setting {
    key: "fleet.sweep_ms",
    variables: &["MAINSTAY_FLEET_SWEEP_MS"],
    flag: None,
    kind: Kind::Integer,
    fallback: Fallback::Fixed("60000"),
    mask: None,
    help: "Milliseconds from one look at all ready workers to the next, 100 to 300000",
};

/// Agents on this host end by themselves when nobody has called for ten minutes: two sweeps fit in.
const SWEEPS_MS: RangeInclusive<u32> = 100..=300_000;

/// How the fleet is looked at, and where its machines come from beside this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetConfig {
    /// From one look at all ready workers to the next.
    pub sweep: Duration,
    /// Machines of Fly, where it is set up.
    pub fly: Option<FlySettings>,
    /// Machines of Sprites, where they are set up.
    pub sprites: Option<SpriteSettings>,
}

/// Reads the settings of the fleet. The certificates of providers may be of an authority that those of
/// services are.
pub(super) fn read(
    reader: &mut Reader<'_>,
    outbound: Option<&OutboundConfig>,
) -> Option<FleetConfig> {
    let sweep = reader.required(&SWEEP_MS, |text| number(text, SWEEPS_MS));
    let (fly, sprites) = (fly::read(reader, outbound), sprites::read(reader, outbound));
    let sweep = Duration::from_millis(u64::from(sweep?));
    Some(FleetConfig { sweep, fly: fly?, sprites: sprites? })
}
