#![cfg(test)]
//! Slow calls are failures: by their end, or while they are in flight when the breaker is next asked.

mod support;

use std::time::Duration;

use mainstay_breaker::{
    Breaker, Event, FailureKind, HalfOpenPolicy, LatencyOf, ManualClock, Rolling, Settled, State,
};
use support::{Heard, SECOND, TICK, build, fail, succeed};

use State::{Closed, HalfOpen, Open};

const LIMIT: Duration = SECOND;
const SLOW_IN_FLIGHT: Event = Event::Failure { kind: FailureKind::Slow, latency: None };

fn slow_after_a_second(min_samples: u32) -> Rolling {
    Rolling { window: 60 * SECOND, min_samples, error_rate: 0.5, slow_call: Some(LIMIT) }
}

/// Opens when half of so many results are failures, and says what happens.
fn watched(min_samples: u32) -> (Breaker, ManualClock, Heard) {
    let heard = Heard::default();
    let (breaker, clock) = build(|builder| {
        builder.detector(slow_after_a_second(min_samples)).on_event(heard.listener())
    });
    (breaker, clock, heard)
}

#[test]
fn a_call_that_takes_longer_than_the_limit_is_a_failure() {
    for (took, slow) in [(LIMIT, 0), (LIMIT + TICK, 1), (10 * LIMIT, 1)] {
        let (breaker, clock, heard) = watched(9);
        let permit = breaker.enter().unwrap();
        clock.advance(took);
        assert_eq!(permit.success(), Settled::Counted);
        let snapshot = breaker.snapshot();
        assert_eq!((snapshot.slow_total, snapshot.failure_total), (slow, slow), "{took:?}");
        assert_eq!(snapshot.success_total, 1 - slow);
        let latency = Some(took);
        let told = match slow {
            0 => Event::Success { latency },
            _ => Event::Failure { kind: FailureKind::Slow, latency },
        };
        assert_eq!(heard.take(), [told]);
    }
}

#[test]
fn a_slow_call_that_fails_is_one_failure_of_its_own_kind() {
    let (breaker, clock, heard) = watched(9);
    let permit = breaker.enter().unwrap();
    clock.advance(2 * LIMIT);
    permit.timeout();
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.failure_total, snapshot.timeout_total), (1, 1));
    let failure = Event::Failure { kind: FailureKind::Timeout, latency: Some(2 * LIMIT) };
    assert_eq!(heard.take(), [Event::Timeout, failure]);
}

type Ask = fn(&Breaker);

const EVERY_WAY_TO_ASK: [(&str, Ask); 7] = [
    ("enter", |breaker| drop(breaker.enter())),
    ("enter_probe", |breaker| drop(breaker.enter_probe())),
    ("hedge", |breaker| drop(breaker.hedge().enter())),
    ("state", |breaker| drop(Box::new(breaker.state()))),
    ("would_reject", |breaker| drop(Box::new(breaker.would_reject()))),
    ("snapshot", |breaker| drop(breaker.snapshot())),
    ("export", |breaker| drop(Box::new(breaker.export()))),
];

#[test]
fn a_call_in_flight_beyond_the_limit_is_counted_when_the_breaker_is_next_asked() {
    for (way, ask) in EVERY_WAY_TO_ASK {
        let (breaker, clock, heard) = watched(9);
        let permit = breaker.enter().unwrap();
        clock.advance(LIMIT);
        ask(&breaker);
        assert_eq!(heard.take(), [], "by {way}, at the limit");
        clock.advance(TICK);
        assert_eq!(heard.take(), [], "there is no timer");
        ask(&breaker);
        assert_eq!(heard.take(), [SLOW_IN_FLIGHT], "by {way}");
        drop(permit);
    }
}

#[test]
fn the_end_of_another_call_asks_too() {
    let (breaker, clock, heard) = watched(9);
    let _hangs = breaker.enter().unwrap();
    clock.advance(LIMIT);
    let quick = breaker.enter().unwrap();
    clock.advance(TICK);
    quick.success();
    assert_eq!(heard.take(), [Event::Success { latency: Some(TICK) }, SLOW_IN_FLIGHT]);
}

