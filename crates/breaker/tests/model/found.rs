//! What the model, the fuzzer and the mutants have found, each as a test of its own.

use std::time::Duration;

use mainstay_breaker::{Breaker, Detector, ManualClock, Rejected, State};

/// Open after its first failure, with times in seconds.
fn open_breaker(clock: &ManualClock, open_for: u64, half_open_for: u64) -> Breaker {
    let breaker = Breaker::builder("payments")
        .detector(Detector::consecutive(1))
        .open_for(Duration::from_secs(open_for))
        .half_open_for(Duration::from_secs(half_open_for))
        .clock(clock.clone())
        .build()
        .unwrap();
    let _ = breaker.run(|| Err::<(), _>("down"));
    breaker
}

#[test]
fn what_is_saved_while_the_operators_probe_is_lost_is_what_remains_of_open() {
    let clock = ManualClock::new();
    let breaker = open_breaker(&clock, 60, 10);
    let _probe = breaker.enter_probe().unwrap();
    clock.advance(Duration::from_secs(10));
    let remaining = Duration::from_secs(50);
    let rejected = Rejected { state: State::Open, retry_after: Some(remaining) };
    assert_eq!(breaker.would_reject(), Some(rejected));
    assert_eq!(breaker.export().state, State::Open);
    assert_eq!(breaker.export().open_remaining, remaining);
}

#[test]
fn an_operators_probe_that_is_lost_just_when_open_ends_leaves_it_half_open() {
    let clock = ManualClock::new();
    let breaker = open_breaker(&clock, 10, 10);
    let _probe = breaker.enter_probe().unwrap();
    clock.advance(Duration::from_secs(10));
    assert_eq!(breaker.state(), State::HalfOpen);
    assert_eq!(breaker.would_reject(), None);
    assert!(breaker.enter().is_ok());
}

#[test]
fn an_operators_probe_that_is_cancelled_just_when_open_ends_does_not_open_it_again() {
    let clock = ManualClock::new();
    let breaker = open_breaker(&clock, 10, 60);
    let probe = breaker.enter_probe().unwrap();
    clock.advance(Duration::from_secs(10));
    let before = breaker.snapshot();
    drop(probe);
    let after = breaker.snapshot();
    assert_eq!((after.state, after.opened_total), (State::HalfOpen, before.opened_total));
    assert_eq!(after.generation, before.generation);
}
