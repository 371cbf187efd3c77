//! What other breakers got wrong, measured or told in their issue trackers: one test for each, with
//! the wrong outcome as its name's opposite.
#![cfg(test)]
#![cfg(feature = "async")]

mod common;

use std::mem::forget;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use common::{Gone, HOUR, OPEN_FOR, Rig, builder, hangs, millis, panics, poll, read};
use mainstay_breaker::{
    Breaker, CallError, CallOptions, Cause, Detector, Event, HalfOpenPolicy, ManualClock, Rolling,
    Settled, State,
};

/// circuitbreaker-rs 0.1.1, Hystrix 1621, resilience4j 542: half-open for ever.
#[test]
fn bug_probe_slot_leaked_on_drop_or_panic() {
    let rig = Rig::waited();
    for _ in 0..10 {
        drop(rig.enter());
        let mut call = Box::pin(rig.breaker.call(hangs(Gone::default().alive())));
        assert!(poll(&mut call).is_pending());
    }
    assert_eq!(rig.admitted_of(10), 2, "drops give their slots back");
    panics(|| drop(rig.breaker.run(|| -> Result<(), &str> { panic!("in the probe") })));
    rig.clock.advance(OPEN_FOR);
    assert_eq!(rig.admitted_of(10), 2, "a panic gives its slot back");
    rig.succeed();
    rig.succeed();
    assert_eq!(rig.state(), State::Closed);
}

/// failsafe 1.3, recloser 1.4, nobreak, resilient (10 of 10 with limit 2); circuitbreaker-rs (limit
/// and one more).
#[test]
fn bug_more_probes_than_the_limit() {
    for limit in [1, 2, 5] {
        let rig = Rig::with(|builder| builder.half_open(HalfOpenPolicy::all(limit)));
        rig.trip();
        rig.clock.advance(OPEN_FOR);
        assert_eq!(rig.admitted_of(10), limit as usize);
    }
}

/// failsafe, tower-resilience 0.14, breaker 2.0, circuitbreaker-rs, nobreak, resilient; opossum 381.
#[test]
fn bug_result_from_before_the_trip_closes_or_reopens() {
    let rig = Rig::new();
    let early: Vec<_> = (0..4).map(|_| rig.enter()).collect();
    rig.trip();
    let mut early = early.into_iter();
    assert_eq!(early.next().unwrap().success(), Settled::Stale);
    assert_eq!(rig.state(), State::Open, "a success does not close an open breaker");
    rig.clock.advance(OPEN_FOR);
    let probe = rig.enter();
    assert_eq!(early.next().unwrap().failure(), Settled::Stale);
    assert_eq!(rig.state(), State::HalfOpen, "a failure does not open a half-open breaker");
    assert_eq!(early.next().unwrap().success(), Settled::Stale);
    assert_eq!(early.next().unwrap().success(), Settled::Stale);
    assert_eq!(rig.state(), State::HalfOpen, "two successes do not close a half-open breaker");
    assert_eq!(probe.success(), Settled::Counted);
}

/// All of those, and seatbelt 0.11.
#[test]
fn bug_probe_of_the_first_cycle_counts_in_the_second() {
    let rig = Rig::waited();
    let first_cycle = [rig.enter(), rig.enter()];
    let [slow, failing] = first_cycle;
    failing.failure();
    rig.clock.advance(OPEN_FOR);
    rig.succeed();
    assert_eq!(slow.success(), Settled::Stale);
    assert_eq!(rig.state(), State::HalfOpen, "one of two has succeeded in this cycle");
    rig.succeed();
    assert_eq!(rig.state(), State::Closed);
}

/// tower-resilience (time window), resilience4j PR 597.
#[test]
fn bug_half_open_never_ends_because_its_successes_expire() {
    let rig = Rig::with(|builder| {
        builder
            .detector(Detector::rolling(millis(1_000), 3, 0.5))
            .half_open(HalfOpenPolicy::all(5).at_once(1))
    });
    rig.trip();
    for _ in 0..5 {
        rig.clock.advance(HOUR);
        assert_eq!(rig.state(), State::HalfOpen);
        rig.succeed();
    }
    assert_eq!(rig.state(), State::Closed);
}

