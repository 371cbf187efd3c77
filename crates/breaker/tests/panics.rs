//! A panic in a call counts as a failure and leaks nothing; a panic elsewhere is nobody's failure.
#![cfg(test)]
#![cfg(feature = "async")]

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

use common::{Gone, Rig, builder, hangs, millis, panics, poll, read};
use mainstay_breaker::{
    Breaker, CallError, CallOptions, Event, FailureKind, ManualClock, Settled, State, Verdict,
};

/// Panics when it is dropped, unless a panic is under way.
struct Explosive;

impl Drop for Explosive {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("at the end of the call");
        }
    }
}

fn panic_in_a_context(breaker: &Breaker) {
    let call = breaker.call_with(|_| -> std::future::Ready<Result<(), &str>> {
        panic!("before there is a future")
    });
    let _ = poll(&mut Box::pin(call));
}

type Run = fn(&Rig);

/// Every place of a call that can panic.
const PLACES: &[(&str, Run)] = &[
    ("in run", |rig| {
        let _ = rig.breaker.run(|| -> Result<(), &str> { panic!("in the call") });
    }),
    ("in the first poll", |rig| {
        let call = rig.breaker.call(async { panic!("in the call") as Result<(), &str> });
        let _ = poll(&mut Box::pin(call));
    }),
    ("in a later poll", |rig| {
        let mut call = Box::pin(rig.breaker.call(async {
            tokio::task::yield_now().await;
            panic!("in the call") as Result<(), &str>
        }));
        assert!(poll(&mut call).is_pending());
        let _ = poll(&mut call);
    }),
    ("in a limited call", |rig| {
        let options = CallOptions::default().timeout(millis(10));
        let call =
            rig.breaker.limited(options).call(async { panic!("in the call") as Result<(), &str> });
        let _ = poll(&mut Box::pin(call));
    }),
    ("in the closure of a call with a context", |rig| panic_in_a_context(&rig.breaker)),
    ("in the future of a call with a context", |rig| {
        let call = rig.breaker.call_with(|_| async { panic!("in the call") as Result<(), &str> });
        let _ = poll(&mut Box::pin(call));
    }),
    ("in whoever holds a permit", |rig| {
        let _permit = rig.enter();
        panic!("while it is held");
    }),
    ("in whoever holds an owned permit", |rig| {
        let _permit = rig.breaker.enter_owned().unwrap();
        panic!("while it is held");
    }),
    ("in what a timed-out call leaves behind", |rig| {
        let options = CallOptions::default().timeout(millis(10));
        let mut call = Box::pin(rig.breaker.limited(options).call(async {
            let _explosive = Explosive;
            std::future::pending::<Result<(), &str>>().await
        }));
        assert!(poll(&mut call).is_pending());
        rig.clock.advance(millis(10));
        let _ = poll(&mut call);
    }),
];

#[test]
fn it_counts_as_one_failure_and_nothing_is_in_flight() {
    for (place, run) in PLACES {
        let rig = Rig::new();
        let mut events = rig.breaker.subscribe().unwrap();
        panics(|| run(&rig));
        let snapshot = rig.snapshot();
        assert_eq!((snapshot.failure_total, snapshot.cancelled_total), (1, 0), "{place}");
        assert_eq!((snapshot.in_flight, snapshot.consecutive_failures), (0, Some(1)), "{place}");
        match read(&mut events)[..] {
            [Event::Failure { kind: FailureKind::Panic, .. }] => {}
            ref other => panic!("{other:?} {place}"),
        }
    }
}

#[test]
fn in_a_probe_it_opens_again_and_the_next_cycle_has_all_its_slots() {
    for (place, run) in PLACES {
        let rig = Rig::waited();
        panics(|| run(&rig));
        assert_eq!(rig.state(), State::Open, "{place}");
        rig.clock.advance(common::OPEN_FOR);
        assert_eq!(rig.admitted_of(10), 2, "{place}");
        rig.succeed();
        rig.succeed();
        assert_eq!(rig.state(), State::Closed, "{place}");
    }
}

