#![cfg(test)]
//! To wait until a resource has settled, within a command or without any executor.

mod common;

use std::future::ready;

use common::{Count, Event, script};
use mainstay_poller::{
    Adapter, Context, EventQueue, Executor, OnTimeout, Outcome, PollerError, Reason, SettleError,
    Span as _, settle,
};
use tokio::time::timeout;

#[tokio::test(start_paused = true)]
async fn it_waits_and_returns_the_final_events() {
    let queue = EventQueue::new();
    let ctx = Context::new(&queue, 0);
    let start = common::now();
    let events = ctx
        .settle(script(&["processing", "processing", "approved"]))
        .every(500.ms())
        .within(30.s())
        .handle(common::judge)
        .await
        .unwrap();
    assert_eq!((events, start.elapsed()), (vec![Event::Approved], 1.s()));
    assert!(queue.is_empty(), "they are the command's to return");
}

#[tokio::test(start_paused = true)]
async fn what_lies_between_is_left_out() {
    let watch = settle(script(&["pending_review", "approved"])).every(500.ms()).within(30.s());
    assert_eq!(watch.handle(common::judge).await.unwrap(), [Event::Approved]);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_is_an_error_unless_it_is_ignored() {
    let watch = || settle(script(&["processing"])).every(500.ms()).within(30.s());
    let failed = watch().handle(common::judge).await.unwrap_err();
    let SettleError::Poller(PollerError::Timeout(info)) = failed else { panic!("{failed:?}") };
    assert_eq!((info.poll_count, info.elapsed), (60, 30.s()));
    let ignored = watch().on_timeout(OnTimeout::Ignore).handle(common::judge).await;
    assert_eq!(ignored.unwrap(), []);
    let told = watch().on_timeout(OnTimeout::error("never confirmed")).handle(common::judge).await;
    assert_eq!(told.unwrap_err().to_string(), "never confirmed");
}

#[tokio::test(start_paused = true)]
async fn an_error_and_a_panic_come_back() {
    let watch = settle(script(&["broken"])).every(1.s()).within(3.s());
    let error = watch.handle(common::judge).await.unwrap_err();
    assert_eq!(error.to_string(), "the resource is broken");
    let watch = settle(async || panic!("no route")).every(1.s()).within(3.s());
    let error = watch.handle(|(): &()| Outcome::<Event>::Continue).await.unwrap_err();
    assert_eq!(error.to_string(), "poll raised: no route");
}

#[tokio::test(start_paused = true)]
async fn options_that_cannot_be_meant_are_refused() {
    let watch = settle(script(&["approved"])).every(1.s()).within(0.s());
    let error = watch.handle(common::judge).await.unwrap_err();
    assert!(matches!(error, SettleError::Start(_)), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn it_may_borrow_what_it_polls() {
    let machines = ["starting", "starting", "started"];
    let mut asked = machines.iter();
    let watch = settle(|| ready(asked.next().copied())).every(1.s()).within(30.s());
    let state = watch
        .handle(|state| match state {
            Some("started") => Outcome::done("up"),
            _ => Outcome::Continue,
        })
        .await;
    assert_eq!(state.unwrap(), ["up"]);
}

#[tokio::test(start_paused = true)]
async fn who_goes_away_drops_the_poll() {
    let dropped = Count::default();
    let queue = EventQueue::<Event>::new();
    let ctx = Context::new(&queue, 0);
    let poll = common::hanging(&dropped);
    let settled = ctx.settle(poll).every(1.s()).within(60.s()).handle(|()| Outcome::Continue);
    assert!(timeout(5.s(), settled).await.is_err());
    assert_eq!((dropped.get(), ctx.pollers().len()), (1, 0));
}

struct Machines;

impl Adapter for Machines {
    type Command = &'static [&'static str];
    type Event = Event;

    async fn execute(
        &mut self,
        states: &Self::Command,
        ctx: &Context<Event>,
    ) -> Result<Vec<Event>, Reason> {
        let watch = ctx.settle(script(states)).every(1.s()).within(5.s());
        Ok(watch.handle(common::judge).await?)
    }
}

#[tokio::test(start_paused = true)]
async fn a_command_that_waits_is_seen_and_its_error_is_the_commands() {
    let commands: Vec<&'static [&'static str]> =
        vec![&["processing", "approved"], &["processing", "processing"]];
    let executor = Executor::new(Machines);
    let observer = executor.observer();
    let running = tokio::spawn(executor.run(commands));
    tokio::time::sleep(500.ms()).await;
    let [seen] = observer.pollers().try_into().unwrap();
    assert_eq!((seen.poll_count, seen.command_index), (1, 0));
    let run = running.await.unwrap();
    assert_eq!(common::events(&run.events), [Event::Approved]);
    assert_eq!(
        run.failures[0].to_string(),
        "command 1: command error: did not settle: its time was over after 5s (5 polls)"
    );
    assert!(run.pollers.is_empty(), "they ended within their commands");
}
