#![cfg(test)]
//! Several attempts at one logical call count once: the first result decides, and who is outrun is
//! no failure.

mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::thread;

use mainstay_breaker::{Breaker, Detector, HalfOpenPolicy, ManualClock, Settled, Snapshot, State};
use support::{SECOND, build, trip};

use State::{Closed, HalfOpen, Open};

fn results(snapshot: &Snapshot) -> (u64, u64, u64, u64) {
    let Snapshot { success_total, failure_total, ignored_total, cancelled_total, .. } = *snapshot;
    (success_total, failure_total, ignored_total, cancelled_total)
}

fn half_open(policy: HalfOpenPolicy) -> (Breaker, ManualClock) {
    let (breaker, clock) = build(|builder| builder.half_open(policy));
    trip(&breaker);
    clock.advance(5 * SECOND);
    assert_eq!(breaker.state(), HalfOpen);
    (breaker, clock)
}

#[test]
fn the_first_success_decides_and_the_failures_after_it_are_none() {
    let (breaker, _clock) = build(|builder| builder.detector(Detector::consecutive(1)));
    let hedge = breaker.hedge();
    let attempts: Vec<_> = (0..3).map(|_| hedge.enter().unwrap()).collect();
    assert!(!hedge.is_decided());
    let mut attempts = attempts.into_iter();
    assert_eq!(attempts.next().unwrap().success(), Settled::Counted);
    assert!(hedge.is_decided());
    assert_eq!(attempts.next().unwrap().failure(), Settled::Outrun);
    assert_eq!(attempts.next().unwrap().timeout(), Settled::Outrun);
    let snapshot = breaker.snapshot();
    assert_eq!(results(&snapshot), (1, 0, 0, 2));
    assert_eq!((snapshot.state, snapshot.timeout_total, snapshot.in_flight), (Closed, 0, 0));
}

#[test]
fn the_first_failure_decides_and_the_success_after_it_is_none() {
    let (breaker, _clock) = build(|builder| builder.detector(Detector::consecutive(2)));
    for calls in 1..=2 {
        assert_eq!(breaker.state(), Closed);
        let hedge = breaker.hedge();
        let (first, second) = (hedge.enter().unwrap(), hedge.enter().unwrap());
        assert_eq!(second.failure(), Settled::Counted);
        assert_eq!(first.success(), Settled::Outrun);
        assert_eq!(results(&breaker.snapshot()).1, calls);
    }
    assert_eq!(breaker.state(), Open, "a call that failed twice over is one failure each");
}

#[test]
fn who_is_outrun_after_the_breaker_opened_moves_nothing() {
    let (breaker, _clock) = build(|builder| builder.detector(Detector::consecutive(1)));
    let hedge = breaker.hedge();
    let (first, second) = (hedge.enter().unwrap(), hedge.enter().unwrap());
    assert_eq!(first.failure(), Settled::Counted);
    assert_eq!(second.success(), Settled::Outrun);
    let snapshot = breaker.snapshot();
    assert_eq!(results(&snapshot), (0, 1, 0, 0));
    assert_eq!((snapshot.state, snapshot.stale_total, snapshot.in_flight), (Open, 1, 0));
}

#[test]
fn what_does_not_count_decides_too() {
    let (breaker, _clock) = build(|builder| builder);
    let hedge = breaker.hedge();
    let (first, second) = (hedge.enter().unwrap(), hedge.enter().unwrap());
    assert_eq!(first.ignore(), Settled::Counted);
    assert_eq!(second.failure(), Settled::Outrun);
    assert_eq!(results(&breaker.snapshot()), (0, 0, 1, 1));
}

#[test]
fn an_attempt_that_is_cancelled_or_dropped_decides_nothing() {
    let (breaker, _clock) = build(|builder| builder);
    let hedge = breaker.hedge();
    let (first, second) = (hedge.enter().unwrap(), hedge.enter().unwrap());
    let third = hedge.enter().unwrap();
    assert_eq!(first.cancel(), Settled::Counted);
    drop(second);
    assert!(!hedge.is_decided());
    assert_eq!(third.failure(), Settled::Counted);
    assert_eq!(results(&breaker.snapshot()), (0, 1, 0, 2));
}

#[test]
fn when_all_attempts_are_dropped_nothing_counts_and_nothing_leaks() {
    let (breaker, _clock) = half_open(HalfOpenPolicy::all(3));
    let hedge = breaker.hedge();
    let attempts: Vec<_> = (0..3).map(|_| hedge.enter().unwrap()).collect();
    assert!(breaker.enter().is_err());
    drop(attempts);
    assert!(!hedge.is_decided());
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.success_total, snapshot.probe_failure_total), (0, 0));
    assert_eq!((snapshot.state, snapshot.cancelled_total), (HalfOpen, 3));
    let again: Vec<_> = (0..3).map(|_| breaker.enter().unwrap()).collect();
    assert_eq!(again.len(), 3);
}

