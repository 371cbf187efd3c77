#![cfg(test)]
//! Whatever a breaker is built with: it is refused, or it survives whatever is done to it.

mod support;

use std::time::Duration;

use mainstay_breaker::{
    Breaker, Builder, ClosePolicy, Detector, HalfOpenPolicy, LatencyOf, ManualClock, Permit, Ring,
    Rolling, Saved, State,
};
use proptest::prelude::*;

fn durations() -> impl Strategy<Value = Duration> {
    prop_oneof![
        1 => Just(Duration::ZERO),
        2 => Just(Duration::MAX),
        40 => (1_u64..10_000).prop_map(Duration::from_millis),
        6 => any::<u64>().prop_map(Duration::from_nanos),
    ]
}

fn numbers() -> impl Strategy<Value = u32> {
    prop_oneof![1 => Just(0), 1 => Just(u32::MAX), 50 => 1_u32..8, 1 => any::<u32>()]
}

fn shares() -> impl Strategy<Value = f64> {
    prop_oneof![40 => 0.0..=1.0, 4 => Just(0.0), 4 => Just(1.0), 1 => any::<f64>()]
}

fn detectors() -> impl Strategy<Value = Detector> {
    let rolling = (durations(), numbers(), shares(), prop::option::weighted(0.3, durations()))
        .prop_map(|(window, min_samples, error_rate, slow_call)| {
            Rolling { window, min_samples, error_rate, slow_call }.into()
        });
    let ring = (8_u32..70, numbers(), shares())
        .prop_map(|(size, min_samples, error_rate)| Ring { size, min_samples, error_rate }.into());
    let one = prop_oneof![numbers().prop_map(Detector::consecutive), rolling, ring];
    one.prop_recursive(2, 12, 4, |inner| {
        prop::collection::vec(inner, 0..5).prop_map(Detector::any_of)
    })
}

fn policies() -> impl Strategy<Value = HalfOpenPolicy> {
    let close = prop_oneof![
        Just(ClosePolicy::AllSucceed),
        numbers().prop_map(ClosePolicy::Successes),
        (numbers(), shares())
            .prop_map(|(trials, success_rate)| ClosePolicy::SuccessRate { trials, success_rate }),
    ];
    (numbers(), prop::option::weighted(0.2, numbers()), close)
        .prop_map(|(max_trials, at_once, close)| HalfOpenPolicy { max_trials, at_once, close })
}

fn latencies() -> impl Strategy<Value = LatencyOf> {
    prop_oneof![Just(LatencyOf::Sample), Just(LatencyOf::Every), Just(LatencyOf::Nothing)]
}

fn builders() -> impl Strategy<Value = (Builder, ManualClock)> {
    let parts = ("[ -~]{0,4}", detectors(), durations(), policies(), durations(), latencies());
    parts.prop_map(|(name, detector, open_for, half_open, half_open_for, latency)| {
        let clock = ManualClock::new();
        let builder = Breaker::builder(format!("a{name}"))
            .clock(clock.clone())
            .detector(detector)
            .open_for(open_for)
            .half_open(half_open)
            .half_open_for(half_open_for)
            .latency(latency);
        (builder, clock)
    })
}

#[derive(Debug, Clone)]
enum Step {
    Enter,
    EnterProbe,
    Settle(usize, u8),
    Advance(Duration),
    Rewind(Duration),
    Steer(u8),
    Restore(Saved),
}

fn steps() -> impl Strategy<Value = Step> {
    let states = prop_oneof![Just(State::Closed), Just(State::Open), Just(State::HalfOpen)];
    let saved = (states, any::<bool>(), any::<u32>(), durations(), any::<u64>()).prop_map(
        |(state, forced, failures, open_remaining, generation)| Saved {
            state,
            forced,
            failures,
            open_remaining,
            generation: generation >> 16,
        },
    );
    prop_oneof![
        10 => Just(Step::Enter),
        2 => Just(Step::EnterProbe),
        10 => (any::<usize>(), any::<u8>()).prop_map(|(which, how)| Step::Settle(which, how)),
        4 => durations().prop_map(Step::Advance),
        1 => durations().prop_map(Step::Rewind),
        1 => any::<u8>().prop_map(Step::Steer),
        1 => saved.prop_map(Step::Restore),
    ]
}

fn settle(permit: Permit<'_>, how: u8) {
    match how % 7 {
        0 | 1 => permit.success(),
        2 | 3 => permit.failure(),
        4 => permit.timeout(),
        5 => permit.ignore(),
        _ => permit.cancel(),
    };
}

fn steer(breaker: &Breaker, how: u8) {
    match how % 3 {
        0 => breaker.force_open(),
        1 => breaker.force_closed(),
        _ => breaker.reset(),
    }
}

fn take<'a>(breaker: &'a Breaker, clock: &ManualClock, step: &Step, held: &mut Vec<Permit<'a>>) {
    match *step {
        Step::Enter => {
            let said = breaker.would_reject();
            match breaker.enter() {
                Ok(permit) => {
                    assert_eq!(said, None, "what is said is what is done");
                    held.push(permit);
                }
                Err(rejected) => assert_eq!(said, Some(rejected)),
            }
        }
        Step::EnterProbe => held.extend(breaker.enter_probe()),
        Step::Settle(_, _) if held.is_empty() => {}
        Step::Settle(which, how) => settle(held.swap_remove(which % held.len()), how),
        Step::Advance(duration) => clock.advance(duration),
        Step::Rewind(duration) => clock.step_back(duration),
        Step::Steer(how) => steer(breaker, how),
        Step::Restore(ref saved) => breaker.restore(saved).unwrap(),
    }
}

fn check(breaker: &Breaker, held: usize) {
    let snapshot = breaker.snapshot();
    assert_eq!(snapshot.state, breaker.state());
    assert_eq!(snapshot.in_flight, held as u64);
    let rates = [snapshot.rolling, snapshot.ring].into_iter().flatten();
    for window in rates {
        assert!(window.failures <= window.samples);
        assert!((0.0..=1.0).contains(&window.error_rate), "{window:?}");
    }
    assert!(snapshot.timeout_total.max(snapshot.slow_total) <= snapshot.failure_total);
    assert_eq!(breaker.export().state, snapshot.state);
}

proptest! {
    #[test]
    fn any_configuration_is_refused_or_survives(
        (builder, clock) in builders(),
        steps in prop::collection::vec(steps(), 200),
    ) {
        let Ok(breaker) = builder.build() else { return Ok(()) };
        let mut held = Vec::new();
        for step in steps {
            take(&breaker, &clock, &step, &mut held);
            check(&breaker, held.len());
        }
        drop(held);
        check(&breaker, 0);
        breaker.reset();
        prop_assert!(breaker.enter().is_ok());
    }
}
