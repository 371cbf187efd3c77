//! Who is let through, and what a result may still move.

use std::time::Duration;

use loom::thread;
use mainstay_breaker::{Breaker, ManualClock, Permit, Rejected, Saved, Settled, State};

use crate::{
    OPEN_FOR, SeenClock, assert_adds_up, assert_one_slot, breaker, due_for_probes, entering,
    with_clock,
};

#[test]
fn half_open_admits_one_of_two_who_come_at_once() {
    loom::model(|| {
        let (breaker, _clock) = due_for_probes();
        let other = entering(&breaker);
        let mine = breaker.enter_owned();
        let other = other.join().unwrap();
        assert_eq!(u8::from(mine.is_ok()) + u8::from(other.is_ok()), 1);
        let refused = mine.as_ref().err().or(other.as_ref().err()).unwrap();
        assert_eq!(refused.state, State::HalfOpen);
        drop((mine, other));
        assert_one_slot(&breaker);
        assert_eq!(breaker.snapshot().half_opened_total, 1);
        assert_adds_up(&breaker);
    });
}

#[test]
fn a_probe_that_is_dropped_frees_its_slot_once_whoever_enters_meanwhile() {
    loom::model(|| {
        let clock = ManualClock::new();
        let breaker = with_clock(1, 2, clock.clone());
        breaker.enter().unwrap().failure();
        clock.advance(OPEN_FOR);
        let (stays, goes) = (breaker.enter().unwrap(), breaker.enter_owned().unwrap());
        let other = entering(&breaker);
        drop(goes);
        match other.join().unwrap() {
            Ok(probe) => {
                assert_eq!(breaker.enter().unwrap_err().state, State::HalfOpen);
                drop(probe);
            }
            Err(refused) => assert_eq!(refused.state, State::HalfOpen),
        }
        // With one that stays, there is one slot.
        assert_one_slot(&breaker);
        drop(stays);
        assert_adds_up(&breaker);
    });
}

#[test]
fn a_probe_that_is_given_up_for_lost_counts_or_its_successor_does() {
    loom::model(|| {
        let (breaker, clock) = due_for_probes();
        let lost = breaker.enter_owned().unwrap();
        clock.advance(Duration::from_secs(60));
        let other = entering(&breaker);
        let settled = lost.success();
        let successor = other.join().unwrap().unwrap();
        if settled == Settled::Counted {
            assert_eq!(breaker.state(), State::Closed);
        } else {
            assert_eq!(settled, Settled::Stale);
            assert_eq!(breaker.enter().unwrap_err().state, State::HalfOpen);
            assert_eq!(breaker.snapshot().probe_lost_total, 1);
        }
        assert_eq!(successor.success(), Settled::Counted);
        assert_eq!(breaker.state(), State::Closed);
        assert_adds_up(&breaker);
    });
}

#[test]
fn a_success_before_the_last_failure_saves_the_breaker_and_one_after_it_is_stale() {
    loom::model(|| {
        let (breaker, _clock) = breaker(2);
        breaker.enter().unwrap().failure();
        let good = breaker.enter_owned().unwrap();
        let bad = breaker.enter_owned().unwrap();
        let other = thread::spawn(move || good.success());
        assert_eq!(bad.failure(), Settled::Counted);
        let seen = (other.join().unwrap(), breaker.state(), breaker.snapshot().generation);
        assert!(
            seen == (Settled::Counted, State::Closed, 0)
                || seen == (Settled::Stale, State::Open, 1),
            "{seen:?}"
        );
        assert_adds_up(&breaker);
    });
}

#[test]
fn a_success_from_before_the_trip_moves_nothing_in_the_generations_after_it() {
    loom::model(|| {
        let clock = SeenClock::default();
        let breaker = with_clock(1, 1, clock.clone());
        let late = breaker.enter_owned().unwrap();
        let bad = breaker.enter_owned().unwrap();
        let other = thread::spawn(move || late.success());
        assert_eq!(bad.failure(), Settled::Counted);
        clock.set(OPEN_FOR);
        let probe = breaker.enter().unwrap();
        let late = other.join().unwrap();
        assert!(matches!(late, Settled::Counted | Settled::Stale), "{late:?}");
        let seen = breaker.snapshot();
        assert_eq!((seen.state, seen.generation, seen.closed_total), (State::HalfOpen, 2, 0));
        assert_eq!(seen.stale_total, u64::from(late == Settled::Stale));
        assert_eq!(probe.success(), Settled::Counted);
        assert_eq!(breaker.state(), State::Closed);
        assert_adds_up(&breaker);
    });
}

