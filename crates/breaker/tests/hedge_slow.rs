#![cfg(test)]
//! A hedged call where slow calls count: its time runs from its first attempt, and however many of
//! its attempts hang it is slow once.

mod support;

use std::time::Duration;

use mainstay_breaker::{
    Breaker, Event, FailureKind, HalfOpenPolicy, Hedge, ManualClock, Permit, Rolling, Settled,
    Snapshot, State,
};
use support::{Heard, SECOND, TICK, build, fail};

use State::{Closed, HalfOpen, Open};

const LIMIT: Duration = SECOND;
const SLOW_IN_FLIGHT: Event = Event::Failure { kind: FailureKind::Slow, latency: None };

fn watched(min_samples: u32) -> (Breaker, ManualClock, Heard) {
    let heard = Heard::default();
    let slow =
        Rolling { window: 60 * SECOND, min_samples, error_rate: 0.5, slow_call: Some(LIMIT) };
    let (breaker, clock) = build(|builder| {
        builder
            .detector(slow)
            .half_open(HalfOpenPolicy::success_rate(4, 0.5))
            .on_event(heard.listener())
    });
    (breaker, clock, heard)
}

/// The same, half-open with four slots: three failures open again.
fn half_open() -> (Breaker, ManualClock, Heard) {
    let (breaker, clock, heard) = watched(1);
    fail(&breaker);
    clock.advance(5 * SECOND);
    assert_eq!(breaker.state(), HalfOpen);
    heard.take();
    (breaker, clock, heard)
}

fn pair<'a>(hedge: &Hedge<'a, mainstay_breaker::EveryError>) -> (Permit<'a>, Permit<'a>) {
    (hedge.enter().unwrap(), hedge.enter().unwrap())
}

/// Successes, failures, slow ones, cancelled ones.
fn results(snapshot: &Snapshot) -> (u64, u64, u64, u64) {
    let Snapshot { success_total, failure_total, slow_total, cancelled_total, .. } = *snapshot;
    (success_total, failure_total, slow_total, cancelled_total)
}

#[test]
fn hedged_calls_that_hang_open_the_breaker() {
    let (breaker, clock, _heard) = watched(5);
    for _ in 0..5 {
        assert_eq!(breaker.state(), Closed);
        let both = pair(&breaker.hedge());
        clock.advance(3 * LIMIT);
        drop(both);
    }
    assert_eq!(breaker.state(), Open);
    assert_eq!(results(&breaker.snapshot()), (0, 5, 5, 5), "one of each two is the call");
}

#[test]
fn attempts_that_hang_are_counted_once_while_they_are_in_flight() {
    let (breaker, clock, heard) = watched(9);
    let hedge = breaker.hedge();
    let first = hedge.enter().unwrap();
    clock.advance(LIMIT / 2);
    let second = hedge.enter_owned().unwrap();
    clock.advance(LIMIT / 2);
    assert_eq!(results(&breaker.snapshot()), (0, 0, 0, 0), "at the limit of the first");
    clock.advance(TICK);
    assert_eq!(results(&breaker.snapshot()), (0, 1, 1, 0));
    clock.advance(10 * LIMIT);
    assert_eq!(results(&breaker.snapshot()), (0, 1, 1, 0), "not for the second as well");
    assert!(!hedge.is_decided(), "none has a result, and another may be sent");
    let third = hedge.enter().unwrap();
    assert_eq!(third.success(), Settled::Counted);
    assert_eq!(first.failure(), Settled::Outrun);
    assert_eq!(second.success(), Settled::Outrun);
    assert_eq!(results(&breaker.snapshot()), (0, 1, 1, 2), "it was counted as slow");
    assert_eq!(heard.take(), [SLOW_IN_FLIGHT]);
}

#[test]
fn the_result_that_decides_is_judged_by_the_time_since_the_first_attempt() {
    for (waited, slow) in [(LIMIT, 0), (LIMIT + TICK, 1)] {
        let (breaker, clock, heard) = watched(9);
        let hedge = breaker.hedge();
        let (first, second) = pair(&hedge);
        clock.advance(waited);
        assert_eq!(second.success(), Settled::Counted);
        drop(first);
        assert_eq!(results(&breaker.snapshot()), (1 - slow, slow, slow, 1));
        assert_eq!(heard.take().len(), 1);
    }
}

