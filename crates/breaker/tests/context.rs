//! The deadline and the cancellation of a call reach the calls that it makes itself.
#![cfg(test)]
#![cfg(feature = "async")]

mod common;

use std::future::pending;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use common::{Downstream, Gone, HOUR, Rig, builder, hangs, millis, panics, poll, ready};
use mainstay_breaker::{
    Breaker, CallContext, CallError, CallOptions, CancellationToken, Clock, ManualClock,
};

type Answer = Result<(), CallError<&'static str>>;

fn named(clock: &ManualClock, timeout: u64) -> Breaker {
    builder(clock).timeout(millis(timeout)).build().unwrap()
}

/// A place where a call leaves its context for the test.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Option<CallContext>>>);

impl Kept {
    fn put(&self, context: CallContext) {
        *self.0.lock().unwrap() = Some(context);
    }

    fn token(&self) -> CancellationToken {
        self.0.lock().unwrap().as_ref().unwrap().cancellation().clone()
    }
}

/// A call that leaves its context behind and never ends.
fn hanging(
    rig: &Rig,
    options: CallOptions,
    kept: &Kept,
) -> std::pin::Pin<Box<dyn Future<Output = Answer>>> {
    let (breaker, kept) = (rig.breaker.clone(), kept.clone());
    let mut call: std::pin::Pin<Box<dyn Future<Output = Answer>>> = Box::pin(async move {
        let call = breaker.limited(options).call_with(|context| {
            kept.put(context);
            pending::<Result<(), &str>>()
        });
        call.await
    });
    assert!(poll(&mut call).is_pending());
    call
}

#[test]
fn a_callee_knows_how_long_it_has() {
    let rig = Rig::with(|builder| builder.timeout(millis(2_000)));
    let (clock, began) = (rig.clock.clone(), rig.clock.now());
    ready(rig.breaker.call_with(|context| async move {
        assert_eq!(context.remaining(), Some(millis(2_000)));
        assert_eq!(context.deadline(), Some(began.plus(millis(2_000))));
        clock.advance(millis(500));
        assert_eq!(context.remaining(), Some(millis(1_500)));
        assert_eq!(context.deadline(), Some(began.plus(millis(2_000))));
        clock.advance(HOUR);
        assert_eq!(context.remaining(), Some(Duration::ZERO));
        Ok::<_, &str>(())
    }))
    .unwrap();
}

#[test]
fn a_callee_without_a_timeout_has_no_deadline() {
    let rig = Rig::new();
    ready(rig.breaker.call_with(|context| async move {
        assert_eq!((context.remaining(), context.deadline()), (None, None));
        Ok::<_, &str>(())
    }))
    .unwrap();
}

#[test]
fn the_options_of_the_call_set_its_deadline() {
    let rig = Rig::with(|builder| builder.timeout(millis(2_000)));
    let options = CallOptions::default().timeout(millis(700)).at_most(millis(300));
    ready(rig.breaker.limited(options).call_with(|context| async move {
        assert_eq!(context.remaining(), Some(millis(300)));
        Ok::<_, &str>(())
    }))
    .unwrap();
}

#[test]
fn a_clock_that_steps_back_gives_a_callee_no_more_than_its_timeout() {
    let rig = Rig::with(|builder| builder.timeout(millis(2_000)));
    let clock = rig.clock.clone();
    ready(rig.breaker.call_with(|context| async move {
        clock.step_back(HOUR / 2);
        assert_eq!(context.remaining(), Some(millis(2_000)));
        Ok::<_, &str>(())
    }))
    .unwrap();
}

