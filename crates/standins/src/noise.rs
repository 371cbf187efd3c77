//! Chance that comes out the same for the same seed, subject and moment.

/// The length of time in which noise stays the same, in milliseconds.
const GRAIN_MS: i64 = 1_000;

/// A number from 0 to below 1 for this seed, subject and moment.
#[must_use]
pub fn at_moment(seed: u64, subject: &str, story_ms: i64) -> f64 {
    fraction(seed, subject, story_ms.div_euclid(GRAIN_MS))
}

/// A number from 0 to below 1 for this seed, subject and turn.
#[must_use]
pub fn fraction(seed: u64, subject: &str, turn: i64) -> f64 {
    // The upper 53 bits are what a float holds.
    let bits = bits(seed, subject, turn) >> 11;
    let whole = f64::from(u32::try_from(bits >> 21).unwrap_or(u32::MAX));
    whole / 4_294_967_296.0
}

/// A whole number below `end` for this seed, subject and turn; 0 when `end` is 0.
#[must_use]
pub fn below(seed: u64, subject: &str, turn: i64, end: u64) -> u64 {
    bits(seed, subject, turn).checked_rem(end).unwrap_or(0)
}

/// How much longer than usual a check takes: most take about as long, a few much longer.
#[must_use]
pub fn stretch(seed: u64, subject: &str, story_ms: i64) -> f64 {
    let first = at_moment(seed, subject, story_ms);
    let second = at_moment(seed.rotate_left(17), subject, story_ms);
    // The sum of two leans to the middle; the power gives a tail.
    let tail = second.powi(12) * 3.0;
    0.7 + (first + second) * 0.35 + tail
}

fn bits(seed: u64, subject: &str, turn: i64) -> u64 {
    let named = subject.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    mix(mix(seed ^ named).wrapping_add(turn.cast_unsigned()))
}

/// Each bit of the result depends on each of what is given.
const fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_subject_and_moment_give_the_same() {
        assert_eq!(at_moment(7, "redis", 1_500), at_moment(7, "redis", 1_999));
        assert_ne!(at_moment(7, "redis", 1_500), at_moment(7, "redis", 2_000));
        assert_ne!(at_moment(7, "redis", 1_500), at_moment(8, "redis", 1_500));
        assert_ne!(at_moment(7, "redis", 1_500), at_moment(7, "kafka", 1_500));
        assert_ne!(at_moment(7, "redis", -1), at_moment(7, "redis", 1));
    }

    #[test]
    fn fractions_are_spread_over_their_range() {
        let all: Vec<f64> = (0..1_000).map(|turn| fraction(1, "a", turn)).collect();
        assert!(all.iter().all(|one| (0.0..1.0).contains(one)));
        let mean = all.iter().sum::<f64>() / 1_000.0;
        assert!((0.45..0.55).contains(&mean), "{mean}");
        assert!((0..100).all(|turn| below(1, "a", turn, 6) < 6));
        assert_eq!(below(1, "a", 0, 0), 0);
    }

    #[test]
    fn most_checks_take_as_long_as_usual_and_a_few_much_longer() {
        let all: Vec<f64> = (0..1_000).map(|at| stretch(1, "a", at * 1_000)).collect();
        assert!(all.iter().all(|one| (0.7..4.5).contains(one)));
        assert!(all.iter().filter(|one| **one > 2.0).count() < 200);
        assert!(all.iter().any(|one| *one > 2.5));
    }
}
