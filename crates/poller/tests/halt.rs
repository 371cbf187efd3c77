#![cfg(test)]
//! In `Halt` an error is noticed between commands, the first in time is reported, and the others are
//! cancelled within a bounded time.

mod common;

use std::sync::{Mutex, mpsc};

use common::{Command, Count, Event, Hurried, Told, authorisation, command};
use mainstay_poller::{
    CANCEL_WITHIN, Cause, Executor, Mode, Outcome, PollerId, Run, Span as _, State,
};

fn start(states: &'static [&'static str]) -> Command {
    command(move |ctx| {
        authorisation(ctx, states)?;
        Ok(vec![])
    })
}

async fn halt(takes_ms: u64, commands: Vec<Command>) -> Run<Event> {
    Executor::new(Told { takes_ms, ..Told::default() }).run(commands).await
}

fn failed(run: &Run<Event>) -> (usize, PollerId) {
    match run.failures.as_slice() {
        [one] => match &one.cause {
            Cause::Poller { id, .. } => (one.command_index, *id),
            other => panic!("{other}"),
        },
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_is_noticed_between_commands() {
    let start_of_run = common::now();
    let many = (0..10).map(|_| command(|_| Ok(vec![])));
    let commands = std::iter::once(start(&["processing", "broken"])).chain(many).collect();
    let run = halt(200, commands).await;
    assert_eq!(failed(&run).0, 0);
    assert_eq!(run.commands_run, 3, "it failed at 500 ms, while the third was executed");
    assert_eq!(start_of_run.elapsed(), 600.ms());
}

#[tokio::test(start_paused = true)]
async fn the_first_error_in_time_is_reported_with_the_index_of_its_command() {
    let slow = start(&["processing", "processing", "broken"]);
    let quick = start(&["processing", "broken"]);
    let run = halt(0, vec![command(|_| Ok(vec![])), slow, quick]).await;
    let (command_index, id) = failed(&run);
    assert_eq!((command_index, id.get()), (2, 2));
}

/// At 2 s the poller of the command that runs breaks, at 2.5 s that of the one before it.
#[tokio::test(start_paused = true)]
async fn an_error_of_the_running_command_is_not_overtaken_by_a_later_one() {
    const SLOW: [&str; 6] =
        ["processing", "processing", "processing", "processing", "processing", "broken"];
    for quick in [&["processing", "broken"][..], &["pending_review", "broken"]] {
        let run = halt(1_500, vec![start(&SLOW), start(quick)]).await;
        assert_eq!(failed(&run).0, 1, "{quick:?}");
        let ended: Vec<u64> = run.pollers.iter().map(|status| status.id.get()).collect();
        assert_eq!(ended, [2, 1], "{quick:?}: in the order in which they ended");
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_is_reported_before_what_the_model_says_to_what_its_command_told_later() {
    let both = command(|ctx| {
        authorisation(ctx, &["processing", "broken"])?;
        Ok(vec![Event::Created])
    });
    let executor = Executor::new(Told { takes_ms: 5_000, ..Told::default() });
    let model = |_: &mainstay_poller::Entry<Event>| Err("nothing may be created".into());
    let run = executor.run_with(vec![both], model).await;
    let [failure] = run.failures.as_slice() else { panic!("{:?}", run.failures) };
    assert!(matches!(failure.cause, Cause::Poller { .. }), "{failure}");
    assert_eq!(common::events(&run.events), [Event::Created], "it is kept");
}

#[tokio::test(start_paused = true)]
async fn of_two_errors_in_one_command_the_earlier_is_reported() {
    let both = command(|ctx| {
        authorisation(ctx, &["processing", "processing", "broken"])?;
        authorisation(ctx, &["processing", "broken"])?;
        Ok(vec![])
    });
    let run = halt(5_000, vec![both]).await;
    assert_eq!(failed(&run).1.get(), 2);
    let ended: Vec<u64> = run.pollers.iter().map(|status| status.id.get()).collect();
    assert_eq!(ended, [2, 1], "both are told among the pollers, in the order in which they ended");
}

#[tokio::test(start_paused = true)]
async fn an_error_before_an_event_is_reported_before_what_the_model_says_to_it() {
    let both = command(|ctx| {
        authorisation(ctx, &["processing", "broken"])?;
        authorisation(ctx, &["processing", "processing", "declined"])?;
        Ok(vec![])
    });
    let executor = Executor::new(Told { takes_ms: 5_000, ..Told::default() });
    let model = |_: &mainstay_poller::Entry<Event>| Err("nothing may be declined".into());
    let run = executor.run_with(vec![both], model).await;
    let [failure] = run.failures.as_slice() else { panic!("{:?}", run.failures) };
    assert!(matches!(failure.cause, Cause::Poller { .. }), "{failure}");
}

#[tokio::test(start_paused = true)]
async fn the_other_pollers_are_cancelled_within_a_bounded_time() {
    let dropped = Count::default();
    let counted = dropped.clone();
    let hanging = command(move |ctx| {
        for _ in 0..5 {
            let poll = common::hanging(&counted);
            ctx.poll(poll).every(1.s()).within(60.s()).handle(|()| Outcome::Continue)?;
        }
        Ok(vec![])
    });
    let start_of_run = common::now();
    let run = halt(0, vec![hanging, start(&["processing", "broken"])]).await;
    assert!(start_of_run.elapsed() <= 500.ms() + CANCEL_WITHIN);
    assert_eq!(dropped.get(), 5, "what they held is gone when the run has ended");
    let stopped = run.pollers.iter().filter(|one| matches!(one.state, State::Stopped)).count();
    assert_eq!((stopped, run.failures.len()), (5, 1), "to be cancelled is no failure");
}

/// Nobody can cancel what blocks its thread; the run ends all the same when the bound is over.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn beside_a_poller_that_never_yields_a_halt_ends_the_run_within_its_bound() {
    let (release, blocked) = mpsc::channel::<()>();
    let blocked = Mutex::new(Some(blocked));
    let never_yields = command(move |ctx| {
        let blocked = blocked.lock().unwrap().take();
        let (begin, begun) = mpsc::channel();
        let poll = move || {
            begin.send(()).unwrap();
            let told = blocked.as_ref().and_then(|blocked| blocked.recv().ok());
            async move { told }
        };
        ctx.poll(poll).every(1.s()).within(3_600.s()).handle(|_| Outcome::Continue)?;
        begun.recv()?;
        Ok(vec![])
    });
    let fails = command(|ctx| {
        let poller = authorisation(ctx, &["broken"])?;
        while poller.status().is_running() {
            std::thread::yield_now();
        }
        Ok(vec![])
    });
    let executor = Executor::builder(Told::default()).clock(Hurried::new()).build();
    // That it returns at all is the bound: what blocks is let go only after it.
    let run = executor.run(vec![never_yields, fails, command(|_| Ok(vec![]))]).await;
    drop(release);
    assert_eq!(failed(&run).0, 1, "the one that failed is reported, and not the one that blocks");
    assert_eq!(run.commands_run, 2);
}

#[tokio::test(start_paused = true)]
async fn while_the_executor_waits_at_the_end_an_error_is_noticed_at_once() {
    let start_of_run = common::now();
    let run = halt(0, vec![start(&["processing"]), start(&["processing", "broken"])]).await;
    assert_eq!(failed(&run).0, 1);
    assert_eq!(start_of_run.elapsed(), 500.ms());
}

#[tokio::test(start_paused = true)]
async fn in_record_nobody_is_cancelled() {
    let commands = vec![start(&["broken"]), start(&["processing", "approved"])];
    let executor = Executor::builder(Told::default()).mode(Mode::Record).build();
    let run = executor.run(commands).await;
    assert_eq!(common::events(&run.events), [Event::Approved]);
}
