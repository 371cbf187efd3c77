//! The eight checks and the five tests of the source document, each by its own number, on a clock
//! that stands still until the test moves it.
#![cfg(test)]
#![cfg(feature = "async")]

mod common;

use common::{Downstream, Gone, OPEN_FOR, Rig, builder, hangs, is_open, millis, poll, ready};
use mainstay_breaker::{Breaker, CallError, Detector, Event, HalfOpenPolicy, ManualClock, State};
use std::task::Poll;
use std::time::Duration;

fn call(
    breaker: &Breaker,
    downstream: &Downstream,
) -> Result<&'static str, CallError<&'static str>> {
    ready(breaker.call(downstream.clone().answer()))
}

#[test]
fn the_defaults_are_the_example_values() {
    let clock = ManualClock::new();
    let breaker = Breaker::builder("payments").clock(clock.clone()).build().unwrap();
    (0..4).for_each(|_| drop(breaker.run(|| Err::<(), _>("down"))));
    assert_eq!(breaker.state(), State::Closed);
    let _ = breaker.run(|| Err::<(), _>("down"));
    let rejected = breaker.enter().unwrap_err();
    assert_eq!(rejected.retry_after, Some(Duration::from_secs(5)));
    clock.advance(Duration::from_secs(5));
    let probes: Vec<_> = (0..9).filter_map(|_| breaker.enter().ok()).collect();
    assert_eq!(probes.len(), 3);
}