#[test]
fn attempts_that_are_given_up_within_the_limit_are_cancelled() {
    let (breaker, clock, heard) = watched(1);
    let hedge = breaker.hedge();
    let both = pair(&hedge);
    clock.advance(LIMIT);
    drop(both);
    clock.advance(10 * LIMIT);
    assert_eq!(results(&breaker.snapshot()), (0, 0, 0, 2));
    assert_eq!((heard.take(), breaker.state()), (vec![], Closed));
    let again = hedge.enter().unwrap();
    clock.advance(LIMIT);
    assert_eq!(again.success(), Settled::Counted);
    assert_eq!(results(&breaker.snapshot()), (1, 0, 0, 2), "its time began anew");
}

#[test]
fn the_time_runs_on_when_the_first_attempt_is_given_up_and_another_is_in_flight() {
    let (breaker, clock, _heard) = watched(9);
    let hedge = breaker.hedge();
    let first = hedge.enter().unwrap();
    clock.advance(LIMIT / 2);
    let _second = hedge.enter().unwrap();
    drop(first);
    clock.advance(LIMIT / 2 + TICK);
    assert_eq!(results(&breaker.snapshot()), (0, 1, 1, 1));
}

#[test]
fn a_call_that_was_slow_in_one_generation_is_not_slow_in_it_again() {
    let (breaker, clock, _heard) = watched(9);
    let hedge = breaker.hedge();
    for attempts in 1..4 {
        let attempt = hedge.enter().unwrap();
        clock.advance(2 * LIMIT);
        drop(attempt);
        let snapshot = breaker.snapshot();
        assert_eq!((snapshot.allowed_total, snapshot.slow_total), (attempts, 1));
    }
}

#[test]
fn nor_is_a_probe_of_it() {
    let (breaker, clock, _heard) = half_open();
    let hedge = breaker.hedge();
    for is_asked in [true, false, false] {
        let probe = hedge.enter().unwrap();
        clock.advance(2 * LIMIT);
        if is_asked {
            assert_eq!(breaker.state(), HalfOpen);
        }
        drop(probe);
        assert_eq!(breaker.snapshot().probe_failure_total, 1);
    }
}

#[test]
fn a_probe_that_is_outrun_is_not_slow_however_long_it_goes_on() {
    let (breaker, clock, _heard) = half_open();
    let (first, _second) = pair(&breaker.hedge());
    assert_eq!(first.success(), Settled::Counted);
    clock.advance(10 * LIMIT);
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.probe_success_total, snapshot.probe_failure_total), (1, 0));
}

#[test]
fn an_old_result_leaves_the_watch_over_others_alone() {
    let (breaker, clock, _heard) = watched(9);
    let old = breaker.hedge().enter().unwrap();
    breaker.reset();
    let _hangs = breaker.enter().unwrap();
    assert_eq!(old.success(), Settled::Stale);
    clock.advance(LIMIT + TICK);
    assert_eq!(breaker.snapshot().slow_total, 1);
}

#[test]
fn what_is_outrun_is_not_slow_however_long_it_goes_on() {
    let (breaker, clock, _heard) = watched(1);
    let hedge = breaker.hedge();
    let (first, second) = pair(&hedge);
    assert_eq!(first.success(), Settled::Counted);
    let late = hedge.enter().unwrap();
    clock.advance(10 * LIMIT);
    assert_eq!(breaker.state(), Closed);
    drop((second, late));
    assert_eq!(results(&breaker.snapshot()), (1, 0, 0, 2));
}

/// An ordinary call, and a hedged one of one attempt.
type Enter = for<'a> fn(&'a Breaker) -> Permit<'a>;

const WAYS: [Enter; 2] =
    [|breaker| breaker.enter().unwrap(), |breaker| breaker.hedge().enter().unwrap()];

