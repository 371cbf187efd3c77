#![cfg(test)]
//! Attempts that run by themselves: who is outrun stops at once.

mod support;

use std::future::{pending, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::{Context, Poll};

use mainstay_breaker::{CallError, Detector, HalfOpenPolicy, State, Verdict};
use support::{Dropped, SECOND, Wakes, build, poll, trip};

type Answer = Result<&'static str, CallError<&'static str>>;

#[tokio::test]
async fn the_first_answer_wins_and_counts_once() {
    let (breaker, _clock) = build(|builder| builder);
    let hedge = breaker.hedge();
    let slow = hedge.call(pending::<Result<&str, &str>>());
    let quick = hedge.call(async { Ok::<_, &str>("quick") });
    let (slow, quick) = tokio::join!(slow, quick);
    assert_eq!((slow, quick), (Err(CallError::Cancelled), Ok("quick")));
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.success_total, snapshot.failure_total), (1, 0));
    assert_eq!((snapshot.cancelled_total, snapshot.in_flight), (1, 0));
}

#[test]
fn who_is_outrun_is_woken_and_its_work_is_dropped_at_once() {
    let (breaker, _clock) = build(|builder| builder);
    let hedge = breaker.hedge();
    let dropped = Dropped::default();
    let token = dropped.token();
    let work = async move {
        let _token = token;
        pending::<Result<&str, &str>>().await
    };
    let mut loser = pin!(hedge.call(work));
    let (wakes, waker) = Wakes::new();
    let mut context = Context::from_waker(&waker);
    assert!(loser.as_mut().poll(&mut context).is_pending());

    let winner: Poll<Answer> = poll(pin!(hedge.call(ready(Ok("first")))));
    assert_eq!(winner, Poll::Ready(Ok("first")));
    assert_eq!(wakes.count(), 1, "it hears of it without anybody asking");
    assert_eq!(loser.as_mut().poll(&mut context), Poll::Ready(Err(CallError::Cancelled)));
    assert_eq!(dropped.count(), 1, "its work has stopped, while its answer is still held");
    assert_eq!(breaker.snapshot().in_flight, 0);
}

#[test]
fn an_attempt_after_the_decision_is_not_made() {
    let (breaker, _clock) = build(|builder| builder);
    let hedge = breaker.hedge();
    let first: Poll<Answer> = poll(pin!(hedge.call(ready(Ok("first")))));
    assert!(first.is_ready());
    let late: Poll<Answer> = poll(pin!(hedge.call(async { panic!("nobody runs this") })));
    assert_eq!(late, Poll::Ready(Err(CallError::Cancelled)));
    assert_eq!(breaker.snapshot().allowed_total, 1);
}

#[test]
fn a_failure_decides_too() {
    let (breaker, _clock) = build(|builder| builder);
    let hedge = breaker.hedge();
    let mut slow = pin!(hedge.call(pending::<Result<&str, &str>>()));
    assert!(poll(slow.as_mut()).is_pending());
    let failed: Poll<Answer> = poll(pin!(hedge.call(ready(Err("down")))));
    assert_eq!(failed, Poll::Ready(Err(CallError::Inner("down"))));
    assert_eq!(poll(slow), Poll::Ready(Err(CallError::Cancelled)));
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.failure_total, snapshot.cancelled_total), (1, 1));
}

#[test]
fn the_classifier_judges_the_winner() {
    let clock = mainstay_breaker::ManualClock::new();
    let breaker = mainstay_breaker::Breaker::builder("search")
        .clock(clock)
        .classifier(|result: &Result<u16, ()>| match result {
            Ok(200) => Verdict::Success,
            _ => Verdict::Failure,
        })
        .build()
        .unwrap();
    let hedge = breaker.hedge();
    assert_eq!(poll(pin!(hedge.call(ready(Ok(503))))), Poll::Ready(Ok(503)));
    assert_eq!(breaker.snapshot().failure_total, 1);
}

