//! Who hears of what, and in which order.

use std::sync::Arc;

use loom::sync::Mutex;
use loom::thread;
use mainstay_breaker::{Breaker, Event, Settled, State, Subscription};

use crate::{OPEN_FOR, SeenClock, assert_adds_up, breaker, with_clock};

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
fn nobody_hears_of_a_refusal_before_the_opening_that_refused() {
    loom::model(|| {
        let (breaker, _clock) = breaker(1);
        let (heard, _subscription) = listen(&breaker);
        let bad = breaker.enter_owned().unwrap();
        let other = thread::spawn(move || bad.failure());
        let refused = breaker.enter().is_err();
        assert_eq!(other.join().unwrap(), Settled::Counted);
        let events = heard.take();
        let place = |is_it: fn(&Event) -> bool| events.iter().position(is_it);
        let opened = place(|event| matches!(event, Event::StateChange { to: State::Open, .. }));
        let rejected = place(|event| matches!(event, Event::Reject { .. }));
        assert_eq!((opened.is_some(), rejected.is_some()), (true, refused), "{events:?}");
        assert!(!refused || opened < rejected, "{events:?}");
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
