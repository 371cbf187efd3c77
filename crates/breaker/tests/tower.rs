#![cfg(test)]
//! A service behind a breaker.

mod support;

use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use mainstay_breaker::{
    Breaker, BreakerLayer, BreakerService, CallError, Detector, HalfOpenPolicy, ManualClock, State,
    Verdict,
};
use support::{Dropped, SECOND, build, poll, trip};
use tower::{Layer, Service, ServiceExt};

type Work = Pin<Box<dyn Future<Output = Result<u16, &'static str>> + Send>>;

/// Does with a request what its table says, and counts.
#[derive(Clone, Default)]
struct Inner {
    is_busy: bool,
    is_broken: bool,
    asked: Arc<AtomicUsize>,
    called: Arc<AtomicUsize>,
    dropped: Dropped,
}

impl Service<&'static str> for Inner {
    type Response = u16;
    type Error = &'static str;
    type Future = Work;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), &'static str>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        match (self.is_busy, self.is_broken) {
            (true, _) => Poll::Pending,
            (_, true) => Poll::Ready(Err("broken")),
            _ => Poll::Ready(Ok(())),
        }
    }

    fn call(&mut self, request: &'static str) -> Work {
        self.called.fetch_add(1, Ordering::SeqCst);
        assert_ne!(request, "panic at once");
        let token = self.dropped.token();
        Box::pin(async move {
            let _token = token;
            match request {
                "hang" => pending().await,
                "panic" => panic!("the service's own trouble"),
                "fail" => Err("down"),
                "503" => Ok(503),
                _ => Ok(200),
            }
        })
    }
}

fn service(breaker: &Breaker) -> (BreakerService<Inner>, Inner) {
    let inner = Inner::default();
    (BreakerLayer::new(breaker.clone()).layer(inner.clone()), inner)
}

fn called(inner: &Inner) -> usize {
    inner.called.load(Ordering::SeqCst)
}

fn ready(service: &mut BreakerService<Inner>) -> Poll<Result<(), CallError<&'static str>>> {
    service.poll_ready(&mut Context::from_waker(Waker::noop()))
}

#[tokio::test]
async fn what_the_service_answers_goes_through_and_counts() {
    let (breaker, _clock) = build(|builder| builder);
    let (service, inner) = service(&breaker);
    assert_eq!(service.clone().oneshot("get").await, Ok(200));
    assert_eq!(service.oneshot("fail").await, Err(CallError::Inner("down")));
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.success_total, snapshot.failure_total), (1, 1));
    assert_eq!((called(&inner), snapshot.in_flight), (2, 0));
}

#[test]
fn readiness_is_that_of_the_service() {
    let (breaker, _clock) = build(|builder| builder);
    let layer = BreakerLayer::new(breaker.clone());
    let mut busy = layer.layer(Inner { is_busy: true, ..Inner::default() });
    assert!(ready(&mut busy).is_pending());
    let mut broken = layer.layer(Inner { is_broken: true, ..Inner::default() });
    assert_eq!(ready(&mut broken), Poll::Ready(Err(CallError::Inner("broken"))));
    let inner = Inner::default();
    let mut free = layer.layer(inner.clone());
    assert_eq!(ready(&mut free), Poll::Ready(Ok(())));
    trip(&breaker);
    assert_eq!(ready(&mut free), Poll::Ready(Ok(())), "the breaker speaks when it is called");
    assert_eq!(inner.asked.load(Ordering::SeqCst), 2);
    assert_eq!(breaker.snapshot().rejected_total, 0);
}

#[test]
fn what_is_refused_never_reaches_the_service() {
    let (breaker, _clock) = build(|builder| builder);
    let (mut service, inner) = service(&breaker);
    trip(&breaker);
    let answer = poll(pin!(service.call("get")));
    let (name, retry_after) = (Arc::from("payments"), Some(5 * SECOND));
    let open = CallError::Open { name, state: State::Open, retry_after };
    assert_eq!(answer, Poll::Ready(Err(open)));
    assert_eq!((called(&inner), breaker.snapshot().rejected_total), (0, 1));
}

#[test]
fn an_answer_may_be_a_failure_too() {
    let breaker = Breaker::builder("payments")
        .clock(ManualClock::new())
        .classifier(|result: &Result<u16, &str>| match result {
            Ok(500..) | Err(_) => Verdict::Failure,
            Ok(_) => Verdict::Success,
        })
        .detector(Detector::consecutive(2))
        .build()
        .unwrap();
    let mut service = BreakerLayer::new(breaker.clone()).layer(Inner::default());
    assert_eq!(poll(pin!(service.call("503"))), Poll::Ready(Ok(503)));
    assert_eq!(poll(pin!(service.call("503"))), Poll::Ready(Ok(503)));
    assert_eq!(breaker.state(), State::Open);
}

