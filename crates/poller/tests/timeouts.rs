#![cfg(test)]
//! Every form of on_timeout, and what it is told.

mod common;

use std::future::{pending, ready};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{Event, script};
use mainstay_poller::{
    Context, EventQueue, Limit, OnTimeout, Outcome, PollerError, Span as _, State, Status,
    TimeoutInfo,
};

/// A resource that never settles: how its poller ended.
async fn never(decided: OnTimeout) -> Status {
    let queue = EventQueue::<Event>::new();
    let ctx = Context::new(&queue, 0);
    let watch = ctx.poll(script(&["processing"])).every(500.ms()).within(30.s());
    let poller = watch.on_timeout(decided).handle(common::judge).unwrap();
    poller.wait().await
}

async fn never_with(
    decide: impl FnOnce(TimeoutInfo<Arc<&'static str>>) -> OnTimeout + Send + 'static,
) -> Status {
    let queue = EventQueue::<Event>::new();
    let ctx = Context::new(&queue, 0);
    let watch = ctx.poll(script(&["processing"])).every(500.ms()).within(30.s());
    let poller = watch.on_timeout_with(decide).handle(common::judge).unwrap();
    poller.wait().await
}

#[tokio::test(start_paused = true)]
async fn on_timeout_ignore_stops_and_is_no_failure() {
    let status = never(OnTimeout::Ignore).await;
    assert!(matches!(status.state, State::TimedOut), "{status:?}");
    assert!(status.error().is_none());
}

#[tokio::test(start_paused = true)]
async fn on_timeout_fail_is_the_default_and_brings_what_is_known() {
    for status in [never(OnTimeout::default()).await, never(OnTimeout::Fail).await, {
        let queue = EventQueue::<Event>::new();
        let ctx = Context::new(&queue, 0);
        common::authorisation(&ctx, &["processing"]).unwrap().wait().await
    }] {
        let Some(PollerError::Timeout(info)) = status.error() else { panic!("{status:?}") };
        assert_eq!((info.poll_count, info.elapsed, info.limit), (60, 30.s(), Limit::Time));
        let last = info.last_result.as_ref().unwrap();
        assert_eq!(last.downcast_ref::<&str>(), Some(&"processing"));
        assert_eq!(info.to_string(), "did not settle: its time was over after 30s (60 polls)");
    }
}

#[tokio::test(start_paused = true)]
async fn on_timeout_error_has_the_callers_words() {
    let status = never(OnTimeout::error("the payment was never confirmed")).await;
    assert!(matches!(status.error(), Some(PollerError::Custom(_))));
    assert_eq!(status.error().unwrap().to_string(), "the payment was never confirmed");
}

#[tokio::test(start_paused = true)]
async fn a_function_makes_the_error_from_what_is_known() {
    let status = never_with(|info| {
        OnTimeout::error(format!("{} polls, {} ms", info.poll_count, info.elapsed.as_millis()))
    })
    .await;
    assert_eq!(status.error().unwrap().to_string(), "60 polls, 30000 ms");
}

#[tokio::test(start_paused = true)]
async fn a_function_may_decide_by_what_is_known() {
    let patient = |info: TimeoutInfo<Arc<&str>>| {
        if info.poll_count > 10 { OnTimeout::Ignore } else { OnTimeout::error("too early") }
    };
    assert!(matches!(never_with(patient).await.state, State::TimedOut));
    let hasty = |info: TimeoutInfo<Arc<&str>>| {
        if info.poll_count > 60 { OnTimeout::Ignore } else { OnTimeout::error("too early") }
    };
    assert_eq!(never_with(hasty).await.error().unwrap().to_string(), "too early");
}

#[tokio::test(start_paused = true)]
async fn a_function_may_say_fail() {
    let status = never_with(|_| OnTimeout::Fail).await;
    assert!(matches!(status.error(), Some(PollerError::Timeout(info)) if info.poll_count == 60));
}

#[derive(Debug, thiserror::Error)]
#[error("{resource} did not settle after {polls} polls, last seen {last}")]
struct NeverSettled {
    resource: &'static str,
    polls: u64,
    last: &'static str,
}

#[tokio::test(start_paused = true)]
async fn a_function_may_return_a_structured_error() {
    let status = never_with(|info| {
        let last = info.last_result.as_deref().copied().unwrap_or("nothing");
        OnTimeout::error(NeverSettled { resource: "authorisation", polls: info.poll_count, last })
    })
    .await;
    let Some(PollerError::Custom(reason)) = status.error() else { panic!("{status:?}") };
    assert_eq!(reason.downcast_ref::<NeverSettled>().unwrap().polls, 60);
    assert_eq!(
        reason.to_string(),
        "authorisation did not settle after 60 polls, last seen processing"
    );
}

#[tokio::test(start_paused = true)]
async fn timeout_info_elapsed_is_the_time_since_the_start_and_no_less_than_the_timeout() {
    let queue = EventQueue::<Event>::new();
    let ctx = Context::new(&queue, 0);
    tokio::time::sleep(7.s()).await;
    for within in [1, 450, 30_000] {
        let watch = ctx.poll(script(&["processing"])).every(400.ms()).within(within.ms());
        let status = watch.handle(common::judge).unwrap().wait().await;
        let Some(PollerError::Timeout(info)) = status.error() else { panic!("{status:?}") };
        assert_eq!(info.elapsed, within.ms(), "the seconds before it started don't count");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_known_is_empty_when_no_poll_completed() {
    let queue = EventQueue::<Event>::new();
    let ctx = Context::new(&queue, 0);
    let known = Arc::new(Mutex::new(None));
    let told = Arc::clone(&known);
    let poller = ctx
        .poll(pending::<()>)
        .every(1.s())
        .within(5.s())
        .on_timeout_with(move |info| {
            *told.lock().unwrap() = Some((info.elapsed, info.poll_count, info.last_result));
            OnTimeout::Ignore
        })
        .handle(|()| Outcome::Continue)
        .unwrap();
    poller.wait().await;
    assert_eq!(*known.lock().unwrap(), Some((5.s(), 1, None)));
}

#[tokio::test(start_paused = true)]
async fn polls_that_started_are_counted_and_results_that_completed_are_kept() {
    let queue = EventQueue::<Event>::new();
    let ctx = Context::new(&queue, 0);
    let mut polls = 0;
    let poller = ctx
        .poll(move || {
            polls += 1;
            async move { if polls == 2 { pending().await } else { polls } }
        })
        .every(1.s())
        .within(5.s())
        .handle(|_| Outcome::Continue)
        .unwrap();
    let status = poller.wait().await;
    let Some(PollerError::Timeout(info)) = status.error() else { panic!("{status:?}") };
    assert_eq!(info.poll_count, 2);
    assert_eq!(info.last_result.as_ref().unwrap().downcast_ref::<i32>(), Some(&1));
}

#[tokio::test(start_paused = true)]
async fn the_most_polls_end_in_a_timeout_at_once() {
    let queue = EventQueue::<Event>::new();
    let ctx = Context::new(&queue, 0);
    let watch = ctx.poll(|| ready("processing")).every(500.ms()).within(30.s()).max_polls(3);
    let status = watch.handle(common::judge).unwrap().wait().await;
    let Some(PollerError::Timeout(info)) = status.error() else { panic!("{status:?}") };
    assert_eq!((info.poll_count, info.elapsed, info.limit), (3, 1.s(), Limit::Polls));
    assert_eq!(info.to_string(), "did not settle: it had no more polls after 1s (3 polls)");
    let info = TimeoutInfo { elapsed: Duration::from_nanos(2_345_643_114), ..info.clone() };
    let told = "did not settle: it had no more polls after 2.345s (3 polls)";
    assert_eq!(info.to_string(), told, "nobody reads nanoseconds");
    let info = TimeoutInfo { skipped_count: 40, ..info };
    assert!(info.to_string().ends_with("(3 polls, 40 skipped)"), "{info}");
}