#[test]
fn a_classifier_that_panics_could_not_judge_so_the_call_failed() {
    let clock = ManualClock::new();
    let breaker = builder(&clock)
        .classifier(|_: &Result<(), &str>| -> Verdict { panic!("in the classifier") })
        .build()
        .unwrap();
    panics(|| drop(breaker.run(|| Ok(()))));
    panics(|| drop(poll(&mut Box::pin(breaker.call(async { Ok(()) })))));
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.failure_total, snapshot.in_flight), (2, 0));
}

#[test]
fn a_call_that_is_dropped_by_an_unrelated_panic_was_cancelled() {
    for rig in [Rig::new(), Rig::waited()] {
        let (state, failures) = (rig.state(), rig.snapshot().failure_total);
        panics(|| {
            let mut call = Box::pin(rig.breaker.call(hangs(Gone::default().alive())));
            assert!(poll(&mut call).is_pending());
            panic!("in something else of the same task");
        });
        let snapshot = rig.snapshot();
        assert_eq!((snapshot.cancelled_total, snapshot.in_flight), (1, 0));
        assert_eq!((snapshot.failure_total, snapshot.state), (failures, state));
    }
}

#[test]
fn a_call_that_is_run_to_its_end_while_a_panic_unwinds_has_its_own_result() {
    struct AtTheEnd<'a>(&'a Breaker);
    impl Drop for AtTheEnd<'_> {
        fn drop(&mut self) {
            assert_eq!(self.0.run(|| Ok::<_, &str>("tidied")), Ok("tidied"));
            let mut call = Box::pin(self.0.call(hangs(Gone::default().alive())));
            assert!(poll(&mut call).is_pending());
        }
    }
    let rig = Rig::new();
    panics(|| {
        let _at_the_end = AtTheEnd(&rig.breaker);
        panic!("in something else");
    });
    let snapshot = rig.snapshot();
    assert_eq!((snapshot.success_total, snapshot.failure_total), (1, 0));
    assert_eq!((snapshot.cancelled_total, snapshot.in_flight), (1, 0));
}

#[test]
fn a_permit_that_was_settled_before_the_panic_keeps_its_result() {
    let rig = Rig::new();
    panics(|| {
        assert_eq!(rig.enter().success(), Settled::Counted);
        panic!("afterwards");
    });
    assert_eq!((rig.snapshot().success_total, rig.snapshot().failure_total), (1, 0));
}

#[test]
fn a_breaker_that_has_seen_panics_goes_on() {
    let rig = Rig::new();
    for (_, run) in PLACES.iter().take(2) {
        panics(|| run(&rig));
    }
    let mut call = Box::pin(rig.breaker.call(async { Ok::<_, &str>("paid") }));
    assert_eq!(poll(&mut call), Poll::Ready(Ok::<_, CallError<&str>>("paid")));
    assert_eq!(rig.snapshot().consecutive_failures, Some(0));
}

#[test]
fn a_timer_that_needs_a_runtime_and_has_none_leaks_nothing_and_is_not_held_against_the_downstream()
{
    let breaker = Breaker::builder("payments").timeout(millis(10)).build().unwrap();
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _ = poll(&mut Box::pin(breaker.call(async { Ok::<_, &str>(()) })));
    }));
    assert!(unwound.is_err(), "it says so");
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let options = CallOptions::default();
        let _ = poll(&mut Box::pin(breaker.limited(options).call(async { Ok::<_, &str>(()) })));
    }));
    assert!(unwound.is_err());
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.in_flight, snapshot.failure_total, snapshot.cancelled_total), (0, 0, 2));
}

#[test]
fn a_permit_that_is_made_while_its_thread_unwinds_is_cancelled_when_it_is_dropped() {
    struct AsksAsItGoes(Breaker);
    impl Drop for AsksAsItGoes {
        fn drop(&mut self) {
            drop(self.0.enter());
        }
    }
    let breaker = Breaker::builder("payments").build().unwrap();
    let asks = AsksAsItGoes(breaker.clone());
    let unwound = catch_unwind(AssertUnwindSafe(move || {
        let _asks = asks;
        panic!("of something else");
    }));
    assert!(unwound.is_err());
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.cancelled_total, snapshot.failure_total), (1, 0));
}
