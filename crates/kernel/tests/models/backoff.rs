//! The model multiplies step by step in exact integers and stops at the max.

use std::time::Duration;

use mainstay_base::Rng;
use mainstay_kernel::{Backoff, BackoffPolicy};
use proptest::prelude::*;

struct Fixed(u32);

impl Rng for Fixed {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.0.to_le_bytes());
    }
}

/// `min(base × multiplier^attempt, max)` in nanoseconds.
fn grown(base: u128, multiplier: u128, max: u128, attempt: u32) -> u128 {
    let mut delay = base;
    for _ in 0..attempt {
        if delay >= max {
            break;
        }
        delay *= multiplier;
    }
    delay.min(max)
}

fn any_policy() -> impl Strategy<Value = BackoffPolicy> {
    let durations = (1..u64::MAX, any::<u64>());
    (durations, 1.0..1e6_f64, 0.0..=1.0_f64).prop_map(|((base, above), multiplier, jitter)| {
        let base = Duration::from_nanos(base);
        let policy = BackoffPolicy::new(base, multiplier, base + Duration::from_nanos(above));
        policy.unwrap().with_jitter(jitter).unwrap()
    })
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Fail,
    Succeed,
    Restart,
}

proptest! {
    #[test]
    fn whole_milliseconds_grow_exactly(
        base in 1..100_000_u64,
        multiplier in 1..1_000_u32,
        above in 0..1_000_000_u64,
        attempt in prop_oneof![0..64_u32, any::<u32>()],
    ) {
        let (first, max) = (Duration::from_millis(base), Duration::from_millis(base + above));
        let policy = BackoffPolicy::new(first, f64::from(multiplier), max).unwrap();
        // One that never grows needs no loop of four thousand million turns.
        let turns = if multiplier == 1 { 0 } else { attempt };
        let expected = grown(first.as_nanos(), u128::from(multiplier), max.as_nanos(), turns);
        prop_assert_eq!(policy.delay(attempt).as_nanos(), expected);
    }

    #[test]
    fn whole_multipliers_grow_to_the_nanosecond(
        base in 1..u64::MAX,
        multiplier in 1..100_000_u32,
        above in any::<u64>(),
        attempt in prop_oneof![0..64_u32, any::<u32>()],
    ) {
        let (first, max) = (u128::from(base), u128::from(base) + (u128::from(above) << 20));
        let (base, longest) = (Duration::from_nanos(base), Duration::from_nanos_u128(max));
        let policy = BackoffPolicy::new(base, f64::from(multiplier), longest).unwrap();
        let turns = if multiplier == 1 { 0 } else { attempt };
        let expected = grown(first, u128::from(multiplier), max, turns);
        prop_assert_eq!(policy.delay(attempt).as_nanos(), expected);
        prop_assert_eq!(policy.delay(0), base);
    }

    #[test]
    fn a_delay_never_shrinks_from_failure_to_failure(policy in any_policy(), attempt in 0..u32::MAX) {
        prop_assert!(policy.delay(attempt) <= policy.delay(attempt + 1));
        prop_assert!(policy.delay(0) <= policy.delay(attempt));
    }

    #[test]
    fn jitter_only_shortens_and_never_to_nothing(
        policy in any_policy(),
        attempt in any::<u32>(),
        chance in any::<u32>(),
    ) {
        let mut backoff = Backoff::restored(attempt);
        let waited = backoff.next_delay(&policy, Duration::ZERO, &Fixed(chance));
        prop_assert!(waited > Duration::ZERO);
        prop_assert!(waited <= policy.delay(attempt));
    }

    #[test]
    fn the_wait_follows_the_failures_in_a_row(
        steps in proptest::collection::vec(
            prop_oneof![
                6 => Just(Step::Fail),
                1 => Just(Step::Succeed),
                1 => Just(Step::Restart),
            ],
            0..60,
        ),
        interval in 0..600_u64,
    ) {
        let (policy, interval) = (BackoffPolicy::default(), Duration::from_secs(interval));
        let (mut backoff, mut failures) = (Backoff::default(), 0);
        for step in steps {
            match step {
                Step::Fail => {
                    let waited = backoff.next_delay(&policy, interval, &Fixed(0));
                    let seconds = grown(1, 2, 300, failures);
                    prop_assert_eq!(u128::from(waited.as_secs()), seconds.max(interval.as_secs().into()));
                    failures += 1;
                }
                Step::Succeed => {
                    backoff.reset();
                    failures = 0;
                }
                Step::Restart => backoff = Backoff::restored(backoff.attempt()),
            }
            prop_assert_eq!(backoff.attempt(), failures);
        }
    }
}