#[test]
fn a_request_that_takes_too_long_is_dropped_at_once() {
    let (breaker, clock) = build(|builder| builder.timeout(2 * SECOND));
    let (mut service, inner) = service(&breaker);
    let mut answer = pin!(service.call("hang"));
    assert!(poll(answer.as_mut()).is_pending());
    clock.advance(2 * SECOND);
    assert_eq!(inner.dropped.count(), 0);
    let timeout = CallError::Timeout { after: 2 * SECOND };
    assert_eq!(poll(answer.as_mut()), Poll::Ready(Err(timeout)));
    assert_eq!(inner.dropped.count(), 1, "its work has stopped, while its answer is still held");
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.timeout_total, snapshot.failure_total), (1, 1));
    assert_eq!(snapshot.in_flight, 0);
}

#[test]
fn the_time_runs_from_the_call() {
    let (breaker, clock) = build(|builder| builder.timeout(2 * SECOND));
    let (mut service, _inner) = service(&breaker);
    let answer = pin!(service.call("hang"));
    clock.advance(2 * SECOND);
    assert_eq!(poll(answer), Poll::Ready(Err(CallError::Timeout { after: 2 * SECOND })));
}

#[test]
fn an_answer_that_nobody_waits_for_is_cancelled() {
    let (breaker, clock) = build(|builder| builder.half_open(HalfOpenPolicy::all(2)));
    trip(&breaker);
    clock.advance(5 * SECOND);
    let (mut service, inner) = service(&breaker);
    let never_polled = service.call("get");
    let mut polled = Box::pin(service.call("hang"));
    assert!(poll(polled.as_mut()).is_pending());
    let third = poll(pin!(service.call("get")));
    assert!(matches!(third, Poll::Ready(Err(CallError::Open { state: State::HalfOpen, .. }))));
    drop(never_polled);
    drop(polled);
    assert_eq!(inner.dropped.count(), 2);
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.state, snapshot.cancelled_total), (State::HalfOpen, 2));
    assert_eq!((snapshot.in_flight, called(&inner)), (0, 2));
    assert_eq!(poll(pin!(service.call("get"))), Poll::Ready(Ok(200)), "the slots are free again");
}

#[test]
fn an_answer_that_goes_down_with_its_caller_s_panic_is_cancelled() {
    let (breaker, _clock) = build(|builder| builder);
    let (mut service, _inner) = service(&breaker);
    let never_polled = service.call("get");
    let mut polled = Box::pin(service.call("hang"));
    assert!(poll(polled.as_mut()).is_pending());
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _both = (never_polled, polled);
        panic!("the caller's own trouble");
    }));
    assert!(unwound.is_err());
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.cancelled_total, snapshot.failure_total), (2, 0));
    assert_eq!(snapshot.in_flight, 0);
}

#[test]
fn a_panic_as_the_service_is_called_is_a_failure() {
    let (breaker, _clock) = build(|builder| builder);
    let (mut service, _inner) = service(&breaker);
    let unwound = catch_unwind(AssertUnwindSafe(|| drop(service.call("panic at once"))));
    assert!(unwound.is_err());
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.failure_total, snapshot.in_flight), (1, 0));
    assert_eq!(poll(pin!(service.call("get"))), Poll::Ready(Ok(200)));
}

#[test]
fn a_panic_in_the_answer_is_a_failure() {
    let (breaker, _clock) = build(|builder| builder);
    let (mut service, inner) = service(&breaker);
    let answer = Box::pin(service.call("panic"));
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let mut answer = answer;
        drop(poll(answer.as_mut()));
    }));
    assert!(unwound.is_err());
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.failure_total, snapshot.cancelled_total), (1, 0));
    assert_eq!((snapshot.in_flight, inner.dropped.count()), (0, 1));
}

#[test]
fn all_services_of_a_layer_and_all_their_clones_share_the_breaker() {
    let (breaker, _clock) = build(|builder| builder.detector(Detector::consecutive(3)));
    let layer = BreakerLayer::new(breaker.clone());
    let mut one = layer.layer(Inner::default());
    let mut other = layer.clone().layer(Inner::default());
    let mut clone = one.clone();
    for service in [&mut one, &mut other, &mut clone] {
        assert_eq!(breaker.state(), State::Closed);
        assert_eq!(poll(pin!(service.call("fail"))), Poll::Ready(Err(CallError::Inner("down"))));
    }
    for service in [&mut one, &mut other, &mut clone] {
        let Poll::Ready(Err(error)) = poll(pin!(service.call("get"))) else { panic!("refused") };
        assert!(error.is_rejection());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_may_go_to_other_threads() {
    let (breaker, _clock) = build(|builder| builder);
    let (mut service, _inner) = service(&breaker);
    let answers: Vec<_> = (0..50).map(|_| tokio::spawn(service.call("get"))).collect();
    for answer in answers {
        assert_eq!(answer.await.unwrap(), Ok(200));
    }
    assert_eq!(breaker.snapshot().success_total, 50);
    assert_eq!(breaker.snapshot().in_flight, 0);
}

#[test]
fn a_breaker_that_was_dropped_lives_in_its_service() {
    let (breaker, _clock) = build(|builder| builder);
    let (mut service, _inner) = service(&breaker);
    drop(breaker);
    let answer = service.call("get");
    drop(service);
    assert_eq!(poll(pin!(answer)), Poll::Ready(Ok(200)));
}
