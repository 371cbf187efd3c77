#![cfg(test)]
//! What a snapshot says: every counter, and that they add up.

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use mainstay_breaker::{
    Breaker, Clock, Detector, HalfOpenPolicy, LatencyOf, ManualClock, Rolling, Snapshot, State,
};
use support::{SECOND, TICK, build, fail, succeed, trip};

/// Calls that have ended, by how they ended.
fn ended(snapshot: &Snapshot) -> u64 {
    let Snapshot { success_total, failure_total, ignored_total, .. } = *snapshot;
    let Snapshot { cancelled_total, stale_total, .. } = *snapshot;
    success_total + failure_total + ignored_total + cancelled_total + stale_total
}

#[test]
fn a_new_breaker_has_counted_nothing() {
    let (breaker, clock) = build(|builder| builder);
    clock.advance(3 * SECOND);
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.state, snapshot.forced), (State::Closed, false));
    assert_eq!((snapshot.generation, snapshot.retry_after), (0, None));
    assert_eq!((snapshot.allowed_total, snapshot.rejected_total, ended(&snapshot)), (0, 0, 0));
    assert_eq!((snapshot.opened_total, snapshot.half_opened_total), (0, 0));
    assert_eq!((snapshot.closed_total, snapshot.in_flight), (0, 0));
    assert_eq!(snapshot.consecutive_failures, Some(0));
    assert_eq!(snapshot.in_state_for, 3 * SECOND);
    assert_eq!(clock.now().since(snapshot.last_state_change_at), 3 * SECOND);
    assert_eq!((snapshot.latency.measured, snapshot.latency.mean), (0, Duration::ZERO));
    assert_eq!((snapshot.untold_events_total, snapshot.listener_panics_total), (0, 0));
}

#[test]
fn every_counter_counts_what_it_says() {
    let (breaker, clock) = build(|builder| {
        builder
            .detector(Detector::consecutive(3))
            .half_open(HalfOpenPolicy::all(2))
            .half_open_for(10 * SECOND)
    });
    let stale = breaker.enter().unwrap();
    (0..4).for_each(|_| assert_eq!(succeed(&breaker), mainstay_breaker::Settled::Counted));
    breaker.enter().unwrap().ignore();
    breaker.enter().unwrap().cancel();
    drop(breaker.enter().unwrap());
    fail(&breaker);
    breaker.enter().unwrap().timeout();
    assert_eq!(breaker.snapshot().consecutive_failures, Some(2));
    fail(&breaker);
    assert!(breaker.enter().is_err());
    assert!(breaker.enter_owned().is_err());
    stale.failure();
    clock.advance(2 * SECOND);
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.state, snapshot.generation), (State::Open, 1));
    assert_eq!((snapshot.retry_after, snapshot.in_state_for), (Some(3 * SECOND), 2 * SECOND));
    assert_eq!((snapshot.allowed_total, snapshot.rejected_total), (11, 2));
    assert_eq!((snapshot.success_total, snapshot.failure_total), (4, 3));
    assert_eq!((snapshot.timeout_total, snapshot.slow_total), (1, 0));
    assert_eq!((snapshot.ignored_total, snapshot.cancelled_total), (1, 2));
    assert_eq!((snapshot.stale_total, snapshot.in_flight), (1, 0));

    clock.advance(3 * SECOND);
    succeed(&breaker);
    let _lost = breaker.enter().unwrap();
    clock.advance(10 * SECOND);
    let probe = breaker.enter().unwrap();
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.state, snapshot.in_flight), (State::HalfOpen, 2));
    assert_eq!((snapshot.probe_success_total, snapshot.probe_lost_total), (1, 1));
    assert_eq!(snapshot.retry_after, None, "there is room for one more");
    probe.failure();
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.opened_total, snapshot.half_opened_total), (2, 1));
    assert_eq!((snapshot.probe_failure_total, snapshot.failure_total), (1, 4));

    clock.advance(5 * SECOND);
    succeed(&breaker);
    succeed(&breaker);
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.state, snapshot.closed_total), (State::Closed, 1));
    assert_eq!((snapshot.half_opened_total, snapshot.probe_success_total), (2, 3));
    assert_eq!((snapshot.in_state_for, snapshot.consecutive_failures), (Duration::ZERO, Some(0)));
    assert_eq!(snapshot.allowed_total, ended(&snapshot) + snapshot.in_flight);
}

#[test]
fn what_somebody_forced_is_said() {
    let (breaker, _clock) = build(|builder| builder);
    breaker.force_open();
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.state, snapshot.forced), (State::Open, true));
    assert_eq!((snapshot.retry_after, snapshot.opened_total), (None, 1));
    breaker.force_closed();
    assert!(breaker.snapshot().forced);
    breaker.reset();
    assert!(!breaker.snapshot().forced);
}

#[test]
fn totals_survive_a_reset() {
    let (breaker, _clock) = build(|builder| builder);
    trip(&breaker);
    assert!(breaker.enter().is_err());
    let before = breaker.snapshot();
    breaker.reset();
    let after = breaker.snapshot();
    assert_eq!((after.failure_total, after.rejected_total), (before.failure_total, 1));
    assert_eq!((after.opened_total, after.closed_total), (1, 1));
    assert!(after.generation > before.generation);
}

