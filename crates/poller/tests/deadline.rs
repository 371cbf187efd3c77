#![cfg(test)]
//! The time of a poller is a hard deadline.

mod common;

use std::future::pending;

use common::{Count, Dropped, Event};
use mainstay_poller::{Context, EventQueue, Limit, Outcome, PollerError, Span as _, Status};
use tokio::time::{Duration, sleep};

async fn timed<F: Future<Output = Status>>(future: F) -> (Status, Duration) {
    let start = common::now();
    let status = future.await;
    (status, start.elapsed())
}

fn context() -> (EventQueue<Event>, Context<Event>) {
    let queue = EventQueue::new();
    let ctx = Context::new(&queue, 0);
    (queue, ctx)
}

fn assert_timed_out(status: &Status, elapsed: Duration, polls: u64) {
    let Some(PollerError::Timeout(info)) = status.error() else { panic!("{status:?}") };
    assert_eq!((info.elapsed, info.poll_count, info.limit), (elapsed, polls, Limit::Time));
}

#[tokio::test(start_paused = true)]
async fn a_poll_that_hangs_is_dropped_at_the_deadline() {
    let (_queue, ctx) = context();
    let dropped = Count::default();
    let poll = common::hanging(&dropped);
    let poller = ctx.poll(poll).every(1.s()).within(5.s()).handle(|()| Outcome::Continue).unwrap();
    let (status, waited) = timed(poller.wait()).await;
    assert_timed_out(&status, 5.s(), 1);
    assert_eq!((waited, dropped.get()), (5.s(), 1));
}

#[tokio::test(start_paused = true)]
async fn the_last_sleep_is_clipped_to_the_deadline() {
    let (_queue, ctx) = context();
    let watch = ctx.poll(async || "processing").every(4.s()).within(10.s());
    let (status, waited) = timed(async { watch.handle(common::judge).unwrap().wait().await }).await;
    assert_timed_out(&status, 10.s(), 3);
    assert_eq!(waited, 10.s());
}

#[tokio::test(start_paused = true)]
async fn what_arrives_at_the_deadline_or_later_does_not_count() {
    for (takes, is_counted) in [(4_999, true), (5_000, false), (5_001, false)] {
        let (queue, ctx) = context();
        let poll = move || async move {
            sleep(Duration::from_millis(takes)).await;
            "approved"
        };
        let poller = ctx.poll(poll).every(1.s()).within(5.s()).handle(common::judge).unwrap();
        let status = poller.wait().await;
        assert_eq!(status.is_done(), is_counted, "{takes} ms: {status:?}");
        assert_eq!(queue.drain().len(), usize::from(is_counted), "{takes} ms");
        assert_eq!(status.last_result.is_some(), is_counted, "{takes} ms");
    }
}

/// The thread is busy until after the deadline, and then the answer is there.
#[tokio::test(start_paused = true)]
async fn a_result_that_is_looked_at_too_late_does_not_count() {
    let (queue, ctx) = context();
    let poll = || async {
        tokio::time::advance(6.s()).await;
        "approved"
    };
    let poller = ctx.poll(poll).every(1.s()).within(5.s()).handle(common::judge).unwrap();
    let status = poller.wait().await;
    assert!(matches!(status.error(), Some(PollerError::Timeout(_))), "{status:?}");
    assert_eq!(queue.drain(), []);
}

#[tokio::test(start_paused = true)]
async fn a_poll_may_have_a_timeout_of_its_own_and_polling_goes_on() {
    let (queue, ctx) = context();
    let dropped = Count::default();
    let counted = dropped.clone();
    let mut polls = 0;
    let poll = move || {
        polls += 1;
        let held = Dropped(counted.clone());
        async move {
            let _held = held;
            if polls < 3 { pending().await } else { "approved" }
        }
    };
    let watch = ctx.poll(poll).every(1.s()).within(30.s()).poll_timeout(2.s());
    let status = watch.handle(common::judge).unwrap().wait().await;
    assert!(status.is_done());
    assert_eq!((status.poll_count, status.elapsed), (3, 6.s()));
    assert_eq!((dropped.get(), queue.drain().len()), (3, 1));
}

#[tokio::test(start_paused = true)]
async fn the_deadline_comes_before_a_longer_timeout_of_the_poll() {
    let (_queue, ctx) = context();
    let watch = ctx.poll(pending::<&str>).every(1.s()).within(5.s()).poll_timeout(60.s());
    let (status, waited) = timed(async { watch.handle(common::judge).unwrap().wait().await }).await;
    assert_timed_out(&status, 5.s(), 1);
    assert_eq!(waited, 5.s());
}
