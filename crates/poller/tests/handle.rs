#![cfg(test)]
//! The hold on a poller, and who stops it.

mod common;

use common::{Count, Event, Told, authorisation, command, script};
use mainstay_poller::{Context, EventQueue, Executor, Handle, Outcome, Span as _, State};
use tokio::time::sleep;

/// A poller whose poll hangs, and how many polls were dropped.
fn hanging(ctx: &Context<Event>) -> (Handle, Count) {
    let dropped = Count::default();
    let poll = common::hanging(&dropped);
    let watch = ctx.poll(poll).every(1.s()).within(60.s());
    (watch.handle(|()| Outcome::Continue).unwrap(), dropped)
}

fn context() -> (EventQueue<Event>, Context<Event>) {
    let queue = EventQueue::new();
    let ctx = Context::new(&queue, 7);
    (queue, ctx)
}

#[tokio::test(start_paused = true)]
async fn status_tells_how_it_is_while_it_runs() {
    let (_queue, ctx) = context();
    let poller = authorisation(&ctx, &["processing", "pending_review", "processing"]).unwrap();
    sleep(1_250.ms()).await;
    let status = poller.status();
    assert!(status.is_running());
    assert_eq!((status.id, status.command_index), (poller.id(), 7));
    assert_eq!((status.poll_count, status.skipped_count, status.event_count), (3, 0, 1));
    assert_eq!(status.elapsed, 1_250.ms());
    assert_eq!(format!("{:?}", status.last_result), "Some(\"processing\")");
    assert_eq!(format!("{poller:?}"), "Handle(PollerId(1), Running)");
}

#[tokio::test(start_paused = true)]
async fn status_stays_as_it_was_at_the_end() {
    let (_queue, ctx) = context();
    let poller = authorisation(&ctx, &["processing", "approved"]).unwrap();
    poller.wait().await;
    sleep(60.s()).await;
    let status = poller.status();
    assert!(status.is_done());
    assert_eq!((status.elapsed, status.poll_count), (500.ms(), 2));
    assert_eq!(poller.wait().await.elapsed, 500.ms(), "who waits later hears the same");
}

#[tokio::test(start_paused = true)]
async fn stop_ends_it_at_once_and_drops_what_it_holds() {
    let (_queue, ctx) = context();
    let (poller, dropped) = hanging(&ctx);
    sleep(100.ms()).await;
    let start = common::now();
    poller.stop();
    assert!(matches!(poller.status().state, State::Stopped), "it is known at once");
    let status = poller.wait().await;
    assert_eq!((start.elapsed(), dropped.get()), (0.s(), 1));
    assert!(matches!(status.state, State::Stopped));
    assert_eq!(status.elapsed, 100.ms());
    assert!(ctx.pollers().is_empty());
}

#[tokio::test(start_paused = true)]
async fn stop_between_polls_ends_the_sleep() {
    let (queue, ctx) = context();
    let poller = authorisation(&ctx, &["processing", "approved"]).unwrap();
    sleep(100.ms()).await;
    poller.stop();
    let start = common::now();
    poller.wait().await;
    assert_eq!(start.elapsed(), 0.s());
    sleep(10.s()).await;
    assert_eq!((poller.status().poll_count, queue.drain().len()), (1, 0));
}

/// A poller is stopped within its own handler: what the handler says then is not told.
#[tokio::test(start_paused = true)]
async fn after_stop_nothing_is_told() {
    let (queue, ctx) = context();
    let hold = std::sync::Arc::new(std::sync::Mutex::new(None::<Handle>));
    let held = std::sync::Arc::clone(&hold);
    let watch = ctx.poll(script(&["approved"])).every(1.s()).within(9.s());
    let poller = watch
        .handle(move |_| {
            held.lock().unwrap().as_ref().unwrap().stop();
            Outcome::done(Event::Approved)
        })
        .unwrap();
    *hold.lock().unwrap() = Some(poller.clone());
    assert!(matches!(poller.wait().await.state, State::Stopped));
    assert!(queue.is_empty());
}

#[tokio::test(start_paused = true)]
async fn stop_changes_nothing_in_one_that_has_ended() {
    let (queue, ctx) = context();
    let poller = authorisation(&ctx, &["approved"]).unwrap();
    poller.wait().await;
    poller.stop();
    assert!(poller.status().is_done());
    assert_eq!(queue.drain().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn several_may_wait_for_one_poller() {
    let (_queue, ctx) = context();
    let poller = authorisation(&ctx, &["processing", "approved"]).unwrap();
    let other = poller.clone();
    let (one, two) = tokio::join!(poller.wait(), other.wait());
    assert!(one.is_done() && two.is_done());
}

#[tokio::test(start_paused = true)]
async fn dropping_the_handle_leaves_the_poller_running() {
    let (queue, ctx) = context();
    drop(authorisation(&ctx, &["processing", "approved"]).unwrap());
    sleep(1.s()).await;
    assert_eq!(queue.drain().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn dropping_the_context_stops_its_pollers() {
    let (_queue, ctx) = context();
    let (poller, dropped) = hanging(&ctx);
    sleep(100.ms()).await;
    drop(ctx);
    assert!(matches!(poller.wait().await.state, State::Stopped));
    assert_eq!(dropped.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn dropping_the_executor_stops_all() {
    let hold = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let held = std::sync::Arc::clone(&hold);
    let commands = vec![command(move |ctx| {
        let mut held = held.lock().unwrap();
        held.extend((0..10).map(|_| hanging(ctx)));
        Ok(vec![])
    })];
    {
        let running = Executor::new(Told::default()).run(commands);
        assert!(tokio::time::timeout(5.s(), running).await.is_err());
    }
    let held = hold.lock().unwrap().clone();
    assert_eq!(held.len(), 10);
    for (poller, dropped) in held {
        assert!(matches!(poller.wait().await.state, State::Stopped));
        assert_eq!(dropped.get(), 1);
    }
}

#[test]
fn a_runtime_that_shuts_down_ends_its_pollers_and_nobody_waits_for_ever() {
    let (_queue, ctx) = context();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let (poller, dropped) = runtime.block_on(async {
        let held = hanging(&ctx);
        tokio::task::yield_now().await;
        held
    });
    drop(runtime);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let status = runtime.block_on(poller.wait());
    assert!(matches!(status.state, State::Stopped));
    assert_eq!(dropped.get(), 1);
}
