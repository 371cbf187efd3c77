//! A little chance for jitter: the same seed gives the same pollers the same jitter.

use std::hash::{BuildHasher as _, RandomState};

/// Splitmix64: short, and good enough to keep pollers apart.
#[derive(Debug, Clone)]
pub(crate) struct Chance(u64);

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Chance {
    /// The chance of one poller among others.
    pub(crate) fn new(seed: u64, number: u64) -> Self {
        Self(seed ^ number.wrapping_mul(STEP))
    }

    /// A seed that nobody chose.
    pub(crate) fn any_seed() -> u64 {
        RandomState::new().hash_one(STEP)
    }

    /// From 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    pub(crate) fn draw(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(STEP);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        (mixed >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_repeats_by_its_seed_and_spreads() {
        let draw = |number| {
            let mut chance = Chance::new(7, number);
            [(); 1_000].map(|()| chance.draw())
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        let mean = draw(1).iter().sum::<f64>() / 1_000.0;
        assert!((0.45..0.55).contains(&mean), "{mean}");
        assert!(draw(1).iter().all(|drawn| (0.0..=1.0).contains(drawn)));
    }
}
