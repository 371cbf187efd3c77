#![cfg(test)]
//! A service behind a breaker: what was promised as readiness, and what is kept of it.

mod support;

use std::future::{Ready, ready};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use mainstay_breaker::{Breaker, BreakerLayer, BreakerService, CallError, Detector, Event, State};
use support::{Heard, SECOND, build, fail, poll};
use tower::{Layer, Service};

/// A service with one place, which it takes when it is asked whether it is ready.
#[derive(Default)]
struct OnePlace {
    is_taken: Arc<AtomicBool>,
    is_mine: bool,
}

impl Service<()> for OnePlace {
    type Response = &'static str;
    type Error = &'static str;
    type Future = Ready<Result<&'static str, &'static str>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), &'static str>> {
        if !self.is_mine && self.is_taken.swap(true, Ordering::SeqCst) {
            return Poll::Pending;
        }
        self.is_mine = true;
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, (): ()) -> Self::Future {
        assert!(self.is_mine, "nobody asked whether it is ready");
        self.give_back();
        ready(Ok("paid"))
    }
}

impl OnePlace {
    fn give_back(&mut self) {
        if std::mem::take(&mut self.is_mine) {
            self.is_taken.store(false, Ordering::SeqCst);
        }
    }
}

impl Clone for OnePlace {
    fn clone(&self) -> Self {
        Self { is_taken: Arc::clone(&self.is_taken), is_mine: false }
    }
}

impl Drop for OnePlace {
    fn drop(&mut self) {
        self.give_back();
    }
}

type Guarded = BreakerService<OnePlace>;
type Answer = Poll<Result<&'static str, CallError<&'static str>>>;

fn watched() -> (Breaker, mainstay_breaker::ManualClock, Heard, Guarded) {
    let heard = Heard::default();
    let (breaker, clock) =
        build(|builder| builder.detector(Detector::consecutive(1)).on_event(heard.listener()));
    let service = BreakerLayer::new(breaker.clone()).layer(OnePlace::default());
    (breaker, clock, heard, service)
}

fn is_ready(service: &mut Guarded) -> bool {
    match service.poll_ready(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer.is_ok(),
        Poll::Pending => false,
    }
}

fn call(service: &mut Guarded) -> Answer {
    poll(pin!(service.call(())))
}

fn refused(state: State, retry_after: Option<std::time::Duration>) -> Answer {
    Poll::Ready(Err(CallError::Open { name: Arc::from("payments"), state, retry_after }))
}

#[test]
fn whoever_was_promised_a_refusal_is_refused_by_the_state_that_promised_it() {
    let (breaker, clock, heard, mut service) = watched();
    fail(&breaker);
    assert!(is_ready(&mut service), "nobody waits to be refused");
    clock.advance(5 * SECOND);
    heard.take();
    let at_once = Some(std::time::Duration::ZERO);
    assert_eq!(call(&mut service), refused(State::Open, at_once));
    assert_eq!(heard.take(), [Event::Reject { state: State::Open, retry_after: at_once }]);
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.rejected_total, snapshot.allowed_total), (1, 1));
    assert_eq!((snapshot.cancelled_total, snapshot.half_opened_total), (0, 0), "no probe was sent");
}

#[test]
fn so_is_whoever_was_promised_it_by_force_and_comes_after_the_reset() {
    let (breaker, _clock, heard, mut service) = watched();
    breaker.force_open();
    assert!(is_ready(&mut service));
    breaker.reset();
    heard.take();
    let at_once = Some(std::time::Duration::ZERO);
    assert_eq!(call(&mut service), refused(State::Open, at_once));
    assert_eq!(heard.take(), [Event::Reject { state: State::Open, retry_after: at_once }]);
    assert_eq!(breaker.snapshot().rejected_total, 1);
    assert_eq!(call(&mut service), refused(State::Open, at_once), "the service was not asked yet");
    assert!(is_ready(&mut service));
    assert_eq!(call(&mut service), Poll::Ready(Ok("paid")));
}

#[test]
fn a_refusal_that_still_holds_is_that_of_the_moment() {
    let (breaker, clock, _heard, mut service) = watched();
    fail(&breaker);
    assert!(is_ready(&mut service));
    clock.advance(2 * SECOND);
    assert_eq!(call(&mut service), refused(State::Open, Some(3 * SECOND)));
    assert_eq!(breaker.snapshot().rejected_total, 1);
}

#[test]
fn a_service_that_was_ready_before_the_breaker_opened_is_ready_when_it_has_closed() {
    let (breaker, _clock, _heard, mut service) = watched();
    assert!(is_ready(&mut service));
    breaker.force_open();
    assert!(is_ready(&mut service));
    breaker.reset();
    assert_eq!(call(&mut service), Poll::Ready(Ok("paid")), "it had promised so itself");
}

#[test]
fn a_service_that_was_called_has_promised_nothing_more() {
    let (breaker, _clock, _heard, mut service) = watched();
    assert!(is_ready(&mut service));
    assert_eq!(call(&mut service), Poll::Ready(Ok("paid")));
    breaker.force_open();
    assert!(is_ready(&mut service), "to be refused");
    breaker.reset();
    assert!(matches!(call(&mut service), Poll::Ready(Err(CallError::Open { .. }))));
}

/// Tower has no way to take readiness back but to drop the service.
#[test]
fn a_refused_request_leaves_its_place_with_the_service_until_that_is_called_or_dropped() {
    let (breaker, _clock, _heard, mut service) = watched();
    let mut other = service.clone();
    assert!(is_ready(&mut service));
    breaker.force_open();
    assert!(matches!(call(&mut service), Poll::Ready(Err(CallError::Open { .. }))));
    breaker.reset();
    assert!(!is_ready(&mut other), "the place is kept for the next request");
    assert_eq!(call(&mut service), Poll::Ready(Ok("paid")), "which needs not ask again");
    assert!(is_ready(&mut other));
    drop(other);
    assert!(is_ready(&mut service));
    let mut other = service.clone();
    assert!(!is_ready(&mut other));
    drop(service);
    assert!(is_ready(&mut other), "a service that is dropped gives it back");
}
