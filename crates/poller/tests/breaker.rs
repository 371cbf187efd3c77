#![cfg(test)]
//! A circuit breaker in front of a poll: open means that a poll is skipped, which is no error.

mod common;

use std::future::{pending, ready};

use common::{Answer, Count, Event};
use mainstay_breaker::{Breaker, Detector, HalfOpenPolicy, State as BreakerState, Verdict};
use mainstay_poller::{Context, EventQueue, Outcome, PollerError, Span as _};

fn breaker(failures: u32) -> Breaker {
    Breaker::builder("payments")
        .detector(Detector::consecutive(failures))
        .open_for(5.s())
        .half_open(HalfOpenPolicy::all(1))
        .clock(TokioClock)
        .build()
        .unwrap()
}

/// A breaker in virtual time.
struct TokioClock;

impl mainstay_breaker::Clock for TokioClock {
    fn now(&self) -> mainstay_breaker::Moment {
        thread_local! {
            static ORIGIN: tokio::time::Instant = common::now();
        }
        mainstay_breaker::Moment::default().plus(ORIGIN.with(tokio::time::Instant::elapsed))
    }
}

fn context() -> (EventQueue<Event>, Context<Event>) {
    let queue = EventQueue::new();
    let ctx = Context::new(&queue, 0);
    (queue, ctx)
}

fn patient(answer: &Answer) -> Outcome<Event> {
    match answer {
        Ok(_) => Outcome::done(Event::Approved),
        Err(_) => Outcome::Continue,
    }
}

#[tokio::test(start_paused = true)]
async fn while_the_breaker_is_open_polls_are_skipped_and_that_is_no_error() {
    let (_queue, ctx) = context();
    let asked = Count::default();
    let counted = asked.clone();
    let poll = move || {
        let nth = counted.add();
        ready::<Answer>(if nth < 2 { Err("down") } else { Ok("up") })
    };
    let guard = breaker(2);
    let watch = ctx.poll(poll).every(1.s()).within(60.s()).guarded_by(guard.clone());
    let status = watch.handle(patient).unwrap().wait().await;
    assert!(status.is_done(), "{status:?}");
    // Opened by the second poll at 1 s, and asked again at 2, 3, 4, 5 and 6 s.
    assert_eq!((asked.get(), status.poll_count, status.skipped_count), (3, 3, 4));
    assert_eq!(status.elapsed, 6.s());
    assert_eq!(guard.state(), BreakerState::Closed);
    assert_eq!(guard.snapshot().rejected_total, 4);
}

#[tokio::test(start_paused = true)]
async fn a_breaker_that_stays_open_ends_in_a_timeout_without_a_poll() {
    let (_queue, ctx) = context();
    let guard = breaker(1);
    guard.force_open();
    let watch =
        ctx.poll(|| ready::<Answer>(Ok("up"))).every(1.s()).within(10.s()).guarded_by(guard);
    let status = watch.handle(patient).unwrap().wait().await;
    let Some(PollerError::Timeout(info)) = status.error() else { panic!("{status:?}") };
    assert_eq!((info.poll_count, info.skipped_count, status.skipped_count), (0, 11, 11));
    assert!(info.last_result.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_poll_that_takes_too_long_counts_against_the_breaker() {
    let (_queue, ctx) = context();
    let guard = breaker(1);
    let watch = ctx.poll(pending::<Answer>).every(1.s()).within(4.s()).poll_timeout(2.s());
    let poller = watch.guarded_by(guard.clone()).handle(patient).unwrap();
    let status = poller.wait().await;
    assert_eq!((status.poll_count, status.skipped_count), (1, 2));
    assert_eq!(guard.state(), BreakerState::Open);
}

#[tokio::test(start_paused = true)]
async fn a_poll_that_is_dropped_at_the_deadline_gives_its_place_back() {
    let (_queue, ctx) = context();
    let guard = breaker(1);
    let watch = ctx.poll(pending::<Answer>).every(1.s()).within(4.s()).guarded_by(guard.clone());
    watch.handle(patient).unwrap().wait().await;
    let counted = guard.snapshot();
    assert_eq!((counted.in_flight, counted.cancelled_total), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_poll_that_panics_counts_as_a_failure_of_the_breaker() {
    let (_queue, ctx) = context();
    let guard = breaker(1);
    let poll = async || -> Answer { panic!("no route") };
    let watch = ctx.poll(poll).every(1.s()).within(4.s()).guarded_by(guard.clone());
    let status = watch.handle(patient).unwrap().wait().await;
    assert_eq!(status.error().unwrap().to_string(), "poll raised: no route");
    assert_eq!(guard.state(), BreakerState::Open);
}

#[tokio::test(start_paused = true)]
async fn the_classifier_of_the_breaker_judges_results() {
    let (_queue, ctx) = context();
    let guard = Breaker::builder("payments")
        .detector(Detector::consecutive(1))
        .clock(TokioClock)
        .classifier(|answer: &Result<u16, String>| match answer {
            Ok(500..) | Err(_) => Verdict::Failure,
            Ok(_) => Verdict::Success,
        })
        .build()
        .unwrap();
    let watch = ctx.poll(|| ready(Ok::<u16, String>(503))).every(1.s()).within(3.s());
    let poller = watch.guarded_by(guard.clone()).handle(|_| Outcome::Continue).unwrap();
    let status = poller.wait().await;
    assert_eq!(
        (status.poll_count, status.skipped_count),
        (1, 3),
        "the last of them just before the end"
    );
    assert_eq!(guard.snapshot().failure_total, 1);
}