#[test]
fn half_open_admits_no_more_attempts_than_probes() {
    let (breaker, _clock) = half_open(HalfOpenPolicy::all(3).at_once(2));
    let hedge = breaker.hedge();
    let (first, second) = (hedge.enter().unwrap(), hedge.enter().unwrap());
    assert_eq!(hedge.enter().unwrap_err().state, HalfOpen);
    assert_eq!(first.success(), Settled::Counted);
    assert_eq!(second.failure(), Settled::Outrun);
    assert_eq!(breaker.state(), HalfOpen, "the loser's failure re-opens nothing");
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.probe_success_total, snapshot.probe_failure_total), (1, 0));
    let slots: Vec<_> = (0..2).map(|_| breaker.enter().unwrap()).collect();
    assert_eq!(slots.len(), 2, "both slots are free again");
}

#[test]
fn one_logical_call_is_one_probe_success() {
    let (breaker, _clock) = half_open(HalfOpenPolicy::all(2));
    for state in [HalfOpen, Closed] {
        let hedge = breaker.hedge();
        let (first, second) = (hedge.enter().unwrap(), hedge.enter().unwrap());
        first.success();
        assert_eq!(second.success(), Settled::Outrun);
        assert_eq!(breaker.state(), state);
    }
}

#[test]
fn an_attempt_that_panics_is_the_failure_of_the_call() {
    let (breaker, _clock) = build(|builder| builder);
    let hedge = breaker.hedge();
    let other = hedge.enter().unwrap();
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _attempt = hedge.enter().unwrap();
        panic!("an attempt's own trouble");
    }));
    assert!(unwound.is_err());
    assert!(hedge.is_decided());
    assert_eq!(other.success(), Settled::Outrun);
    assert_eq!(results(&breaker.snapshot()), (0, 1, 0, 1));
}

#[test]
fn an_attempt_that_panics_after_another_has_decided_is_no_failure() {
    let (breaker, _clock) = build(|builder| builder);
    let hedge = breaker.hedge();
    let (first, second) = (hedge.enter().unwrap(), hedge.enter().unwrap());
    first.success();
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _second = second;
        panic!("an attempt's own trouble");
    }));
    assert!(unwound.is_err());
    assert_eq!(results(&breaker.snapshot()), (1, 0, 0, 1));
}

#[test]
fn a_group_of_an_older_generation_moves_nothing() {
    let (breaker, _clock) = build(|builder| builder);
    let hedge = breaker.hedge();
    let (first, second) = (hedge.enter().unwrap(), hedge.enter().unwrap());
    trip(&breaker);
    let before = breaker.snapshot();
    assert_eq!(first.success(), Settled::Stale);
    assert_eq!(second.failure(), Settled::Outrun);
    let after = breaker.snapshot();
    assert_eq!(results(&after), results(&before));
    assert_eq!((after.state, after.retry_after), (Open, before.retry_after));
    assert_eq!((after.stale_total, after.in_flight), (2, 0));
}

#[test]
fn an_attempt_of_a_new_generation_is_outrun_by_one_of_the_old() {
    let (breaker, clock) = build(|builder| builder.half_open(HalfOpenPolicy::all(1)));
    let hedge = breaker.hedge();
    let old = hedge.enter().unwrap();
    trip(&breaker);
    clock.advance(5 * SECOND);
    let probe = hedge.enter().unwrap();
    assert_eq!(old.success(), Settled::Stale);
    assert_eq!(probe.failure(), Settled::Outrun);
    assert_eq!(breaker.state(), HalfOpen);
    assert!(breaker.enter().is_ok(), "its slot is free again");
}

#[test]
fn two_groups_do_not_know_each_other() {
    let (breaker, _clock) = build(|builder| builder);
    let (one, other) = (breaker.hedge(), breaker.hedge());
    let (first, second) = (one.enter().unwrap(), other.enter().unwrap());
    assert_eq!(first.success(), Settled::Counted);
    assert!(!other.is_decided());
    assert_eq!(second.success(), Settled::Counted);
}

#[test]
fn of_threads_that_settle_at_once_one_counts() {
    let (breaker, _clock) = build(|builder| builder);
    for _ in 0..200 {
        let (hedge, start) = (breaker.hedge(), Barrier::new(4));
        let settled: Vec<_> = thread::scope(|scope| {
            let run = || {
                let permit = hedge.enter().unwrap();
                start.wait();
                permit.success()
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let counted = settled.iter().filter(|settled| **settled == Settled::Counted).count();
        let outrun = settled.iter().filter(|settled| **settled == Settled::Outrun).count();
        assert_eq!((counted, outrun), (1, 3));
    }
    assert_eq!(results(&breaker.snapshot()), (200, 0, 0, 600));
}