/// What a nested call with this timeout of its own is told, 400 ms into a call of one second.
fn nested(own: u64) -> (Duration, Duration) {
    let clock = ManualClock::new();
    let (outer, inner) = (named(&clock, 1_000), named(&clock, own));
    let began = clock.now();
    let hand = clock.clone();
    let mut call = Box::pin(outer.call_with(|context| async move {
        hand.advance(millis(400));
        inner.limited(context.options()).call(hangs(Gone::default().alive())).await
    }));
    loop {
        match poll(&mut call) {
            Poll::Pending => clock.advance(millis(100)),
            Poll::Ready(Err(CallError::Inner(CallError::Timeout { after }))) => {
                return (after, clock.now().since(began));
            }
            Poll::Ready(other) => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_nested_call_has_at_most_what_is_left() {
    assert_eq!(nested(9_000), (millis(600), millis(1_000)), "shortened");
    assert_eq!(nested(300), (millis(300), millis(700)), "its own is shorter");
}

#[test]
fn a_nested_call_with_no_time_left_is_not_made_and_not_held_against_its_downstream() {
    let clock = ManualClock::new();
    let (outer, inner) = (named(&clock, 1_000), named(&clock, 9_000));
    let downstream = Downstream::default();
    let (hand, copy, nested) = (clock.clone(), downstream.clone(), inner.clone());
    let answer = ready(outer.call_with(|context| async move {
        hand.advance(millis(1_000));
        nested.limited(context.options()).call(copy.answer()).await
    }));
    let no_time = CallError::Timeout { after: Duration::ZERO };
    assert_eq!(answer, Err(CallError::Inner(no_time)));
    assert_eq!(downstream.calls(), 0);
    assert_eq!(inner.snapshot().failure_total, 0);
}

#[test]
fn the_deadline_goes_through_three_breakers() {
    let clock = ManualClock::new();
    let (first, second, third) = (named(&clock, 900), named(&clock, 5_000), named(&clock, 8_000));
    let hand = clock.clone();
    let remaining = ready(first.call_with(|outer| async move {
        hand.advance(millis(200));
        let nested = second.limited(outer.options()).call_with(|inner| async move {
            hand.advance(millis(300));
            let last = third
                .limited(inner.options())
                .call_with(|last| async move { Ok::<_, &str>(last.remaining()) });
            last.await
        });
        nested.await
    }));
    assert_eq!(remaining, Ok(Some(millis(400))));
}

#[test]
fn the_callees_token_is_cancelled_when_the_call_ends_before_its_result() {
    let rig = Rig::new();
    let by_timeout = Kept::default();
    let mut call = hanging(&rig, CallOptions::default().timeout(millis(10)), &by_timeout);
    assert!(!by_timeout.token().is_cancelled());
    rig.clock.advance(millis(10));
    assert_eq!(poll(&mut call), Poll::Ready(Err(CallError::Timeout { after: millis(10) })));
    assert!(by_timeout.token().is_cancelled(), "by its timeout");

    let (by_token, token) = (Kept::default(), CancellationToken::new());
    let mut call = hanging(&rig, CallOptions::default().cancelled_by(token.clone()), &by_token);
    token.cancel();
    assert!(by_token.token().is_cancelled(), "at once, by its caller's word");
    assert_eq!(poll(&mut call), Poll::Ready(Err(CallError::Cancelled)));

    let by_drop = Kept::default();
    drop(hanging(&rig, CallOptions::default(), &by_drop));
    assert!(by_drop.token().is_cancelled(), "because its caller has gone");
}

#[test]
fn the_callees_token_is_cancelled_when_the_call_panics() {
    let (rig, kept) = (Rig::new(), Kept::default());
    panics(|| {
        let call = rig.breaker.call_with(|context| {
            kept.put(context);
            async { panic!("in the call") as Result<(), &str> }
        });
        let _ = poll(&mut Box::pin(call));
    });
    assert!(kept.token().is_cancelled());
}

#[test]
fn the_callees_token_is_left_alone_when_the_call_has_a_result() {
    for result in [Ok(()), Err("down")] {
        let (rig, kept, token) = (Rig::new(), Kept::default(), CancellationToken::new());
        let options = CallOptions::default().timeout(millis(10)).cancelled_by(token.clone());
        let answer = ready(rig.breaker.limited(options).call_with(|context| {
            kept.put(context);
            async { result }
        }));
        assert_eq!(answer, result.map_err(CallError::Inner));
        rig.clock.advance(HOUR);
        assert!(!kept.token().is_cancelled(), "{result:?}");
        assert!(!token.is_cancelled(), "{result:?}");
    }
}

#[test]
fn the_callers_own_token_is_never_cancelled_by_the_breaker() {
    let (rig, token) = (Rig::new(), CancellationToken::new());
    let options = || CallOptions::default().timeout(millis(10)).cancelled_by(token.clone());
    let mut call = hanging(&rig, options(), &Kept::default());
    rig.clock.advance(millis(10));
    assert!(poll(&mut call).is_ready());
    drop(hanging(&rig, options(), &Kept::default()));
    assert!(!token.is_cancelled());
}

#[tokio::test]
async fn work_that_the_callee_started_elsewhere_stops_with_the_call() {
    let clock = ManualClock::new();
    let (outer, inner) = (named(&clock, 1_000), named(&clock, 9_000));
    let (gone, nested) = (Gone::default(), inner.clone());
    let alive = gone.alive();
    let mut elsewhere = None;
    let mut call = Box::pin(outer.call_with(|context| {
        let task = async move { nested.limited(context.options()).call(hangs(alive)).await };
        elsewhere = Some(tokio::spawn(task));
        pending::<Result<(), &str>>()
    }));
    assert!(poll(&mut call).is_pending());
    tokio::task::yield_now().await;
    assert!(!gone.is_gone());
    drop(call);
    assert_eq!(elsewhere.unwrap().await.unwrap(), Err(CallError::Cancelled));
    assert!(gone.is_gone());
    let snapshot = inner.snapshot();
    assert_eq!((snapshot.cancelled_total, snapshot.failure_total), (1, 0));
}