#[test]
fn check_1_open_rejects_at_once_and_the_downstream_is_not_called() {
    let rig = Rig::new();
    rig.breaker.force_open();
    let downstream = Downstream::default();
    match call(&rig.breaker, &downstream) {
        Err(CallError::Open { name, state, .. }) => {
            assert_eq!((&*name, state), ("payments", State::Open));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(downstream.calls(), 0);
}

#[test]
fn check_2_rolling_opens_with_enough_samples_and_a_rate_at_the_threshold() {
    let rig = Rig::with(|builder| builder.detector(Detector::rolling(millis(10_000), 4, 0.5)));
    rig.succeed();
    rig.succeed();
    rig.fail();
    assert_eq!(rig.state(), State::Closed, "three samples are not enough");
    rig.fail();
    assert_eq!(rig.state(), State::Open, "2 of 4 is the threshold");
}

#[test]
fn check_2_rolling_forgets_what_is_older_than_the_window() {
    let rig = Rig::with(|builder| builder.detector(Detector::rolling(millis(10_000), 4, 0.5)));
    (0..3).for_each(|_| rig.fail());
    rig.clock.advance(millis(10_000));
    rig.fail();
    assert_eq!(rig.state(), State::Closed, "one sample is within the window");
}

#[test]
fn check_2_consecutive_opens_at_n_and_a_success_starts_the_count_again() {
    let rig = Rig::new();
    rig.fail();
    rig.fail();
    rig.succeed();
    rig.fail();
    rig.fail();
    assert_eq!(rig.state(), State::Closed);
    rig.fail();
    assert_eq!(rig.state(), State::Open);
}

#[test]
fn check_3_open_becomes_half_open_after_open_for_and_admits_probes() {
    let rig = Rig::open();
    rig.clock.advance(OPEN_FOR - Duration::from_nanos(1));
    assert_eq!(rig.state(), State::Open);
    assert!(rig.is_refused());
    rig.clock.advance(Duration::from_nanos(1));
    let downstream = Downstream::default();
    assert_eq!(call(&rig.breaker, &downstream), Ok("paid"));
    assert_eq!(downstream.calls(), 1);
    assert_eq!(rig.state(), State::HalfOpen);
    assert_eq!(rig.snapshot().half_opened_total, 1);
}

#[test]
fn check_4_half_open_with_two_trials_refuses_the_third_of_three_at_once() {
    let rig = Rig::waited();
    let mut calls: Vec<_> =
        (0..3).map(|_| Box::pin(rig.breaker.call(hangs(Gone::default().alive())))).collect();
    assert!(poll(&mut calls[0]).is_pending());
    assert!(poll(&mut calls[1]).is_pending());
    match poll(&mut calls[2]) {
        Poll::Ready(Err(CallError::Open { state, .. })) => assert_eq!(state, State::HalfOpen),
        other => panic!("{other:?}"),
    }
}

#[test]
fn check_5_one_failed_probe_opens_at_once_and_the_next_calls_are_refused() {
    let rig = Rig::waited();
    let downstream = Downstream::down();
    assert_eq!(call(&rig.breaker, &downstream), Err(CallError::Inner("down")));
    assert_eq!(rig.state(), State::Open);
    assert!(is_open(&call(&rig.breaker, &downstream)));
    assert!(is_open(&call(&rig.breaker, &downstream)));
    assert_eq!(downstream.calls(), 1);
}

#[test]
fn check_6_all_probes_succeeded_closes_and_resets_what_the_detector_knew() {
    let rig = Rig::waited();
    let downstream = Downstream::default();
    assert_eq!(call(&rig.breaker, &downstream), Ok("paid"));
    assert_eq!(rig.state(), State::HalfOpen);
    assert_eq!(call(&rig.breaker, &downstream), Ok("paid"));
    assert_eq!(rig.state(), State::Closed);
    assert_eq!(rig.snapshot().consecutive_failures, Some(0));
}

#[test]
fn check_7_a_timeout_is_an_error_of_its_own_and_counts_as_a_failure() {
    let rig = Rig::with(|builder| builder.detector(Detector::consecutive(1)).timeout(millis(10)));
    let mut slow = Box::pin(rig.breaker.call(hangs(Gone::default().alive())));
    assert!(poll(&mut slow).is_pending());
    rig.clock.advance(millis(10));
    assert_eq!(poll(&mut slow), Poll::Ready(Err(CallError::Timeout { after: millis(10) })));
    let snapshot = rig.snapshot();
    assert_eq!((snapshot.timeout_total, snapshot.failure_total), (1, 1));
    assert_eq!(snapshot.state, State::Open);
}

#[test]
fn check_8_every_counter_says_what_happened() {
    let rig = Rig::new();
    rig.succeed();
    rig.trip();
    assert!(rig.is_refused());
    rig.clock.advance(OPEN_FOR);
    rig.succeed();
    rig.succeed();
    let held = rig.enter();
    let snapshot = rig.snapshot();
    assert_eq!(snapshot.state, State::Closed);
    assert_eq!(
        (snapshot.opened_total, snapshot.half_opened_total, snapshot.closed_total),
        (1, 1, 1)
    );
    assert_eq!((snapshot.allowed_total, snapshot.rejected_total), (7, 1));
    assert_eq!((snapshot.success_total, snapshot.failure_total), (3, 3));
    assert_eq!((snapshot.probe_success_total, snapshot.probe_failure_total), (2, 0));
    assert_eq!(snapshot.timeout_total, 0);
    assert_eq!(snapshot.in_flight, 1);
    held.success();
    assert_eq!(rig.snapshot().in_flight, 0);
}

#[test]
fn check_8_in_flight_is_bounded_by_what_was_let_through_and_comes_back_to_zero() {
    let rig = Rig::waited();
    let held: Vec<_> = (0..50).filter_map(|_| rig.breaker.enter().ok()).collect();
    assert_eq!(rig.snapshot().in_flight, 2);
    drop(held);
    assert_eq!(rig.snapshot().in_flight, 0);
}

#[test]
fn test_1_three_consecutive_failures_open_and_the_fourth_call_is_refused() {
    let clock = ManualClock::new();
    let breaker = builder(&clock).build().unwrap();
    let downstream = Downstream::down();
    for _ in 0..3 {
        assert_eq!(call(&breaker, &downstream), Err(CallError::Inner("down")));
    }
    assert_eq!(breaker.state(), State::Open);
    assert!(is_open(&call(&breaker, &downstream)));
    assert_eq!(downstream.calls(), 3);
}

#[test]
fn test_2_open_then_half_open_then_closed() {
    let clock = ManualClock::new();
    let breaker =
        builder(&clock).open_for(millis(1_000)).half_open(HalfOpenPolicy::all(2)).build().unwrap();
    let downstream = Downstream::down();
    (0..3).for_each(|_| drop(call(&breaker, &downstream)));
    assert_eq!(breaker.state(), State::Open);
    clock.advance(millis(1_000));
    downstream.recover();
    assert_eq!(call(&breaker, &downstream), Ok("paid"));
    assert_eq!(call(&breaker, &downstream), Ok("paid"));
    assert_eq!(breaker.state(), State::Closed);
}

#[test]
fn test_3_a_failed_probe_opens_again_and_the_refusals_grow() {
    let rig = Rig::waited();
    let downstream = Downstream::down();
    assert_eq!(call(&rig.breaker, &downstream), Err(CallError::Inner("down")));
    assert_eq!(rig.state(), State::Open);
    let before = rig.snapshot().rejected_total;
    assert!(is_open(&call(&rig.breaker, &downstream)));
    let snapshot = rig.snapshot();
    assert_eq!(snapshot.rejected_total, before + 1);
    assert_eq!((snapshot.opened_total, snapshot.probe_failure_total), (2, 1));
}

#[test]
fn test_4_a_rolling_window_opens_only_with_its_minimum_of_samples() {
    let rig = Rig::with(|builder| builder.detector(Detector::rolling(millis(10_000), 10, 0.5)));
    (0..9).for_each(|_| rig.fail());
    assert_eq!(rig.state(), State::Closed);
    rig.fail();
    assert_eq!(rig.state(), State::Open);
}

#[tokio::test(start_paused = true)]
async fn test_5_timeouts_count_as_failures_and_open() {
    // No clock is given: the timeout is the one of tokio's timer, and the test's time is paused.
    let breaker = Breaker::builder("payments")
        .detector(Detector::consecutive(3))
        .timeout(millis(10))
        .build()
        .unwrap();
    let mut events = breaker.subscribe().unwrap();
    for _ in 0..3 {
        let slow = async {
            tokio::time::sleep(millis(50)).await;
            Ok::<_, &str>("too late")
        };
        assert_eq!(breaker.call(slow).await, Err(CallError::Timeout { after: millis(10) }));
    }
    assert_eq!(breaker.state(), State::Open);
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.timeout_total, snapshot.failure_total), (3, 3));
    let timeouts = common::read(&mut events);
    assert_eq!(timeouts.iter().filter(|event| **event == Event::Timeout).count(), 3);
}
