//! How endpoints behave: by a number that a seed gives each of them.

use std::time::Duration;

/// How one endpoint behaves at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manner {
    /// How long the request takes.
    pub latency: Duration,
    /// Whether it succeeds.
    pub succeeds: bool,
}

/// Says how endpoints behave.
#[derive(Debug, Clone, Copy)]
pub struct Script {
    /// What chance goes by.
    pub seed: u64,
    /// Of a thousand endpoints so many never answer.
    pub dead_per_mille: u64,
    /// Of a thousand polls of the others so many fail.
    pub flaky_per_mille: u64,
}

impl Script {
    /// A world of this seed in which all is well.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { seed, dead_per_mille: 0, flaky_per_mille: 0 }
    }

    /// How the endpoint of service `number` behaves in a poll that begins `at`.
    #[must_use]
    pub const fn manner(&self, number: u64, at: Duration) -> Manner {
        let own = mix(self.seed ^ mix(number));
        let chance = mix(own ^ mix(at.as_secs() ^ mix(at.subsec_nanos() as u64)));
        if own % 1_000 < self.dead_per_mille {
            return Manner { latency: Duration::from_secs(10), succeeds: false };
        }
        let latency = Duration::from_micros(500 + chance % 4_500);
        Manner { latency, succeeds: (chance >> 32) % 1_000 >= self.flaky_per_mille }
    }

    /// Whether the endpoint of service `number` never answers.
    #[must_use]
    pub const fn is_dead(&self, number: u64) -> bool {
        mix(self.seed ^ mix(number)) % 1_000 < self.dead_per_mille
    }
}

/// Spreads the bits of a number over all of it.
const fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}