#[test]
fn a_slow_call_in_flight_is_both_a_failure_and_in_flight() {
    let slow_call = Some(SECOND);
    let (breaker, clock) =
        build(|builder| builder.detector(Rolling { slow_call, ..Rolling::default() }));
    let permit = breaker.enter().unwrap();
    clock.advance(SECOND + TICK);
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.slow_total, snapshot.failure_total), (1, 1));
    assert_eq!((snapshot.in_flight, snapshot.allowed_total), (1, 1));
    drop(permit);
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.in_flight, snapshot.allowed_total, ended(&snapshot)), (0, 1, 1));
}

/// Threads that do everything at once, while another looks.
fn hammer(breaker: &Breaker, clock: &ManualClock) {
    const ROUNDS: u32 = 3_000;
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let looks = scope.spawn(|| {
            let mut last = breaker.snapshot();
            while !done.load(Ordering::Relaxed) {
                let snapshot = breaker.snapshot();
                let sum = ended(&snapshot) + snapshot.in_flight;
                assert_eq!(snapshot.allowed_total, sum, "{snapshot:?}");
                assert!(snapshot.allowed_total >= last.allowed_total, "totals only grow");
                assert!(ended(&snapshot) >= ended(&last), "totals only grow");
                last = snapshot;
            }
        });
        let threads: Vec<_> = (0..4)
            .map(|thread| scope.spawn(move || (0..ROUNDS).for_each(|n| step(breaker, n + thread))))
            .collect();
        for thread in threads {
            while !thread.is_finished() {
                clock.advance(SECOND / 50);
                thread::yield_now();
            }
            thread.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
        looks.join().unwrap();
    });
    let snapshot = breaker.snapshot();
    assert_eq!(snapshot.in_flight, 0);
    assert_eq!(snapshot.allowed_total + snapshot.rejected_total, u64::from(4 * ROUNDS));
    assert_eq!(snapshot.allowed_total, ended(&snapshot));
}

fn step(breaker: &Breaker, number: u32) {
    let Ok(permit) = breaker.enter() else { return };
    match number % 16 {
        0..8 => drop(permit.success()),
        8..11 => drop(permit.failure()),
        11 => drop(permit.ignore()),
        12 => drop(permit.timeout()),
        _ => drop(permit),
    }
}

#[test]
fn the_counters_add_up_while_threads_are_at_work() {
    for detector in [
        Detector::consecutive(u32::MAX),
        Detector::consecutive(3),
        Detector::ring(64, 64, 0.9),
        Detector::rolling(SECOND, 20, 0.3),
    ] {
        let (breaker, clock) =
            build(|builder| builder.detector(detector).open_for(SECOND).half_open_for(SECOND));
        hammer(&breaker, &clock);
    }
}

#[test]
fn the_first_calls_are_measured_and_then_a_sample() {
    let (breaker, clock) = build(|builder| builder);
    let mut measured = Vec::new();
    for _ in 0..256 * 3 {
        let before = breaker.snapshot().latency.measured;
        let permit = breaker.enter().unwrap();
        clock.advance(SECOND);
        permit.success();
        measured.push(breaker.snapshot().latency.measured > before);
    }
    let (first, rest) = measured.split_at(64);
    assert!(first.iter().all(|is| *is));
    let sampled: Vec<_> =
        rest.iter().enumerate().filter(|(_, is)| **is).map(|(at, _)| at).collect();
    assert_eq!(sampled, [256 - 64, 512 - 64]);
    assert_eq!(breaker.snapshot().success_total, 768);
    assert_eq!(breaker.snapshot().latency.mean, SECOND);
}

#[test]
fn the_mean_and_the_longest_of_every_call_are_kept() {
    let (breaker, clock) = build(|builder| builder.latency(LatencyOf::Every));
    for millis in [10, 20, 60] {
        let permit = breaker.enter().unwrap();
        clock.advance(Duration::from_millis(millis));
        if millis == 20 {
            permit.failure()
        } else {
            permit.success()
        };
    }
    for _ in 0..200 {
        let permit = breaker.enter().unwrap();
        clock.advance(SECOND);
        permit.ignore();
    }
    let latency = breaker.snapshot().latency;
    assert_eq!(latency.measured, 3, "what does not count is not measured");
    let millis = Duration::from_millis;
    assert_eq!((latency.mean, latency.max), (millis(30), millis(60)));
}

#[test]
fn nothing_is_measured_where_nobody_wants_to_know() {
    let (breaker, clock) = build(|builder| builder.latency(LatencyOf::Nothing));
    for _ in 0..100 {
        let permit = breaker.enter().unwrap();
        clock.advance(SECOND);
        permit.failure();
        breaker.reset();
    }
    assert_eq!(breaker.snapshot().latency.measured, 0);
}

#[test]
fn probes_are_measured_too() {
    let (breaker, clock) = build(|builder| builder.latency(LatencyOf::Every));
    trip(&breaker);
    clock.advance(5 * SECOND);
    let probe = breaker.enter().unwrap();
    clock.advance(2 * SECOND);
    probe.success();
    assert_eq!(breaker.snapshot().latency.max, 2 * SECOND);
}