/// resilience4j 544, Polly 1979.
#[test]
fn bug_ignored_outcome_wedges_half_open() {
    let rig = Rig::waited();
    for _ in 0..10 {
        assert_eq!(rig.enter().ignore(), Settled::Counted);
    }
    assert_eq!(rig.state(), State::HalfOpen);
    rig.succeed();
    rig.enter().ignore();
    rig.succeed();
    assert_eq!(rig.state(), State::Closed);
}

/// `circuit_breaker`, breaker-machines, gobreaker 37.
#[test]
fn bug_callback_that_reads_the_state_deadlocks() {
    let seen = Arc::new(AtomicUsize::new(0));
    let rig = Rig::new();
    let (breaker, counter) = (rig.breaker.clone(), Arc::clone(&seen));
    let _subscription = rig
        .breaker
        .on_event(move |notice| {
            let _ = (breaker.state(), breaker.snapshot(), breaker.would_reject());
            // A call for every refusal would be refused for ever.
            if !matches!(notice.event, Event::Reject { .. }) {
                drop(breaker.enter());
            }
            counter.fetch_add(1, Ordering::Relaxed);
        })
        .unwrap();
    rig.trip();
    rig.clock.advance(OPEN_FOR);
    rig.succeed();
    rig.succeed();
    assert!(seen.load(Ordering::Relaxed) >= 8);
    assert_eq!(rig.state(), State::Closed);
}

/// tower-resilience: 1000 errors to open after 1000 successes.
#[test]
fn bug_sliding_window_is_a_lifetime_counter() {
    let rolling = Rolling { window: millis(10_000), min_samples: 20, ..Rolling::default() };
    for (detector, errors) in [(Detector::from(rolling), 20), (Detector::ring(100, 20, 0.5), 50)] {
        let rig = Rig::with(|builder| builder.detector(detector.clone()));
        (0..1_000).for_each(|_| rig.succeed());
        rig.clock.advance(millis(10_000));
        (1..errors).for_each(|_| rig.fail());
        assert_eq!(rig.state(), State::Closed, "{detector:?}");
        rig.fail();
        assert_eq!(rig.state(), State::Open, "{detector:?}");
    }
}

/// breaker 2.0.
#[test]
fn bug_open_to_half_open_is_never_announced() {
    let rig = Rig::open();
    let mut events = rig.breaker.subscribe().unwrap();
    rig.clock.advance(OPEN_FOR);
    drop(rig.enter());
    match read(&mut events)[..] {
        [
            Event::StateChange {
                from: State::Open, to: State::HalfOpen, cause: Cause::Waited, ..
            },
        ] => {}
        ref other => panic!("{other:?}"),
    }
    assert_eq!(rig.snapshot().half_opened_total, 1);
}

/// The source's own skeleton, whose `Promise.race` leaves the work running.
#[test]
fn bug_call_keeps_running_after_its_timeout() {
    let rig = Rig::new();
    let gone = Gone::default();
    let options = CallOptions::default().timeout(millis(10));
    let mut call = Box::pin(rig.breaker.limited(options).call(hangs(gone.alive())));
    assert!(poll(&mut call).is_pending());
    rig.clock.advance(millis(10));
    assert_eq!(poll(&mut call), Poll::Ready(Err(CallError::Timeout { after: millis(10) })));
    assert!(gone.is_gone());
}

/// The source's own skeleton: whatever comes in is applied to whatever the state is.
#[test]
fn bug_late_result_is_applied_to_the_current_state() {
    let rig = Rig::new();
    let late = rig.enter();
    rig.trip();
    rig.clock.advance(OPEN_FOR);
    let probes = [rig.enter(), rig.enter()];
    assert_eq!(late.failure(), Settled::Stale);
    assert_eq!(rig.state(), State::HalfOpen);
    assert!(rig.is_refused(), "the late one has freed no slot of a probe");
    probes.into_iter().for_each(forget);
}

/// The source's own skeleton: a listener that throws within `try` makes a success a failure.
#[test]
fn bug_listener_panic_is_recorded_as_a_failure() {
    let clock = ManualClock::new();
    let breaker: Breaker = builder(&clock).on_event(|_| panic!("in the listener")).build().unwrap();
    for _ in 0..5 {
        assert_eq!(breaker.run(|| Ok::<_, &str>("paid")), Ok("paid"));
    }
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.success_total, snapshot.failure_total), (5, 0));
    assert_eq!((snapshot.in_flight, snapshot.listener_panics_total), (0, 5));
}
