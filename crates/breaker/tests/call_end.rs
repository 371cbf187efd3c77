//! The end of an asynchronous call: its work stops before the breaker hears of it, and there is
//! nothing after it.
#![cfg(test)]
#![cfg(feature = "async")]

mod common;

use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use common::{HOUR, Rig, millis, poll};
use mainstay_breaker::{Breaker, CallError, CallOptions, CancellationToken, Rolling, Snapshot};

type Work = Pin<Box<dyn Future<Output = Result<(), &'static str>>>>;
type Answer = Result<(), CallError<&'static str>>;
type Calling<'a> = Pin<Box<dyn Future<Output = Answer> + 'a>>;

/// What the breaker says at the moment the work is dropped.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Option<Snapshot>>>);

struct Witness {
    breaker: Breaker,
    seen: Seen,
}

impl Drop for Witness {
    fn drop(&mut self) {
        *self.seen.0.lock().unwrap() = Some(self.breaker.snapshot());
    }
}

/// Never ends, and looks at the breaker as it is dropped.
fn witnessed(breaker: &Breaker, seen: &Seen) -> Work {
    let witness = Witness { breaker: breaker.clone(), seen: seen.clone() };
    Box::pin(async move {
        let _witness = witness;
        pending().await
    })
}

type Call = for<'a> fn(&'a Breaker, Work) -> Calling<'a>;

const WAYS: &[(&str, Call)] = &[
    ("call", |breaker, work| Box::pin(breaker.call(work))),
    ("call_with", |breaker, work| Box::pin(breaker.call_with(|_| work))),
    ("limited", |breaker, work| {
        Box::pin(breaker.limited(CallOptions::default().timeout(HOUR)).call(work))
    }),
    ("hedge", |breaker, work| Box::pin(async move { breaker.hedge().call(work).await })),
    #[cfg(feature = "tower")]
    ("tower", |breaker, work| {
        use tower::{Layer, Service};

        let mut work = Some(work);
        let inner = tower::service_fn(move |()| work.take().unwrap());
        let mut service = mainstay_breaker::BreakerLayer::new(breaker.clone()).layer(inner);
        Box::pin(service.call(()))
    }),
];

#[test]
fn a_call_that_is_dropped_has_stopped_before_the_breaker_hears_of_it() {
    for (way, make) in WAYS {
        let rig = Rig::new();
        let seen = Seen::default();
        let mut call = make(&rig.breaker, witnessed(&rig.breaker, &seen));
        assert!(poll(&mut call).is_pending());
        drop(call);
        let seen = seen.0.lock().unwrap().take().unwrap();
        assert_eq!((seen.in_flight, seen.cancelled_total), (1, 0), "{way}");
        let after = rig.snapshot();
        assert_eq!((after.in_flight, after.cancelled_total), (0, 1), "{way}");
    }
}

fn text_of_panic(run: impl FnOnce()) -> String {
    let thrown = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
    let text = thrown.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| thrown.downcast_ref::<String>().cloned()).unwrap_or_default()
}

type Make = fn(&Rig) -> Calling<'_>;

/// How a call comes to its end.
const ENDS: &[(&str, Make)] = &[
    ("at once", |rig| Box::pin(rig.breaker.call(async { Ok(()) }))),
    ("with a failure", |rig| Box::pin(rig.breaker.call(async { Err("down") }))),
    ("later", |rig| {
        Box::pin(rig.breaker.call(async {
            tokio::task::yield_now().await;
            Ok(())
        }))
    }),
    ("by its timeout", |rig| Box::pin(rig.breaker.call(pending()))),
    ("refused", |rig| {
        rig.breaker.force_open();
        Box::pin(rig.breaker.call(async { Ok(()) }))
    }),
];

#[test]
fn a_call_that_is_polled_after_its_end_panics_and_counts_nothing_more() {
    for (end, make) in ENDS {
        for timeout in [None, Some(millis(10))] {
            let rig = Rig::with(|builder| match timeout {
                Some(timeout) => builder.timeout(timeout),
                None => builder,
            });
            let mut call = make(&rig);
            for _ in 0..2 {
                if poll(&mut call).is_ready() {
                    break;
                }
                rig.clock.advance(millis(10));
            }
            if timeout.is_none() && *end == "by its timeout" {
                continue;
            }
            let before = rig.snapshot();
            let text = text_of_panic(|| drop(poll(&mut call)));
            assert_eq!(text, "a call was polled after it had ended", "{end}");
            drop(call);
            assert_eq!(rig.snapshot(), before, "{end}");
            assert_eq!(before.in_flight, 0, "{end}");
        }
    }
}

#[cfg(feature = "tower")]
#[test]
fn so_does_the_answer_of_a_service() {
    use tower::{Layer, Service};

    for is_open in [false, true] {
        let rig = Rig::new();
        let inner = tower::service_fn(|()| async { Ok::<_, &str>(()) });
        let mut service = mainstay_breaker::BreakerLayer::new(rig.breaker.clone()).layer(inner);
        if is_open {
            rig.trip();
        }
        let mut answer = Box::pin(service.call(()));
        assert!(poll(&mut answer).is_ready());
        let text = text_of_panic(|| drop(poll(&mut answer)));
        assert_eq!(text, "a call was polled after it had ended");
    }
}

const LIMIT: Duration = Duration::from_secs(1);

#[test]
fn a_call_that_its_caller_cancels_is_slow_or_stale_where_it_is_that_already() {
    let slow = Rolling { slow_call: Some(LIMIT), ..Rolling::default() };
    // How long it takes, whether the state begins anew meanwhile, and what it counts as: cancelled,
    // slow, stale.
    for (took, is_reset, counts) in [
        (LIMIT, false, (1, 0, 0)),
        (LIMIT + millis(1), false, (0, 1, 0)),
        (LIMIT + millis(1), true, (0, 0, 1)),
        (LIMIT, true, (0, 0, 1)),
    ] {
        let rig = Rig::with(|builder| builder.detector(slow));
        let token = CancellationToken::new();
        let options = CallOptions::default().cancelled_by(token.clone());
        let work = pending::<Result<(), &str>>();
        let mut call = Box::pin(rig.breaker.limited(options).call(work));
        assert!(poll(&mut call).is_pending());
        rig.clock.advance(took);
        if is_reset {
            rig.breaker.reset();
        }
        token.cancel();
        assert_eq!(poll(&mut call), Poll::Ready(Err(CallError::Cancelled)));
        let seen = rig.snapshot();
        assert_eq!((seen.cancelled_total, seen.slow_total, seen.stale_total), counts);
    }
}
