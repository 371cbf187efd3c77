//! Every interleaving of a few threads at the gate, the permits, the hub and the counters.
//!
//! `RUSTFLAGS="--cfg mainstay_loom" cargo test -p mainstay-breaker --no-default-features --test loom`
#![cfg(all(test, mainstay_loom))]

use std::sync::Arc;
use std::time::Duration;

use loom::sync::Mutex;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;
use mainstay_breaker::{
    Breaker, Clock, Detector, Event, HalfOpenPolicy, LatencyOf, ManualClock, Moment, Permit,
    Rejected, Saved, Settled, State, Subscription,
};

const OPEN_FOR: Duration = Duration::from_secs(5);

/// A breaker that opens after so many failures and sends one probe, with no latency to measure:
/// its calls take the way without the lock.
fn breaker(failures: u32) -> (Breaker, ManualClock) {
    let clock = ManualClock::new();
    (with_clock(failures, 1, clock.clone()), clock)
}

fn with_clock(failures: u32, probes: u32, clock: impl Clock) -> Breaker {
    Breaker::builder("checked")
        .detector(Detector::consecutive(failures))
        .open_for(OPEN_FOR)
        .half_open(HalfOpenPolicy::all(probes))
        .latency(LatencyOf::Nothing)
        .clock(clock)
        .build()
        .unwrap()
}

/// A clock that loom sees, for those who move it while others read it.
#[derive(Clone, Default)]
struct SeenClock(Arc<AtomicU64>);

impl SeenClock {
    fn set(&self, since_origin: Duration) {
        self.0.store(since_origin.as_nanos().try_into().unwrap(), Ordering::Release);
    }
}

impl Clock for SeenClock {
    fn now(&self) -> Moment {
        Moment::from_nanos(self.0.load(Ordering::Acquire))
    }

    #[cfg(feature = "async")]
    fn sleep(&self, _: Duration) -> mainstay_breaker::Sleep {
        Box::pin(std::future::pending())
    }
}

/// Open, with the time to be open over.
fn due_for_probes() -> (Breaker, ManualClock) {
    let (breaker, clock) = breaker(1);
    breaker.enter().unwrap().failure();
    clock.advance(OPEN_FOR);
    (breaker, clock)
}

/// Everything that was let through has ended, and was counted once.
fn assert_adds_up(breaker: &Breaker) {
    let seen = breaker.snapshot();
    assert_eq!(seen.in_flight, 0, "{seen:?}");
    let ended = seen.success_total
        + seen.failure_total
        + seen.ignored_total
        + seen.cancelled_total
        + seen.stale_total;
    assert_eq!(ended, seen.allowed_total, "{seen:?}");
}

/// One slot, and it is free.
fn assert_one_slot(breaker: &Breaker) {
    let probe = breaker.enter().unwrap();
    let refused = breaker.enter().unwrap_err();
    assert_eq!(refused.state, State::HalfOpen);
    drop(probe);
}

/// Enters on another thread, and brings back what came of it.
fn entering(breaker: &Breaker) -> thread::JoinHandle<Result<Permit<'static>, Rejected>> {
    let breaker = breaker.clone();
    thread::spawn(move || breaker.enter_owned())
}

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
fn no_change_is_dated_before_the_one_that_it_follows() {
    loom::model(|| {
        let clock = SeenClock::default();
        let breaker = with_clock(1, 1, clock.clone());
        breaker.enter().unwrap().failure();
        let (heard, _subscription) = listen(&breaker);
        let person = breaker.clone();
        let other = thread::spawn(move || person.reset());
        clock.set(OPEN_FOR);
        drop(breaker.enter());
        other.join().unwrap();
        let times = |event: &Event| match *event {
            Event::StateChange { at, .. } => Some(at),
            _ => None,
        };
        let events = heard.take();
        assert!(events.iter().filter_map(times).is_sorted(), "{events:?}");
        assert_eq!(
            events.iter().filter_map(times).max(),
            Some(breaker.snapshot().last_state_change_at)
        );
    });
}

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

/// What listeners heard. Its lock is loom's, so that others may come between an event and its
/// listener.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<Event>>>);

impl Heard {
    fn hear(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }

