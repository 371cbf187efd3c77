#![cfg(test)]
//! Listeners run after the lock is released and in the order of what happened, and whatever they do
//! changes nothing that was recorded.

mod support;

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use mainstay_breaker::{
    Breaker, Cause, Detector, Event, FailureKind, HalfOpenPolicy, LatencyOf, MAX_LISTENERS, Permit,
    Settled, State, TooManyListeners,
};
use support::{Heard, SECOND, build, change, fail, soon, succeed, trip};

use State::{Closed, HalfOpen, Open};

/// Everything that a listener could do to its breaker.
fn use_everything(breaker: &Breaker) {
    let _ = breaker.run(|| Ok::<_, ()>(()));
    let _ = breaker.run(|| Err::<(), _>(()));
    let _ = breaker.enter().map(Permit::success);
    let _ = breaker.enter().map(Permit::failure);
    let _ = breaker.enter().map(Permit::timeout);
    let _ = breaker.enter().map(Permit::ignore);
    let _ = breaker.enter().map(Permit::cancel);
    let _ = breaker.enter().map(drop);
    let _ = breaker.enter_owned().map(Permit::success);
    let _ = breaker.hedge().enter().map(Permit::success);
    let _ = (breaker.state(), breaker.would_reject(), breaker.snapshot());
    breaker.force_open();
    let _ = (breaker.state(), breaker.would_reject(), breaker.snapshot());
    let saved = breaker.export();
    breaker.force_closed();
    breaker.restore(&saved).unwrap();
    breaker.reset();
    trip_quietly(breaker);
    let _ = breaker.enter_probe().map(Permit::success);
    breaker.reset();
    drop(breaker.on_event(|_| {}).unwrap());
    drop(breaker.subscribe().unwrap());
    drop(breaker.clone());
}

fn trip_quietly(breaker: &Breaker) {
    while let Ok(permit) = breaker.enter() {
        permit.failure();
    }
}

#[test]
fn a_listener_may_use_every_method_of_its_breaker() {
    let told = soon(|| {
        let (breaker, _clock) = build(|builder| builder);
        let inside = breaker.clone();
        let left = AtomicU32::new(20);
        let told = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&told);
        let subscription = breaker.on_event(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            let use_up = |left: u32| left.checked_sub(1);
            if left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, use_up).is_ok() {
                use_everything(&inside);
            }
        });
        succeed(&breaker);
        drop(subscription);
        assert_eq!(breaker.state(), Closed);
        told.load(Ordering::Relaxed)
    });
    assert!(told > 200, "twenty rounds tell of much more than {told} events");
}

#[test]
fn listeners_hear_of_changes_in_order_when_one_of_them_makes_more_changes() {
    let (breaker, _clock) = build(|builder| builder.detector(Detector::consecutive(1)));
    let (first, second) = (Heard::default(), Heard::default());
    let inside = breaker.clone();
    let _meddler = breaker
        .on_event(move |notice| match change(notice.event) {
            Some((Closed, Open)) => inside.reset(),
            Some((Open, Closed)) => inside.force_closed(),
            _ => {}
        })
        .unwrap();
    let _first = breaker.on_event(first.listener()).unwrap();
    let _second = breaker.on_event(second.listener()).unwrap();
    fail(&breaker);
    for heard in [first, second] {
        assert_eq!(heard.take_changes(), [(Closed, Open), (Open, Closed), (Closed, Closed)]);
    }
}

#[test]
fn threads_that_change_the_state_at_once_are_told_of_in_order() {
    let (breaker, _clock) = build(|builder| builder);
    let heard = Heard::default();
    let inside = breaker.clone();
    let _meddler = breaker
        .on_event(move |notice| {
            if let Event::StateChange { generation, .. } = notice.event
                && generation.is_multiple_of(7)
            {
                inside.reset();
            }
        })
        .unwrap();
    let _listener = breaker.on_event(heard.listener()).unwrap();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..500 {
                    breaker.force_open();
                    breaker.reset();
                }
            });
        }
    });
    let mut last = (Closed, 0);
    for event in heard.take() {
        let Event::StateChange { from, to, generation, .. } = event else { continue };
        assert_eq!(from, last.0, "each change begins where the last one ended");
        assert!(generation > last.1, "{generation} comes after {}", last.1);
        last = (to, generation);
    }
    assert_eq!(last.0, breaker.state());
    assert!(last.1 >= 1_000, "half of the changes at least are changes of the state: {last:?}");
}