#[test]
fn a_call_that_comes_as_the_breaker_trips_goes_through_or_is_refused() {
    loom::model(|| {
        let (breaker, _clock) = breaker(1);
        let bad = breaker.enter_owned().unwrap();
        let caller = breaker.clone();
        let other = thread::spawn(move || caller.enter().map(Permit::success));
        assert_eq!(bad.failure(), Settled::Counted);
        match other.join().unwrap() {
            Ok(settled) => assert_ne!(settled, Settled::Outrun),
            Err(refused) => {
                let retry_after = Some(OPEN_FOR);
                assert_eq!(refused, Rejected { state: State::Open, retry_after });
            }
        }
        assert_eq!((breaker.state(), breaker.snapshot().generation), (State::Open, 1));
        assert_adds_up(&breaker);
    });
}

#[test]
fn a_refusal_names_the_deadline_of_the_state_that_refused() {
    const REMAINING: Duration = Duration::from_secs(1);
    loom::model(|| {
        let (breaker, _clock) = breaker(1);
        // The deadline of a spell that is over is still there.
        breaker.enter().unwrap().failure();
        breaker.reset();
        let restored = breaker.clone();
        let other = thread::spawn(move || {
            let (state, generation) = (State::Open, 7);
            let saved =
                Saved { state, forced: false, failures: 0, open_remaining: REMAINING, generation };
            restored.restore(&saved).unwrap();
        });
        if let Some(refused) = breaker.would_reject() {
            assert_eq!(refused.retry_after, Some(REMAINING));
        }
        if let Err(refused) = breaker.enter().map(drop) {
            assert_eq!(refused.retry_after, Some(REMAINING));
        }
        other.join().unwrap();
        assert_eq!(breaker.enter().unwrap_err().retry_after, Some(REMAINING));
    });
}

#[test]
fn a_call_is_refused_all_the_while_the_breaker_opens_again() {
    loom::model(|| {
        let (breaker, _clock) = due_for_probes();
        let probe = breaker.enter_owned().unwrap();
        let other = thread::spawn(move || probe.failure());
        let refused = breaker.enter().unwrap_err();
        let (state, wait) = (refused.state, refused.retry_after.unwrap());
        let lost_after = Duration::from_secs(60);
        assert!(
            (state, wait) == (State::HalfOpen, lost_after)
                || (state, wait) == (State::Open, OPEN_FOR),
            "{refused:?}"
        );
        assert_eq!(other.join().unwrap(), Settled::Counted);
        assert_eq!(breaker.would_reject().unwrap().retry_after, Some(OPEN_FOR));
        assert_adds_up(&breaker);
    });
}

#[test]
fn nobody_enters_once_the_breaker_is_forced_open() {
    loom::model(|| {
        let (breaker, _clock) = breaker(1);
        let other = entering(&breaker);
        breaker.force_open();
        let refused = Rejected { state: State::Open, retry_after: None };
        assert_eq!(breaker.enter().unwrap_err(), refused);
        let other = other.join().unwrap();
        assert_eq!(breaker.snapshot().generation, 1);
        // Closed as it was then, but for the generation.
        breaker.reset();
        match other {
            Ok(permit) => assert_eq!(permit.success(), Settled::Stale),
            Err(error) => assert_eq!(error, refused),
        }
        assert_adds_up(&breaker);
    });
}

#[test]
fn time_goes_on_for_all_when_one_who_read_the_clock_before_comes_late() {
    const SECOND: Duration = Duration::from_secs(1);
    loom::model(|| {
        let clock = SeenClock::default();
        let breaker = with_clock(1, 1, clock.clone());
        breaker.enter().unwrap().failure();
        let wait = |breaker: &Breaker| breaker.would_reject().unwrap().retry_after.unwrap();
        clock.set(SECOND);
        let asked = breaker.clone();
        let other = thread::spawn(move || wait(&asked));
        clock.set(3 * SECOND);
        let before = wait(&breaker);
        other.join().unwrap();
        clock.set(Duration::ZERO);
        assert!(wait(&breaker) <= before, "a clock that steps back is held at the latest moment");
    });
}
