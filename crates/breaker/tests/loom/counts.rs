//! What is counted, with the lock and without.

use std::time::Duration;

use loom::thread;
use mainstay_breaker::{Breaker, ManualClock, Rolling, Settled, State};

use crate::{assert_adds_up, breaker};

#[test]
fn a_snapshot_never_sees_an_end_without_its_beginning() {
    loom::model(|| {
        let (breaker, _clock) = breaker(1);
        let caller = breaker.clone();
        let other = thread::spawn(move || {
            caller.enter().unwrap().success();
            drop(caller.enter().unwrap());
        });
        let seen = breaker.snapshot();
        let ended = seen.success_total + seen.cancelled_total;
        assert!(ended <= seen.allowed_total, "{seen:?}");
        assert_eq!(seen.in_flight, seen.allowed_total - ended, "{seen:?}");
        other.join().unwrap();
        assert_eq!(breaker.snapshot().allowed_total, 2);
        assert_adds_up(&breaker);
    });
}

#[test]
fn no_call_is_missed_when_threads_meet_and_get_cells_of_their_own() {
    loom::model(|| {
        let (breaker, _clock) = breaker(1);
        let call = |breaker: &Breaker| {
            let seen = breaker.enter().unwrap().success();
            assert_eq!(seen, Settled::Counted);
        };
        let caller = breaker.clone();
        let other = thread::spawn(move || (0..2).for_each(|_| call(&caller)));
        call(&breaker);
        other.join().unwrap();
        let seen = breaker.snapshot();
        assert_eq!((seen.allowed_total, seen.success_total, seen.in_flight), (3, 3, 0));
    });
}

#[test]
fn of_two_attempts_one_decides_and_the_other_is_outrun() {
    loom::model(|| {
        let (breaker, _clock) = breaker(2);
        breaker.enter().unwrap().failure();
        // A permit borrows its breaker, and a thread of loom has to own what it uses.
        let breaker: &'static Breaker = Box::leak(Box::new(breaker));
        let hedge = breaker.hedge();
        let (good, bad) = (hedge.enter().unwrap(), hedge.enter().unwrap());
        let other = thread::spawn(move || good.success());
        let mut both = [bad.failure(), other.join().unwrap()];
        both.sort_by_key(|settled| *settled == Settled::Outrun);
        assert_eq!(both, [Settled::Counted, Settled::Outrun]);
        assert!(hedge.is_decided());
        let seen = breaker.snapshot();
        let did_fail = seen.failure_total == 2;
        assert_eq!(seen.success_total, u64::from(!did_fail));
        // Where the failure decided, the other may come when the breaker is open already.
        assert_eq!(seen.stale_total + seen.cancelled_total, 1);
        assert!(did_fail || seen.stale_total == 0);
        assert_eq!(seen.state == State::Open, did_fail);
        assert_adds_up(breaker);
    });
}

#[test]
fn a_hedged_call_that_hangs_is_slow_once_whoever_goes_away_first() {
    const LIMIT: Duration = Duration::from_secs(1);
    loom::model(|| {
        let clock = ManualClock::new();
        let slow = Rolling { min_samples: 9, slow_call: Some(LIMIT), ..Rolling::default() };
        let breaker = Breaker::builder("checked").detector(slow).clock(clock.clone());
        let breaker: &'static Breaker = Box::leak(Box::new(breaker.build().unwrap()));
        let hedge = breaker.hedge();
        let (one, other) = (hedge.enter().unwrap(), hedge.enter().unwrap());
        clock.advance(2 * LIMIT);
        let goes = thread::spawn(move || drop(one));
        drop(other);
        goes.join().unwrap();
        let seen = breaker.snapshot();
        assert_eq!((seen.slow_total, seen.failure_total, seen.cancelled_total), (1, 1, 1));
        assert_adds_up(breaker);
    });
}