#[test]
fn a_panicking_listener_loses_no_permit_and_changes_no_result() {
    let heard = Heard::default();
    let (breaker, clock) = build(|builder| {
        builder
            .detector(Detector::consecutive(1))
            .half_open(HalfOpenPolicy::all(2).at_once(1))
            .on_event(|_| panic!("a listener's own trouble"))
            .on_event(heard.listener())
    });
    assert_eq!(fail(&breaker), Settled::Counted);
    assert!(breaker.enter().is_err());
    clock.advance(5 * SECOND);
    assert_eq!(succeed(&breaker), Settled::Counted);
    drop(breaker.enter().unwrap());
    assert_eq!(succeed(&breaker), Settled::Counted);
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.success_total, snapshot.failure_total), (2, 1));
    assert_eq!((snapshot.state, snapshot.in_flight), (Closed, 0));
    let heard = heard.take();
    assert_eq!(heard.len(), 7, "{heard:?}");
    assert_eq!(snapshot.listener_panics_total, 7);
}

#[test]
fn a_listener_that_panics_while_a_call_unwinds_does_no_harm() {
    let heard = Heard::default();
    let (breaker, _clock) = build(|builder| {
        builder
            .on_event(|_| panic!("a listener's own trouble"))
            .on_event(heard.listener())
            .latency(LatencyOf::Nothing)
    });
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _permit = breaker.enter().unwrap();
        panic!("the call's own trouble");
    }));
    let payload = unwound.unwrap_err();
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"the call's own trouble"));
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.failure_total, snapshot.in_flight), (1, 0));
    assert_eq!(snapshot.listener_panics_total, 1);
    assert_eq!(heard.take(), [Event::Failure { kind: FailureKind::Panic, latency: None }]);
}

/// Panics again when what it panicked with is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("what was thrown is thrown again");
    }
}

#[test]
fn a_listener_that_panics_with_something_that_panics_does_no_harm() {
    let heard = Heard::default();
    let (breaker, _clock) =
        build(|builder| builder.on_event(|_| panic_any(Bomb)).on_event(heard.listener()));
    assert_eq!(succeed(&breaker), Settled::Counted);
    assert_eq!(succeed(&breaker), Settled::Counted);
    assert_eq!(heard.take().len(), 2);
    assert_eq!(breaker.snapshot().listener_panics_total, 2);
}

#[test]
fn a_listener_that_panics_as_it_is_dropped_does_not_silence_the_others() {
    let (breaker, _clock) = build(|builder| builder);
    let heard = Heard::default();
    let kept = Arc::new(Mutex::new(None));
    let (inside, bomb) = (Arc::clone(&kept), Bomb);
    let subscription = breaker.on_event(move |_| {
        let _ = &bomb;
        drop(inside.lock().unwrap().take());
    });
    *kept.lock().unwrap() = Some(subscription.unwrap());
    let _listener = breaker.on_event(heard.listener()).unwrap();
    assert_eq!(succeed(&breaker), Settled::Counted);
    assert_eq!(succeed(&breaker), Settled::Counted);
    assert_eq!(heard.take().len(), 2);
    assert_eq!(breaker.snapshot().listener_panics_total, 1);
}

#[test]
fn every_kind_of_event_is_told() {
    let heard = Heard::default();
    let (breaker, clock) =
        build(|builder| builder.detector(Detector::consecutive(3)).on_event(heard.listener()));
    let permit = breaker.enter().unwrap();
    clock.advance(SECOND);
    permit.success();
    assert_eq!(heard.take(), [Event::Success { latency: Some(SECOND) }]);

    fail(&breaker);
    let latency = Some(Duration::ZERO);
    assert_eq!(heard.take(), [Event::Failure { kind: FailureKind::Error, latency }]);

    let stale = breaker.enter().unwrap();
    breaker.enter().unwrap().timeout();
    let kind = FailureKind::Timeout;
    assert_eq!(heard.take(), [Event::Timeout, Event::Failure { kind, latency }]);
    assert_eq!(breaker.snapshot().timeout_total, 1);

    breaker.enter().unwrap().ignore();
    breaker.enter().unwrap().cancel();
    drop(breaker.enter().unwrap());
    assert_eq!(heard.take(), [], "what says nothing is not told");

    fail(&breaker);
    let failure = Event::Failure { kind: FailureKind::Error, latency };
    let at = breaker.snapshot().last_state_change_at;
    let cause = Cause::Tripped;
    let opened = Event::StateChange { from: Closed, to: Open, cause, generation: 1, at };
    assert_eq!(heard.take(), [failure, opened], "the failure, then what came of it");

    assert_eq!(stale.failure(), Settled::Stale);
    assert_eq!(heard.take(), [Event::Stale]);

    assert!(breaker.enter().is_err());
    let reject = Event::Reject { state: Open, retry_after: Some(5 * SECOND) };
    assert_eq!(heard.take(), [reject]);
}