#[test]
fn a_call_in_flight_opens_the_breaker_for_whoever_asks() {
    for (way, ask) in EVERY_WAY_TO_ASK {
        let (breaker, clock, heard) = watched(1);
        let permit = breaker.enter().unwrap();
        clock.advance(LIMIT + TICK);
        ask(&breaker);
        assert_eq!(heard.take_changes().first(), Some(&(Closed, Open)), "by {way}");
        assert_eq!(permit.success(), Settled::Stale);
    }
}

#[test]
fn a_call_is_told_no_before_it_becomes_one_more_that_hangs() {
    let (breaker, clock, _heard) = watched(1);
    let _hangs = breaker.enter().unwrap();
    clock.advance(LIMIT + TICK);
    let rejected = breaker.enter().unwrap_err();
    assert_eq!((rejected.state, rejected.retry_after), (Open, Some(5 * SECOND)));
}

#[test]
fn each_slow_call_is_counted_once() {
    let (breaker, clock, heard) = watched(99);
    let first = breaker.enter().unwrap();
    let second = breaker.enter().unwrap();
    let third = breaker.enter().unwrap();
    let fourth = breaker.enter().unwrap();
    for _ in 0..5 {
        clock.advance(2 * LIMIT);
        assert_eq!(breaker.snapshot().slow_total, 4);
        assert_eq!(breaker.state(), Closed);
    }
    assert_eq!(first.success(), Settled::Counted);
    assert_eq!(second.failure(), Settled::Counted);
    third.ignore();
    drop(fourth);
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.slow_total, snapshot.failure_total), (4, 4));
    assert_eq!((snapshot.success_total, snapshot.ignored_total), (0, 0));
    assert_eq!((snapshot.cancelled_total, snapshot.in_flight), (0, 0));
    assert_eq!(snapshot.rolling.unwrap().samples, 4);
    assert_eq!(heard.take(), [SLOW_IN_FLIGHT; 4]);
}

#[test]
fn calls_that_begin_one_after_the_other_become_slow_one_after_the_other() {
    let (breaker, clock, _heard) = watched(99);
    let mut permits = Vec::new();
    for _ in 0..20 {
        permits.push(breaker.enter().unwrap());
        clock.advance(LIMIT / 4);
        let slow = u64::try_from(permits.len().saturating_sub(4)).unwrap();
        assert_eq!(breaker.snapshot().slow_total, slow);
    }
}

#[test]
fn a_call_that_hangs_for_a_year_is_counted_once() {
    let (breaker, clock, _heard) = watched(99);
    let permit = breaker.enter().unwrap();
    clock.advance(365 * 86_400 * SECOND);
    for _ in 0..3 {
        drop(breaker.enter().unwrap());
    }
    assert_eq!(breaker.snapshot().slow_total, 1);
    permit.success();
    assert_eq!(breaker.snapshot().success_total, 0);
}

/// Half-open after two failures.
fn half_open(policy: HalfOpenPolicy) -> (Breaker, ManualClock, Heard) {
    let heard = Heard::default();
    let (breaker, clock) = build(|builder| {
        builder.detector(slow_after_a_second(2)).half_open(policy).on_event(heard.listener())
    });
    fail(&breaker);
    fail(&breaker);
    clock.advance(5 * SECOND);
    assert_eq!(breaker.state(), HalfOpen);
    heard.take();
    (breaker, clock, heard)
}

#[test]
fn a_slow_probe_opens_again() {
    for (way, ask) in EVERY_WAY_TO_ASK {
        let (breaker, clock, heard) = half_open(HalfOpenPolicy::all(3));
        let probe = breaker.enter().unwrap();
        clock.advance(LIMIT + TICK);
        ask(&breaker);
        let changes = heard.take_changes();
        assert_eq!(changes.get(..2), Some(&[(Open, HalfOpen), (HalfOpen, Open)][..]), "by {way}");
        assert_eq!(probe.success(), Settled::Stale);
        assert_eq!(breaker.snapshot().probe_failure_total, 1);
    }
}

#[test]
fn a_probe_whose_success_comes_too_late_opens_again() {
    let (breaker, clock, _heard) = half_open(HalfOpenPolicy::all(1));
    let probe = breaker.enter().unwrap();
    clock.advance(LIMIT + TICK);
    assert_eq!(probe.success(), Settled::Counted);
    assert_eq!(breaker.state(), Open);
    assert_eq!(breaker.would_reject().unwrap().retry_after, Some(5 * SECOND));
}

