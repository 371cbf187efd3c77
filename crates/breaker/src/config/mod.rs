//! How a breaker is set up: [`Builder`], the policies it takes, and the errors of those that can't
//! work.

mod builder;
mod check;
mod detector;
mod half_open;

pub use builder::{Builder, MAX_NAME};
pub use check::{ConfigError, Problem};
pub use detector::{Detector, MAX_DETECTORS, MAX_RING, Ring, Rolling};
pub use half_open::{ClosePolicy, HalfOpenPolicy};

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::ClockSource;
use crate::events::Listener;
use crate::machine::Rules;

/// What all clones of a breaker share, and all breakers of a registry.
pub(crate) struct Settings {
    pub(crate) name: Arc<str>,
    pub(crate) rules: Rules,
    pub(crate) timeout: Option<Duration>,
    pub(crate) clock: ClockSource,
    /// Some duration is so short that the rough clock will not do.
    pub(crate) is_exact: bool,
    pub(crate) latency: LatencyOf,
    pub(crate) listeners: Arc<[Listener]>,
}

/// Which calls have their latency measured. Where slow calls count, the clock is read for every
/// call anyway and all are measured, whatever is said here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LatencyOf {
    /// The first 64 calls and then every 256th: reading a clock twice costs more than all the rest.
    #[default]
    Sample,
    /// Every call.
    Every,
    /// None. Where slow calls count, all of them are measured nevertheless, as their times are known.
    Nothing,
}

impl LatencyOf {
    /// Whether the call with this number is measured.
    #[inline]
    pub(crate) const fn includes(self, number: u64) -> bool {
        const FIRST: u64 = 64;
        const EVERY: u64 = 256;
        match self {
            Self::Sample => number < FIRST || number.is_multiple_of(EVERY),
            Self::Every => true,
            Self::Nothing => false,
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Settings")
            .field("name", &self.name)
            .field("rules", &self.rules)
            .field("timeout", &self.timeout)
            .field("clock", &self.clock)
            .field("latency", &self.latency)
            .field("listeners", &self.listeners.len())
            .finish_non_exhaustive()
    }
}