#[test]
fn half_open_is_announced_once_by_the_call_that_finds_it() {
    let heard = Heard::default();
    let (breaker, clock) = build(|builder| builder.on_event(heard.listener()));
    trip(&breaker);
    heard.take();
    clock.advance(5 * SECOND);
    assert_eq!(breaker.state(), HalfOpen);
    assert_eq!(breaker.would_reject(), None);
    assert_eq!(breaker.snapshot().state, HalfOpen);
    assert_eq!(heard.take(), [], "who only looks announces nothing");
    let permit = breaker.enter().unwrap();
    let cause = Cause::Waited;
    let at = breaker.snapshot().last_state_change_at;
    let half_opened = Event::StateChange { from: Open, to: HalfOpen, cause, generation: 2, at };
    assert_eq!(heard.take(), [half_opened]);
    let _another = breaker.enter().unwrap();
    assert_eq!(heard.take(), []);
    permit.failure();
    assert_eq!(heard.take_changes(), [(HalfOpen, Open)]);
}

#[test]
fn a_slow_listener_bounds_what_waits_and_no_state_change_is_lost() {
    const WAITING: u64 = 1_024;
    let heard = Heard::default();
    let (entered, has_entered) = channel();
    let (go_on, may_go_on) = sync_channel::<()>(0);
    let may_go_on = Mutex::new(may_go_on);
    let (breaker, _clock) = build(|builder| {
        let entered = Mutex::new(Some(entered));
        builder.on_event(heard.listener()).on_event(move |_| {
            if let Some(entered) = entered.lock().unwrap().take() {
                entered.send(()).unwrap();
                may_go_on.lock().unwrap().recv().unwrap();
            }
        })
    });
    thread::scope(|scope| {
        scope.spawn(|| succeed(&breaker));
        has_entered.recv().unwrap();
        (0..3_000).for_each(|_| assert_eq!(succeed(&breaker), Settled::Counted));
        (0..50).for_each(|_| {
            breaker.force_open();
            breaker.reset();
        });
        assert_eq!(breaker.snapshot().untold_events_total, 3_000 - WAITING);
        go_on.send(()).unwrap();
    });
    let heard = heard.take();
    let changes = heard.iter().copied().filter_map(change).count();
    assert_eq!(changes, 100, "state changes matter more and all are told");
    assert_eq!(heard.len() as u64, 1 + WAITING + 100);
    assert_eq!(breaker.snapshot().success_total, 3_001, "what is untold is counted all the same");
}

#[test]
fn a_listener_that_hangs_can_not_fill_the_memory_with_state_changes() {
    const WAITING: u64 = 4_096;
    let heard = Heard::default();
    let (entered, has_entered) = channel();
    let (go_on, may_go_on) = sync_channel::<()>(0);
    let may_go_on = Mutex::new(may_go_on);
    let (breaker, _clock) = build(|builder| {
        let entered = Mutex::new(Some(entered));
        builder.on_event(heard.listener()).on_event(move |_| {
            if let Some(entered) = entered.lock().unwrap().take() {
                entered.send(()).unwrap();
                may_go_on.lock().unwrap().recv().unwrap();
            }
        })
    });
    thread::scope(|scope| {
        scope.spawn(|| succeed(&breaker));
        has_entered.recv().unwrap();
        (0..3_000).for_each(|_| {
            breaker.force_open();
            breaker.reset();
        });
        assert_eq!(breaker.snapshot().untold_events_total, 6_000 - WAITING);
        go_on.send(()).unwrap();
    });
    assert_eq!(heard.take().len() as u64, 1 + WAITING);
}

