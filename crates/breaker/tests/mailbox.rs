#![cfg(test)]
//! What is kept for somebody who reads events at their own pace.

mod support;

use std::pin::pin;
use std::task::{Context, Poll};
use std::thread;

use mainstay_breaker::{Detector, Event, FailureKind, LatencyOf, MAX_UNREAD, State};
use support::{Wakes, build, change, fail, poll, succeed};

const SUCCESS: Event = Event::Success { latency: None };

#[test]
fn events_are_read_in_the_order_in_which_they_happened() {
    let (breaker, _clock) =
        build(|builder| builder.detector(Detector::consecutive(1)).latency(LatencyOf::Nothing));
    succeed(&breaker);
    let mut events = breaker.subscribe().unwrap();
    assert_eq!(events.try_next(), None, "only what happens from now on");
    succeed(&breaker);
    fail(&breaker);
    assert!(breaker.enter().is_err());
    assert_eq!(events.try_next(), Some(SUCCESS));
    let failure = Event::Failure { kind: FailureKind::Error, latency: None };
    assert_eq!(events.try_next(), Some(failure));
    assert_eq!(events.try_next().and_then(change), Some((State::Closed, State::Open)));
    assert!(matches!(events.try_next(), Some(Event::Reject { state: State::Open, .. })));
    assert_eq!(events.try_next(), None);
    assert_eq!(events.missed(), 0);
}

#[test]
fn the_newest_events_are_kept_and_the_rest_is_counted() {
    let (breaker, _clock) = build(|builder| builder);
    let mut events = breaker.subscribe().unwrap();
    for _ in 0..10 {
        breaker.force_open();
        breaker.reset();
    }
    for _ in 5..MAX_UNREAD {
        succeed(&breaker);
    }
    assert_eq!(events.missed(), 15);
    let read: Vec<_> = std::iter::from_fn(|| events.try_next()).collect();
    assert_eq!(read.len(), MAX_UNREAD);
    assert_eq!(read.iter().filter(|event| change(**event).is_some()).count(), 5);
    assert!(matches!(read.last(), Some(Event::Success { .. })));
    succeed(&breaker);
    assert_eq!(events.missed(), 15);
    assert!(events.try_next().is_some());
}

#[test]
fn two_readers_have_a_mailbox_each() {
    let (breaker, _clock) = build(|builder| builder);
    let (mut one, mut other) = (breaker.subscribe().unwrap(), breaker.subscribe().unwrap());
    succeed(&breaker);
    assert!(one.try_next().is_some());
    assert!(one.try_next().is_none());
    assert!(other.try_next().is_some());
}

#[test]
fn who_waits_is_woken_by_the_next_event() {
    let (breaker, _clock) = build(|builder| builder.latency(LatencyOf::Nothing));
    let mut events = breaker.subscribe().unwrap();
    let (wakes, waker) = Wakes::new();
    let mut context = Context::from_waker(&waker);
    let mut next = Box::pin(events.next());
    assert!(next.as_mut().poll(&mut context).is_pending());
    assert_eq!(wakes.count(), 0);
    succeed(&breaker);
    assert_eq!(wakes.count(), 1);
    succeed(&breaker);
    assert_eq!(wakes.count(), 1, "once is enough");
    assert_eq!(next.as_mut().poll(&mut context), Poll::Ready(Some(SUCCESS)));
    drop(next);
    assert_eq!(events.try_next(), Some(SUCCESS));
}

#[test]
fn who_gives_up_waiting_loses_nothing() {
    let (breaker, _clock) = build(|builder| builder.latency(LatencyOf::Nothing));
    let mut events = breaker.subscribe().unwrap();
    assert!(poll(pin!(events.next())).is_pending());
    succeed(&breaker);
    assert_eq!(poll(pin!(events.next())), Poll::Ready(Some(SUCCESS)));
    assert!(poll(pin!(events.next())).is_pending());
}

#[tokio::test]
async fn a_task_reads_what_another_thread_does() {
    let (breaker, _clock) = build(|builder| builder.latency(LatencyOf::Nothing));
    let mut events = breaker.subscribe().unwrap();
    let worker = thread::spawn(move || {
        for _ in 0..100 {
            succeed(&breaker);
        }
    });
    for _ in 0..100 {
        assert_eq!(events.next().await, Some(SUCCESS));
    }
    worker.join().unwrap();
    assert_eq!(events.try_next(), None);
}

#[test]
fn a_mailbox_outlives_its_breaker() {
    let (breaker, _clock) = build(|builder| builder.latency(LatencyOf::Nothing));
    let mut events = breaker.subscribe().unwrap();
    succeed(&breaker);
    drop(breaker);
    assert_eq!(events.try_next(), Some(SUCCESS));
    assert_eq!(events.try_next(), None);
}

#[test]
fn who_waits_is_told_when_the_breaker_is_gone() {
    let (breaker, _clock) = build(|builder| builder.latency(LatencyOf::Nothing));
    let mut events = breaker.subscribe().unwrap();
    succeed(&breaker);
    let (wakes, waker) = Wakes::new();
    let mut context = Context::from_waker(&waker);
    assert_eq!(events.poll_next(&mut context), Poll::Ready(Some(SUCCESS)));
    assert!(events.poll_next(&mut context).is_pending());
    drop(breaker);
    assert_eq!(wakes.count(), 1);
    assert_eq!(events.poll_next(&mut context), Poll::Ready(None));
}