type End = fn(Permit<'_>);

const ENDS: [End; 5] = [
    |permit| drop(Box::new(permit.success())),
    |permit| drop(Box::new(permit.failure())),
    |permit| drop(Box::new(permit.timeout())),
    |permit| drop(Box::new(permit.ignore())),
    |permit| drop(permit),
];

#[test]
fn a_hedged_call_of_one_attempt_counts_as_any_other() {
    for end in ENDS {
        for (took, is_asked) in [(LIMIT, true), (LIMIT + TICK, false), (LIMIT + TICK, true)] {
            for rig in [|| watched(9), half_open] {
                let [one, other] = WAYS.map(|enter| {
                    let (breaker, clock, heard) = rig();
                    let permit = enter(&breaker);
                    clock.advance(took);
                    if is_asked {
                        assert_eq!(breaker.would_reject(), None);
                    }
                    end(permit);
                    (breaker.snapshot(), heard.take())
                });
                assert_eq!(one, other, "{took:?} {is_asked}");
            }
        }
    }
}

#[test]
fn probes_of_one_call_that_hang_are_one_failed_probe_and_keep_their_slots() {
    let (breaker, clock, _heard) = half_open();
    let hedge = breaker.hedge();
    let (first, second) = pair(&hedge);
    clock.advance(LIMIT + TICK);
    assert_eq!((breaker.state(), breaker.snapshot().probe_failure_total), (HalfOpen, 1));
    let others: Vec<_> = (0..2).map(|_| breaker.enter().unwrap()).collect();
    assert!(breaker.enter().is_err(), "both are still running");
    drop(first);
    assert_eq!(second.success(), Settled::Counted, "it was counted while it was in flight");
    drop(others);
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.probe_failure_total, snapshot.probe_success_total), (1, 0));
    let slots: Vec<_> = (0..9).map_while(|_| breaker.enter().ok()).collect();
    assert_eq!(slots.len(), 4, "each was given back once");
}

#[test]
fn a_call_is_watched_on_when_its_first_probe_is_lost() {
    let clock = ManualClock::new();
    let slow = Rolling { min_samples: 1, slow_call: Some(30 * SECOND), ..Rolling::default() };
    let breaker = Breaker::builder("payments")
        .clock(clock.clone())
        .detector(slow)
        .half_open(HalfOpenPolicy::all(2))
        .half_open_for(20 * SECOND)
        .build()
        .unwrap();
    fail(&breaker);
    clock.advance(5 * SECOND);
    let hedge = breaker.hedge();
    let first = hedge.enter().unwrap();
    clock.advance(15 * SECOND);
    let second = hedge.enter().unwrap();
    clock.advance(5 * SECOND);
    drop(breaker.enter().unwrap());
    assert_eq!(breaker.snapshot().probe_lost_total, 1);
    clock.advance(10 * SECOND + TICK);
    assert_eq!(breaker.state(), Open, "the call is slow, since its first attempt");
    assert_eq!((first.success(), second.success()), (Settled::Stale, Settled::Outrun));
}

#[test]
fn an_old_result_that_decides_ends_the_watch_over_what_is_in_flight_now() {
    let (breaker, clock, _heard) = half_open();
    let hedge = breaker.hedge();
    let old = hedge.enter().unwrap();
    fail(&breaker);
    fail(&breaker);
    fail(&breaker);
    assert_eq!(breaker.state(), Open);
    clock.advance(5 * SECOND);
    let _probe = hedge.enter().unwrap();
    assert_eq!(old.success(), Settled::Stale);
    let before = breaker.snapshot().probe_failure_total;
    clock.advance(10 * LIMIT);
    assert_eq!(breaker.snapshot().probe_failure_total, before);
    assert_eq!(breaker.state(), HalfOpen);
}

#[test]
fn a_result_ends_the_watch_over_the_probes_of_its_own_call() {
    let (breaker, clock, _heard) = half_open();
    let other = breaker.enter().unwrap();
    let (first, _second) = pair(&breaker.hedge());
    assert_eq!(first.success(), Settled::Counted);
    assert_eq!(other.success(), Settled::Counted);
    clock.advance(10 * LIMIT);
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.probe_success_total, snapshot.probe_failure_total), (2, 0));
}

#[test]
fn a_probe_that_is_given_up_says_nothing_while_another_of_its_call_is_in_flight() {
    let (breaker, clock, _heard) = half_open();
    let (first, second) = pair(&breaker.hedge());
    clock.advance(LIMIT + TICK);
    drop(first);
    assert_eq!(breaker.snapshot().probe_failure_total, 1, "the call is slow, by the second");
    drop(second);
    assert_eq!(breaker.snapshot().probe_failure_total, 1);
}

#[test]
fn a_probe_at_the_limit_is_not_slow() {
    for (took, slow) in [(LIMIT, 0), (LIMIT + TICK, 1)] {
        let (breaker, clock, _heard) = half_open();
        let [asked, ended] = [(); 2].map(|()| breaker.enter().unwrap());
        clock.advance(took);
        assert_eq!(ended.success(), Settled::Counted);
        assert_eq!(breaker.snapshot().probe_failure_total, 2 * slow, "one in flight, one ended");
        drop(asked);
    }
}