    fn take(&self) -> Vec<Event> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

fn listen(breaker: &Breaker) -> (Heard, Subscription) {
    let heard = Heard::default();
    let hear = heard.clone();
    let subscription = breaker.on_event(move |notice| hear.hear(notice.event)).unwrap();
    (heard, subscription)
}

#[test]
fn two_who_begin_to_listen_at_once_both_hear() {
    loom::model(|| {
        let (breaker, _clock) = breaker(1);
        let other = breaker.clone();
        let other = thread::spawn(move || listen(&other));
        let (mine, _mine) = listen(&breaker);
        let (theirs, _theirs) = other.join().unwrap();
        breaker.enter().unwrap().success();
        assert_eq!((mine.take().len(), theirs.take().len()), (1, 1));
    });
}

#[test]
fn whoever_begins_to_listen_hears_what_happens_from_then_on() {
    loom::model(|| {
        let (breaker, _clock) = breaker(1);
        let permit = breaker.enter_owned().unwrap();
        let other = thread::spawn(move || permit.success());
        let (heard, subscription) = listen(&breaker);
        let mine = breaker.enter().unwrap().success();
        assert_eq!((mine, other.join().unwrap()), (Settled::Counted, Settled::Counted));
        let success = Event::Success { latency: None };
        let events = heard.take();
        assert!(events == [success] || events == [success; 2], "{events:?}");
        drop(subscription);
        breaker.enter().unwrap().success();
        assert_eq!(heard.take(), []);
        assert_adds_up(&breaker);
    });
}

#[test]
fn whoever_stops_listening_hears_at_most_what_was_under_way() {
    loom::model(|| {
        let (breaker, _clock) = breaker(1);
        let (heard, subscription) = listen(&breaker);
        let (stays, _stays) = listen(&breaker);
        let permit = breaker.enter_owned().unwrap();
        let other = thread::spawn(move || permit.success());
        drop(subscription);
        assert_eq!(other.join().unwrap(), Settled::Counted);
        assert!(heard.take().len() <= 1);
        breaker.enter().unwrap().success();
        assert_eq!(heard.take(), []);
        assert_eq!(stays.take(), [Event::Success { latency: None }; 2]);
    });
}

#[test]
fn every_change_is_told_once_and_in_the_order_in_which_it_happened() {
    loom::model(|| {
        let (breaker, _clock) = breaker(1);
        let (heard, _subscription) = listen(&breaker);
        let (bad, person) = (breaker.enter_owned().unwrap(), breaker.clone());
        let other = thread::spawn(move || {
            let settled = bad.failure();
            person.reset();
            settled
        });
        breaker.force_open();
        let failed = other.join().unwrap() == Settled::Counted;
        let (mut state, mut generation) = (State::Closed, 0);
        let events = heard.take();
        let changes = events.iter().filter_map(|event| match *event {
            Event::StateChange { from, to, generation, .. } => Some((from, to, generation)),
            _ => None,
        });
        for change in changes {
            assert_eq!(change.0, state, "{events:?}");
            assert!(change.2 > generation, "{events:?}");
            (state, generation) = (change.1, change.2);
        }
        let seen = breaker.snapshot();
        assert_eq!((state, generation), (seen.state, seen.generation), "{events:?}");
        let results = events.iter().filter(|event| matches!(event, Event::Failure { .. })).count();
        let stale = events.iter().filter(|event| **event == Event::Stale).count();
        assert_eq!((results, stale), (usize::from(failed), usize::from(!failed)), "{events:?}");
    });
}

#[test]
fn a_breaker_trips_as_ever_while_somebody_begins_to_listen() {
    loom::model(|| {
        let (breaker, _clock) = breaker(1);
        let bad = breaker.enter_owned().unwrap();
        let other = thread::spawn(move || bad.failure());
        let (heard, _subscription) = listen(&breaker);
        assert_eq!(other.join().unwrap(), Settled::Counted);
        assert_eq!(breaker.enter().unwrap_err().retry_after, Some(OPEN_FOR));
        let events = heard.take();
        // The failure, the change and the refusal, or the refusal alone.
        assert!(matches!(events.len(), 1 | 3), "{events:?}");
        assert!(matches!(events.last(), Some(Event::Reject { .. })), "{events:?}");
    });
}
