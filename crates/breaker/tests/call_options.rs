//! Limits for one call: its timeout, its token, and what becomes of the work.
#![cfg(test)]
#![cfg(feature = "async")]

mod common;

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use common::{Downstream, Gone, HOUR, Rig, hangs, millis, poll, ready};
use mainstay_breaker::{Breaker, CallError, CallOptions, CancellationToken, Event, State};

type Answer = Result<(), CallError<&'static str>>;

fn timeout_after(after: Duration) -> Poll<Answer> {
    Poll::Ready(Err(CallError::Timeout { after }))
}

/// When a call that hangs is given up, with this timeout of the breaker and these options.
fn given_up_after(breakers_own: Option<Duration>, options: CallOptions) -> Option<Duration> {
    let rig = Rig::with(|builder| match breakers_own {
        Some(timeout) => builder.timeout(timeout),
        None => builder,
    });
    let mut call = Box::pin(rig.breaker.limited(options).call(pending::<Result<(), &str>>()));
    for waited in 0..100 {
        match poll(&mut call) {
            Poll::Pending => rig.clock.advance(millis(1)),
            Poll::Ready(Err(CallError::Timeout { after })) => {
                assert_eq!(after, millis(waited), "it says how long it had");
                return Some(after);
            }
            Poll::Ready(other) => panic!("{other:?}"),
        }
    }
    None
}

#[test]
fn the_timeout_of_a_call_stands_in_for_the_breakers_own_and_what_is_left_shortens_both() {
    let options = CallOptions::default;
    for (own, options, after) in [
        (None, options(), None),
        (Some(10), options(), Some(10)),
        (Some(10), options().timeout(millis(4)), Some(4)),
        (Some(10), options().timeout(millis(30)), Some(30)),
        (None, options().timeout(millis(7)), Some(7)),
        (Some(10), options().at_most(millis(6)), Some(6)),
        (Some(10), options().at_most(millis(60)), Some(10)),
        (None, options().at_most(millis(6)), Some(6)),
        (Some(10), options().timeout(millis(30)).at_most(millis(20)), Some(20)),
        (Some(10), options().timeout(millis(3)).at_most(millis(20)), Some(3)),
        (Some(10), options().timeout(Duration::MAX), None),
        (Some(10), options().timeout(Duration::MAX).at_most(millis(5)), Some(5)),
    ] {
        let text = format!("{own:?} {options:?}");
        assert_eq!(given_up_after(own.map(millis), options), after.map(millis), "{text}");
    }
}

#[test]
fn a_timeout_of_nothing_makes_no_call_and_counts_nothing() {
    let rig = Rig::new();
    for options in [
        CallOptions::default().timeout(Duration::ZERO),
        CallOptions::default().timeout(HOUR).at_most(Duration::ZERO),
    ] {
        let downstream = Downstream::default();
        let answer = ready(rig.breaker.limited(options).call(downstream.clone().answer()));
        assert_eq!(answer, Err(CallError::Timeout { after: Duration::ZERO }));
        assert_eq!(downstream.calls(), 0);
    }
    let snapshot = rig.snapshot();
    assert_eq!((snapshot.allowed_total, snapshot.timeout_total), (0, 0));
    assert_eq!((snapshot.failure_total, snapshot.consecutive_failures), (0, Some(0)));
}

#[test]
fn a_timeout_drops_the_work_at_once_and_before_the_breaker_hears_of_it() {
    let gone = Gone::default();
    let was_gone = Arc::new(AtomicBool::new(false));
    let (flag, seen) = (gone.clone(), Arc::clone(&was_gone));
    let rig = Rig::with(|builder| {
        builder.timeout(millis(10)).on_event(move |notice| {
            if notice.event == Event::Timeout {
                seen.store(flag.is_gone(), Ordering::Relaxed);
            }
        })
    });
    let mut call = Box::pin(rig.breaker.call(hangs(gone.alive())));
    assert!(poll(&mut call).is_pending());
    rig.clock.advance(millis(9));
    assert!(poll(&mut call).is_pending());
    assert!(!gone.is_gone());
    rig.clock.advance(millis(1));
    assert_eq!(poll(&mut call), timeout_after(millis(10)));
    assert!(gone.is_gone());
    assert!(was_gone.load(Ordering::Relaxed));
}

#[test]
fn a_token_drops_the_work_at_once() {
    let rig = Rig::new();
    let (gone, token) = (Gone::default(), CancellationToken::new());
    let options = CallOptions::default().timeout(HOUR).cancelled_by(token.clone());
    let mut call = Box::pin(rig.breaker.limited(options).call(hangs(gone.alive())));
    assert!(poll(&mut call).is_pending());
    assert!(!gone.is_gone());
    token.cancel();
    assert_eq!(poll(&mut call), Poll::Ready(Err(CallError::Cancelled)));
    assert!(gone.is_gone());
    let snapshot = rig.snapshot();
    assert_eq!((snapshot.cancelled_total, snapshot.failure_total), (1, 0));
}

