#![cfg(test)]
//! At the end every poller is stopped and reported: what never settles can't pass as a success.

mod common;

use std::future::pending;
use std::sync::mpsc;

use common::{Command, Count, Dropped, Event, Hurried, Told, command};
use mainstay_poller::{
    Adapter, Cause, Context, Entry, Executor, Failure, Limit, Mode, OnTimeout, Outcome,
    PollerError, Reason, Run, Span as _, State,
};

/// A sequence whose one resource never settles.
async fn never(mode: Mode, wait_for: Option<u64>, decided: OnTimeout) -> Run<Event> {
    let commands = vec![command(move |ctx| {
        let watch = ctx.poll(async || "processing").every(500.ms()).within(30.s());
        watch.on_timeout(decided.clone()).handle(common::judge)?;
        Ok(vec![Event::Created])
    })];
    let executor = Executor::builder(Told::default()).mode(mode);
    let executor = match wait_for {
        Some(seconds) => executor.wait_for(seconds.s()),
        None => executor,
    };
    executor.build().run(commands).await
}

#[tokio::test(start_paused = true)]
async fn a_resource_that_never_settles_is_a_failure() {
    for mode in [Mode::Halt, Mode::Record] {
        let start = common::now();
        let run = never(mode, None, OnTimeout::Fail).await;
        assert_eq!(start.elapsed(), 30.s(), "it is waited for as long as it may take");
        assert!(!run.is_success());
        let [failure] = run.failures.as_slice() else { panic!("{:?}", run.failures) };
        assert!(
            matches!(&failure.cause, Cause::Poller { error: PollerError::Timeout(info), .. } if info.limit == Limit::Time)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn one_that_did_not_end_within_the_wait_is_stopped_and_reported() {
    let start = common::now();
    let run = never(Mode::Halt, Some(5), OnTimeout::Fail).await;
    assert_eq!(start.elapsed(), 5.s());
    let [status] = run.pollers.as_slice() else { panic!("{:?}", run.pollers) };
    assert_eq!((status.poll_count, status.elapsed), (10, 5.s()));
    let error = run.into_result().unwrap_err();
    let told = "command 0: resource poller 1 error: did not settle: the sequence would wait no longer after 5s (10 polls)";
    assert_eq!(error.to_string(), told);
    assert_eq!(
        format!("{error:?}"),
        format!("{told}\nlast result of poller 1: Some(\"processing\")"),
        "who unwraps it sees what was seen last"
    );
}

#[tokio::test(start_paused = true)]
async fn one_that_is_cut_off_decides_about_its_timeout_as_always() {
    let ignored = never(Mode::Halt, Some(5), OnTimeout::Ignore).await;
    assert!(ignored.is_success());
    assert!(matches!(ignored.pollers[0].state, State::TimedOut));
    let told = never(Mode::Halt, Some(5), OnTimeout::error("never confirmed")).await;
    assert_eq!(told.failures[0].to_string(), "command 0: resource poller 1 error: never confirmed");
    assert!(never(Mode::Disabled, Some(5), OnTimeout::Fail).await.is_success());
}

#[tokio::test(start_paused = true)]
async fn every_one_is_reported_and_what_they_held_is_dropped() {
    let dropped = Count::default();
    let counted = dropped.clone();
    let commands = vec![command(move |ctx| {
        for _ in 0..3 {
            let held = Dropped(counted.clone());
            let poll = move || {
                let _held = &held;
                pending::<()>()
            };
            ctx.poll(poll).every(1.s()).within(60.s()).handle(|()| Outcome::Continue)?;
        }
        Ok(vec![])
    })];
    let executor = Executor::builder(Told::default()).mode(Mode::Record).wait_for(1.s());
    let run = executor.build().run(commands).await;
    assert_eq!((run.failures.len(), run.pollers.len(), dropped.get()), (3, 3, 3));
}

#[tokio::test(start_paused = true)]
async fn one_that_its_own_command_stopped_is_told_and_no_failure() {
    let commands = vec![command(|ctx| {
        common::authorisation(ctx, &["processing"])?.stop();
        Ok(vec![])
    })];
    let run = Executor::new(Told::default()).run(commands).await;
    assert!(run.is_success());
    assert!(matches!(run.pollers[0].state, State::Stopped));
}

/// A command whose poll blocks its thread until the sender is dropped: nobody can drop such a poll.
fn never_yields(decided: OnTimeout) -> (mpsc::Sender<()>, Command) {
    let (release, blocked) = mpsc::channel::<()>();
    let blocked = std::sync::Mutex::new(Some(blocked));
    let command = command(move |ctx| {
        let blocked = blocked.lock().unwrap().take();
        let (begin, begun) = mpsc::channel();
        let poll = move || {
            begin.send(()).unwrap();
            let told = blocked.as_ref().and_then(|blocked| blocked.recv().ok());
            async move { told }
        };
        let watch = ctx.poll(poll).every(1.s()).within(1.ms());
        watch.on_timeout(decided.clone()).handle(|_| Outcome::Continue)?;
        begun.recv()?;
        Ok(vec![])
    });
    (release, command)
}

fn assert_given_up(failure: &Failure) {
    assert!(
        matches!(&failure.cause, Cause::Poller { error: PollerError::Timeout(info), .. } if info.limit == Limit::Sequence),
        "{failure}"
    );
}

/// The run ends all the same and says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_never_yields_is_given_up_and_reported() {
    let (release, command) = never_yields(OnTimeout::Fail);
    let executor = Executor::builder(Told::default()).clock(Hurried::new()).build();
    let run = executor.run(vec![command]).await;
    drop(release);
    let [failure] = run.failures.as_slice() else { panic!("{:?}", run.failures) };
    assert_given_up(failure);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_never_yields_is_no_failure_where_that_was_to_be_ignored() {
    let (release, command) = never_yields(OnTimeout::Ignore);
    let executor = Executor::builder(Told::default()).clock(Hurried::new()).build();
    let run = executor.run(vec![command]).await;
    drop(release);
    assert!(run.is_success(), "{:?}", run.failures);
    assert!(matches!(run.pollers[0].state, State::TimedOut));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_never_yields_fails_in_the_words_that_were_asked_for() {
    let (release, command) = never_yields(OnTimeout::error("never confirmed"));
    let executor = Executor::builder(Told::default()).clock(Hurried::new()).build();
    let run = executor.run(vec![command]).await;
    drop(release);
    assert_eq!(run.failures[0].to_string(), "command 0: resource poller 1 error: never confirmed");
}

/// Its second command waits for an event that nobody tells.
#[derive(Default)]
struct Needy(Told);

impl Adapter for Needy {
    type Command = Command;
    type Event = Event;

    async fn execute(
        &mut self,
        command: &Command,
        ctx: &Context<Event>,
    ) -> Result<Vec<Event>, Reason> {
        self.0.execute(command, ctx).await
    }

    fn is_ready(&self, _: &Command, _: &[Entry<Event>]) -> bool {
        self.0.executed.get() == 0
    }
}

/// That it returns at all is the bound: what blocks is let go only after it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_waits_for_an_event_of_one_that_never_yields_gives_it_up() {
    for (mode, told) in [(Mode::Halt, 1), (Mode::Record, 2)] {
        let (release, never_yields) = never_yields(OnTimeout::Fail);
        let executor = Executor::builder(Needy::default()).mode(mode).clock(Hurried::new());
        let run = executor.build().run(vec![never_yields, command(|_| Ok(vec![]))]).await;
        drop(release);
        assert_given_up(&run.failures[0]);
        assert_eq!((run.failures.len(), run.commands_run), (told, 1));
        assert!(run.failures.iter().skip(1).all(|one| matches!(one.cause, Cause::NeverReady)));
    }
}
