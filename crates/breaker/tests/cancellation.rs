//! A caller that goes away leaks nothing, wherever it goes: no slot, no call in flight.
#![cfg(test)]
#![cfg(feature = "async")]

mod common;

use std::pin::Pin;
use std::task::Poll;

use common::{Gone, Rig, builder, hangs, poll, ready};
use mainstay_breaker::{
    CallError, CallOptions, CancellationToken, ManualClock, Settled, State, Verdict,
};

type Run = fn(&Rig);

/// Every way in which a caller can go away from a call that was let through.
const WAYS: &[(&str, Run)] = &[
    ("a permit that is dropped", |rig| drop(rig.enter())),
    ("a permit that is cancelled", |rig| assert_eq!(rig.enter().cancel(), Settled::Counted)),
    ("an owned permit that is dropped", |rig| drop(rig.breaker.enter_owned().unwrap())),
    ("an operator's permit that is dropped", |rig| drop(rig.breaker.enter_probe().unwrap())),
    ("a call that is dropped", |rig| {
        let gone = Gone::default();
        let mut call = Box::pin(rig.breaker.call(hangs(gone.alive())));
        assert!(poll(&mut call).is_pending());
        drop(call);
        assert!(gone.is_gone());
    }),
    ("a call that is dropped between two awaits", |rig| {
        let mut call = Box::pin(rig.breaker.call(async {
            tokio::task::yield_now().await;
            std::future::pending::<Result<(), &str>>().await
        }));
        assert!(poll(&mut call).is_pending());
        assert!(poll(&mut call).is_pending());
    }),
    ("a call with a context that is dropped", |rig| {
        let mut call = Box::pin(rig.breaker.call_with(|_| hangs(Gone::default().alive())));
        assert!(poll(&mut call).is_pending());
    }),
    ("a call that its token stops", |rig| {
        let token = CancellationToken::new();
        let options = CallOptions::default().cancelled_by(token.clone());
        let gone = Gone::default();
        let mut call = Box::pin(rig.breaker.limited(options).call(hangs(gone.alive())));
        assert!(poll(&mut call).is_pending());
        token.cancel();
        assert_eq!(poll(&mut call), Poll::Ready(Err(CallError::Cancelled)));
        assert!(gone.is_gone());
    }),
];

#[test]
fn it_is_counted_as_cancelled_and_in_flight_comes_back() {
    for (way, go) in WAYS {
        let rig = Rig::new();
        go(&rig);
        let snapshot = rig.snapshot();
        assert_eq!((snapshot.allowed_total, snapshot.cancelled_total), (1, 1), "{way}");
        assert_eq!((snapshot.success_total, snapshot.failure_total), (0, 0), "{way}");
        assert_eq!(snapshot.in_flight, 0, "{way}");
    }
}

#[test]
fn it_gives_its_half_open_slot_back_however_often() {
    for (way, go) in WAYS {
        let rig = Rig::waited();
        (0..20).for_each(|_| go(&rig));
        assert_eq!(rig.state(), State::HalfOpen, "{way}");
        assert_eq!(rig.admitted_of(10), 2, "{way}");
        rig.succeed();
        rig.succeed();
        assert_eq!(rig.state(), State::Closed, "{way}");
    }
}

#[test]
fn a_call_that_is_never_polled_was_never_let_through() {
    let rig = Rig::waited();
    let gone = Gone::default();
    drop(rig.breaker.call(hangs(gone.alive())));
    let snapshot = rig.snapshot();
    assert!(gone.is_gone());
    assert_eq!((snapshot.allowed_total, snapshot.cancelled_total), (3, 0));
    assert_eq!(snapshot.half_opened_total, 0);
}

#[test]
fn a_token_that_is_cancelled_already_makes_no_call() {
    let rig = Rig::new();
    let token = CancellationToken::new();
    token.cancel();
    let options = CallOptions::default().cancelled_by(token);
    let mut polled = false;
    let answer = ready(rig.breaker.limited(options).call(async {
        polled = true;
        Ok::<_, &str>(())
    }));
    assert_eq!(answer, Err(CallError::Cancelled));
    assert!(!polled);
    assert_eq!(rig.snapshot().allowed_total, 0);
}

#[test]
fn an_ended_call_is_not_cancelled_by_what_comes_after() {
    let rig = Rig::new();
    let token = CancellationToken::new();
    let options = CallOptions::default().cancelled_by(token.clone());
    let mut call: Pin<Box<_>> = Box::pin(rig.breaker.limited(options).call(async {
        token.cancel();
        Ok::<_, &str>("paid")
    }));
    assert_eq!(poll(&mut call), Poll::Ready(Ok("paid")), "the result was there first");
    let snapshot = rig.snapshot();
    assert_eq!((snapshot.success_total, snapshot.cancelled_total), (1, 0));
}

#[test]
fn an_ignored_result_gives_its_half_open_slot_back_however_often() {
    let clock = ManualClock::new();
    let breaker = builder(&clock)
        .classify_errors(|error: &&str| match *error {
            "not found" => Verdict::Ignore,
            _ => Verdict::Failure,
        })
        .build()
        .unwrap();
    (0..3).for_each(|_| drop(breaker.run(|| Err::<(), _>("down"))));
    clock.advance(common::OPEN_FOR);
    for _ in 0..20 {
        assert_eq!(
            ready(breaker.call(async { Err::<(), _>("not found") })),
            Err(CallError::Inner("not found"))
        );
    }
    assert_eq!(breaker.state(), State::HalfOpen);
    assert_eq!(breaker.snapshot().ignored_total, 20);
    let probes: Vec<_> = (0..10).filter_map(|_| breaker.enter().ok()).collect();
    assert_eq!(probes.len(), 2);
    for probe in probes {
        assert_eq!(probe.success(), Settled::Counted);
    }
    assert_eq!(breaker.state(), State::Closed);
}

#[tokio::test]
async fn a_task_that_is_aborted_gives_its_slot_back() {
    let rig = Rig::waited();
    for _ in 0..5 {
        let breaker = rig.breaker.clone();
        let task = tokio::spawn(async move { breaker.call(hangs(Gone::default().alive())).await });
        tokio::task::yield_now().await;
        assert_eq!(rig.snapshot().in_flight, 1);
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
    }
    let snapshot = rig.snapshot();
    assert_eq!((snapshot.in_flight, snapshot.cancelled_total), (0, 5));
    assert_eq!(rig.admitted_of(10), 2);
}