#[test]
fn who_drops_the_subscription_hears_nothing_more() {
    let (breaker, _clock) = build(|builder| builder);
    let (gone, kept) = (Heard::default(), Heard::default());
    let subscription = breaker.on_event(gone.listener()).unwrap();
    let _kept = breaker.on_event(kept.listener()).unwrap();
    succeed(&breaker);
    drop(subscription);
    succeed(&breaker);
    assert_eq!((gone.take().len(), kept.take().len()), (1, 2));
}

#[test]
fn a_listener_may_drop_its_own_subscription() {
    soon(|| {
        let (breaker, _clock) = build(|builder| builder);
        let heard = Heard::default();
        let kept = Arc::new(Mutex::new(None));
        let (listen, inside) = (heard.listener(), Arc::clone(&kept));
        let subscription = breaker.on_event(move |notice| {
            listen(notice);
            drop(inside.lock().unwrap().take());
        });
        *kept.lock().unwrap() = Some(subscription.unwrap());
        succeed(&breaker);
        succeed(&breaker);
        assert_eq!(heard.take().len(), 1);
    });
}

#[test]
fn a_subscription_may_outlive_its_breaker() {
    let (breaker, _clock) = build(|builder| builder);
    let subscription = breaker.on_event(|_| {}).unwrap();
    drop(breaker);
    drop(subscription);
}

#[test]
fn there_are_so_many_listeners_and_no_more() {
    let (breaker, _clock) = build(|builder| builder.on_event(|_| {}));
    let mut subscriptions: Vec<_> =
        (1..MAX_LISTENERS).map(|_| breaker.on_event(|_| {}).unwrap()).collect();
    assert_eq!(breaker.on_event(|_| {}).unwrap_err(), TooManyListeners);
    assert_eq!(breaker.subscribe().unwrap_err(), TooManyListeners);
    subscriptions.pop();
    let mailbox = breaker.subscribe().unwrap();
    assert!(breaker.subscribe().is_err());
    drop(mailbox);
    assert!(breaker.subscribe().is_ok());
}

#[test]
fn a_notice_names_the_breaker() {
    let names = Arc::new(Mutex::new(Vec::new()));
    let inside = Arc::clone(&names);
    let (breaker, _clock) = build(|builder| {
        builder.on_event(move |notice| inside.lock().unwrap().push(notice.breaker.to_owned()))
    });
    succeed(&breaker);
    assert_eq!(*names.lock().unwrap(), ["payments"]);
}

#[test]
fn a_listener_that_asks_again_at_every_refusal_keeps_nobody_for_ever() {
    soon(|| {
        let (breaker, _clock) = build(|builder| builder);
        let inside = breaker.clone();
        let _again = breaker
            .on_event(move |notice| {
                if let Event::Reject { .. } = notice.event {
                    assert!(inside.enter().is_err());
                }
            })
            .unwrap();
        breaker.force_open();
        assert!(breaker.enter().is_err());
        assert!(breaker.enter().is_err(), "and the next is served too");
    });
}

#[test]
fn who_subscribes_while_others_are_told_hears_nothing_of_before() {
    let (breaker, _clock) = build(|builder| builder);
    let late = Heard::default();
    let (inside, listener) = (breaker.clone(), late.clone());
    let kept = Arc::new(Mutex::new(None));
    let keep = Arc::clone(&kept);
    let _first = breaker
        .on_event(move |notice| {
            let mut kept = keep.lock().unwrap();
            if kept.is_none() && change(notice.event) == Some((Closed, Open)) {
                // Of the change that is being told, and of the one that waits behind it.
                inside.reset();
                *kept = Some(inside.on_event(listener.listener()).unwrap());
            }
        })
        .unwrap();
    breaker.force_open();
    assert_eq!(late.take(), []);
    breaker.force_open();
    assert_eq!(late.take_changes(), [(Closed, Open)]);
}

#[test]
fn forcing_a_breaker_where_it_stands_is_announced_and_counts_no_opening() {
    let heard = Heard::default();
    let (breaker, _clock) = build(|builder| builder.on_event(heard.listener()));
    breaker.force_closed();
    breaker.reset();
    assert_eq!(heard.take_changes(), [(Closed, Closed), (Closed, Closed)]);
    breaker.reset();
    assert_eq!(heard.take_changes(), [], "nothing was forced");
    assert_eq!(breaker.snapshot().closed_total, 0);
}