#[test]
fn slow_probes_are_failed_trials_of_a_success_rate() {
    // Two successes of four close; three failures open again.
    let (breaker, clock, _heard) = half_open(HalfOpenPolicy::success_rate(4, 0.5));
    let probes: Vec<_> = (0..2).map(|_| breaker.enter().unwrap()).collect();
    clock.advance(LIMIT + TICK);
    assert_eq!(breaker.state(), HalfOpen, "two failures leave it open to both");
    assert_eq!(breaker.snapshot().probe_failure_total, 2);
    let mut fresh: Vec<_> = (0..2).map(|_| breaker.enter().unwrap()).collect();
    assert!(breaker.enter().is_err(), "the slow ones are still running, and keep their slots");
    for probe in probes {
        assert_eq!(probe.success(), Settled::Counted, "it was counted while it was in flight");
    }
    fresh.extend((0..2).map(|_| breaker.enter().unwrap()));
    assert!(breaker.enter().is_err(), "a slot is given back once");
    let mut fresh = fresh.into_iter();
    fresh.next().unwrap().success();
    assert_eq!(breaker.state(), HalfOpen);
    fresh.next().unwrap().success();
    assert_eq!(breaker.state(), Closed);
}

#[test]
fn so_many_slow_probes_open_again_under_a_success_rate() {
    let (breaker, clock, _heard) = half_open(HalfOpenPolicy::success_rate(4, 0.5));
    let probes: Vec<_> = (0..4).map(|_| breaker.enter().unwrap()).collect();
    clock.advance(LIMIT + TICK);
    assert_eq!(breaker.state(), Open);
    let snapshot = breaker.snapshot();
    assert_eq!(snapshot.probe_failure_total, 3, "the third decided, and the fourth is of the past");
    assert!(probes.into_iter().all(|probe| probe.success() == Settled::Stale));
    assert_eq!(breaker.snapshot().stale_total, 4);
}

#[test]
fn calls_of_an_older_generation_are_not_counted() {
    let (breaker, clock, heard) = watched(2);
    let _before_the_trip = breaker.enter().unwrap();
    fail(&breaker);
    fail(&breaker);
    assert_eq!(breaker.state(), Open);
    clock.advance(2 * LIMIT);
    assert_eq!(breaker.snapshot().slow_total, 0);
    breaker.reset();
    let _before_the_reset = breaker.enter().unwrap();
    breaker.reset();
    clock.advance(2 * LIMIT);
    heard.take();
    assert_eq!(breaker.snapshot().slow_total, 0);
    succeed(&breaker);
    assert_eq!(breaker.state(), Closed);
    assert_eq!(heard.take(), [Event::Success { latency: Some(Duration::ZERO) }]);
}

#[test]
fn those_that_are_left_when_one_opens_the_breaker_are_of_the_past() {
    let (breaker, clock, heard) = watched(2);
    let permits: Vec<_> = (0..5).map(|_| breaker.enter().unwrap()).collect();
    clock.advance(LIMIT + TICK);
    assert_eq!(breaker.state(), Open);
    assert_eq!(breaker.snapshot().slow_total, 2);
    let told = heard.take();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(permits.into_iter().all(|permit| permit.failure() == Settled::Stale));
}

#[test]
fn what_was_forced_closed_counts_slow_calls_and_stays() {
    let (breaker, clock, _heard) = watched(1);
    breaker.force_closed();
    let _hangs = breaker.enter().unwrap();
    clock.advance(2 * LIMIT);
    assert_eq!(breaker.state(), Closed);
    assert_eq!(breaker.snapshot().slow_total, 1);
}

#[test]
fn where_slow_calls_count_every_call_is_measured() {
    let (breaker, clock) =
        build(|builder| builder.detector(slow_after_a_second(9)).latency(LatencyOf::Nothing));
    let permit = breaker.enter().unwrap();
    clock.advance(LIMIT / 2);
    permit.success();
    let latency = breaker.snapshot().latency;
    assert_eq!((latency.measured, latency.max), (1, LIMIT / 2));
}
