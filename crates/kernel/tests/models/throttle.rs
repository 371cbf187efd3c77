//! The model is the list of everybody who was let through, counted in every window.

use std::time::Duration;

use mainstay_base::Moment;
use mainstay_kernel::{Rate, Throttle};
use proptest::prelude::*;

fn at(nanoseconds: u64) -> Moment {
    Moment::from_origin(Duration::from_nanos(nanoseconds))
}

/// A rate, with its own numbers beside it: count, period in nanoseconds, burst.
fn any_rate() -> impl Strategy<Value = (Rate, u64, u64, u64)> {
    (1..20_u32, 1..2_000_u64, 1..12_u32).prop_map(|(count, period, burst)| {
        let rate = Rate::new(count, Duration::from_nanos(period), burst).unwrap();
        (rate, u64::from(count), period, u64::from(burst))
    })
}

/// Moments in order, often several at once.
fn any_visits() -> impl Strategy<Value = Vec<u64>> {
    let step = prop_oneof![3 => Just(0), 3 => 1..50_u64, 1 => 50..5_000_u64];
    proptest::collection::vec(step, 1..200).prop_map(|steps| {
        let mut now = 0;
        steps
            .into_iter()
            .map(|step| {
                now += step;
                now
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn no_window_lets_more_through_than_the_burst_and_the_rate(
        (rate, count, period, burst) in any_rate(),
        visits in any_visits(),
    ) {
        let mut throttle = Throttle::default();
        let mut passed = Vec::new();
        for now in visits {
            if throttle.admit(&rate, at(now)).is_ok() {
                passed.push(now);
            }
        }
        for (first, start) in passed.iter().enumerate() {
            for (last, end) in passed.iter().enumerate().skip(first) {
                let most = burst + (end - start) * count / period;
                prop_assert!((last - first + 1) as u64 <= most, "{start} to {end}: more than {most}");
            }
        }
    }

    #[test]
    fn the_wait_is_exact_and_a_refusal_costs_nothing(
        (rate, ..) in any_rate(),
        visits in any_visits(),
    ) {
        let mut throttle = Throttle::default();
        for now in visits {
            let before = throttle;
            let Err(refused) = throttle.admit(&rate, at(now)) else { continue };
            prop_assert_eq!(throttle, before);
            let wait = refused.retry_after;
            prop_assert!(!wait.is_zero());
            let just_before = at(now).plus(wait - Duration::from_nanos(1));
            prop_assert!(before.clone().admit(&rate, just_before).is_err());
            prop_assert!(before.clone().admit(&rate, at(now).plus(wait)).is_ok());
        }
    }

    #[test]
    fn whoever_keeps_to_the_rate_is_never_refused(
        (rate, count, period, _) in any_rate(),
        pauses in proptest::collection::vec(0..100_u64, 1..100),
    ) {
        let mut throttle = Throttle::default();
        let mut now = 0;
        for pause in pauses {
            prop_assert!(throttle.admit(&rate, at(now)).is_ok(), "{now}");
            now += period.div_ceil(count) + pause;
        }
    }

    #[test]
    fn once_paid_off_the_whole_burst_is_there_again(
        (rate, _, _, burst) in any_rate(),
        visits in any_visits(),
    ) {
        let mut throttle = Throttle::default();
        for now in visits {
            let _ = throttle.admit(&rate, at(now));
        }
        let now = throttle.paid_off_at();
        for _ in 0..burst {
            prop_assert!(throttle.admit(&rate, now).is_ok());
        }
        prop_assert!(throttle.admit(&rate, now).is_err());
    }
}