#[test]
fn a_caller_that_stopped_it_is_told_so_even_if_the_time_is_over_too() {
    let rig = Rig::with(|builder| builder.timeout(millis(10)));
    let token = CancellationToken::new();
    let options = CallOptions::default().cancelled_by(token.clone());
    let mut call = Box::pin(rig.breaker.limited(options).call(hangs(Gone::default().alive())));
    assert!(poll(&mut call).is_pending());
    rig.clock.advance(millis(10));
    token.cancel();
    assert_eq!(poll(&mut call), Poll::Ready(Err(CallError::Cancelled)));
    assert_eq!(rig.snapshot().timeout_total, 0);
}

#[test]
fn a_result_that_is_there_at_the_deadline_is_taken() {
    let rig = Rig::with(|builder| builder.timeout(millis(10)));
    let mut call = Box::pin(rig.breaker.call(async {
        tokio::task::yield_now().await;
        Ok::<_, &str>("paid")
    }));
    let first = poll(&mut call);
    assert!(first.is_pending());
    rig.clock.advance(HOUR);
    assert_eq!(poll(&mut call), Poll::Ready(Ok("paid")));
    assert_eq!(rig.snapshot().timeout_total, 0);
}

#[test]
fn a_timed_out_probe_opens_again_and_gives_its_slot_back() {
    let rig = Rig::waited();
    let options = CallOptions::default().timeout(millis(10));
    let mut call = Box::pin(rig.breaker.limited(options).call(hangs(Gone::default().alive())));
    assert!(poll(&mut call).is_pending());
    rig.clock.advance(millis(10));
    assert_eq!(poll(&mut call), timeout_after(millis(10)));
    assert_eq!(rig.state(), State::Open);
    assert_eq!(rig.snapshot().in_flight, 0);
    rig.clock.advance(common::OPEN_FOR);
    assert_eq!(rig.admitted_of(10), 2);
}

#[test]
fn a_timeout_of_a_call_from_before_the_trip_is_stale() {
    let rig = Rig::with(|builder| builder.timeout(millis(10)));
    let mut call = Box::pin(rig.breaker.call(hangs(Gone::default().alive())));
    assert!(poll(&mut call).is_pending());
    rig.trip();
    rig.clock.advance(millis(10));
    assert_eq!(poll(&mut call), timeout_after(millis(10)), "the caller is told all the same");
    let snapshot = rig.snapshot();
    assert_eq!((snapshot.stale_total, snapshot.timeout_total), (1, 0));
    assert_eq!(rig.retry_after(), Some(common::OPEN_FOR - millis(10)));
}

#[test]
fn a_refused_call_drops_its_work_without_a_poll() {
    let rig = Rig::open();
    let (gone, downstream) = (Gone::default(), Downstream::default());
    let (alive, copy) = (gone.alive(), downstream.clone());
    let answer = ready(rig.breaker.call(async move {
        let _alive = alive;
        copy.answer().await
    }));
    match answer {
        Err(CallError::Open { name, state, retry_after }) => {
            assert_eq!((&*name, state), ("payments", State::Open));
            assert_eq!(retry_after, Some(common::OPEN_FOR));
        }
        other => panic!("{other:?}"),
    }
    assert!(gone.is_gone());
    assert_eq!(downstream.calls(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_longest_timeout_is_for_ever_by_the_machines_clock_too() {
    let breaker = Breaker::builder("payments").build().unwrap();
    let options = CallOptions::default().timeout(Duration::MAX);
    let slow = async {
        tokio::time::sleep(HOUR * 24 * 365).await;
        Ok::<_, &str>("paid")
    };
    assert_eq!(breaker.limited(options).call(slow).await, Ok("paid"));
}

#[tokio::test]
async fn whoever_waits_is_woken_by_the_timeout_and_by_the_token() {
    let rig = Rig::with(|builder| builder.timeout(millis(10)));
    let token = CancellationToken::new();
    let (breaker, stop) = (rig.breaker.clone(), token.clone());
    let timed_out = tokio::spawn(async move { breaker.call(hangs(Gone::default().alive())).await });
    let breaker = rig.breaker.clone();
    let stopped = tokio::spawn(async move {
        let options = CallOptions::default().timeout(HOUR).cancelled_by(stop);
        breaker.limited(options).call(hangs(Gone::default().alive())).await
    });
    tokio::task::yield_now().await;
    rig.clock.advance(millis(10));
    assert_eq!(timed_out.await.unwrap(), Err(CallError::Timeout { after: millis(10) }));
    token.cancel();
    assert_eq!(stopped.await.unwrap(), Err(CallError::Cancelled));
}