#[test]
fn half_open_slots_are_respected_and_returned() {
    let (breaker, clock) = build(|builder| builder.half_open(HalfOpenPolicy::all(3).at_once(2)));
    trip(&breaker);
    clock.advance(5 * SECOND);
    let hedge = breaker.hedge();
    let mut one = pin!(hedge.call(pending::<Result<&str, &str>>()));
    let mut two = Box::pin(hedge.call(pending::<Result<&str, &str>>()));
    assert!(poll(one.as_mut()).is_pending());
    assert!(poll(two.as_mut()).is_pending());
    let third: Poll<Answer> = poll(pin!(hedge.call(ready(Ok("no room")))));
    let Poll::Ready(Err(refused)) = third else { panic!("{third:?}") };
    assert!(refused.is_rejection());
    assert!(!hedge.is_decided(), "who was refused has decided nothing");
    drop(two);
    let third: Poll<Answer> = poll(pin!(hedge.call(ready(Ok("room")))));
    assert_eq!(third, Poll::Ready(Ok("room")));
    assert_eq!(poll(one), Poll::Ready(Err(CallError::Cancelled)));
    assert_eq!(breaker.state(), State::HalfOpen);
    let slots = (breaker.enter(), breaker.enter());
    assert!(slots.0.is_ok() && slots.1.is_ok(), "both slots are free again");
    assert_eq!(breaker.snapshot().probe_success_total, 1);
}

#[test]
fn when_all_attempts_are_dropped_nothing_counts() {
    let (breaker, _clock) = build(|builder| builder.detector(Detector::consecutive(1)));
    let hedge = breaker.hedge();
    for _ in 0..3 {
        assert!(poll(pin!(hedge.call(pending::<Result<&str, &str>>()))).is_pending());
    }
    assert!(!hedge.is_decided());
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.state, snapshot.cancelled_total), (State::Closed, 3));
    assert_eq!((snapshot.failure_total, snapshot.in_flight), (0, 0));
}

#[test]
fn an_attempt_that_panics_counts_and_stops_the_others() {
    let (breaker, _clock) = build(|builder| builder);
    let hedge = breaker.hedge();
    let mut other = pin!(hedge.call(pending::<Result<&str, &str>>()));
    assert!(poll(other.as_mut()).is_pending());
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _: Poll<Answer> = poll(pin!(hedge.call(async { panic!("an attempt's own trouble") })));
    }));
    assert!(unwound.is_err());
    assert_eq!(poll(other), Poll::Ready(Err(CallError::Cancelled)));
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.failure_total, snapshot.cancelled_total), (1, 1));
    assert_eq!(snapshot.in_flight, 0);
}

#[test]
fn an_attempt_that_times_out_decides() {
    let (breaker, clock) = build(|builder| builder.timeout(SECOND));
    let hedge = breaker.hedge();
    let mut first = pin!(hedge.call(pending::<Result<&str, &str>>()));
    assert!(poll(first.as_mut()).is_pending());
    clock.advance(SECOND / 2);
    let mut second = pin!(hedge.call(pending::<Result<&str, &str>>()));
    assert!(poll(second.as_mut()).is_pending());
    clock.advance(SECOND / 2);
    assert_eq!(poll(first), Poll::Ready(Err(CallError::Timeout { after: SECOND })));
    assert_eq!(poll(second), Poll::Ready(Err(CallError::Cancelled)));
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.timeout_total, snapshot.failure_total), (1, 1));
    assert_eq!(snapshot.cancelled_total, 1);
}

#[test]
fn a_group_of_an_older_generation_moves_nothing() {
    let (breaker, _clock) = build(|builder| builder);
    let hedge = breaker.hedge();
    let (send, receive) = tokio::sync::oneshot::channel::<()>();
    let mut old = pin!(hedge.call(async move {
        receive.await.unwrap();
        Err::<&str, _>("down")
    }));
    let mut other = pin!(hedge.call(pending::<Result<&str, &str>>()));
    assert!(poll(old.as_mut()).is_pending());
    assert!(poll(other.as_mut()).is_pending());
    trip(&breaker);
    let before = breaker.snapshot();
    send.send(()).unwrap();
    assert_eq!(poll(old), Poll::Ready(Err(CallError::Inner("down"))));
    assert_eq!(poll(other), Poll::Ready(Err(CallError::Cancelled)));
    let after = breaker.snapshot();
    assert_eq!((after.failure_total, after.stale_total), (before.failure_total, 2));
    assert_eq!(after.retry_after, before.retry_after);
}
