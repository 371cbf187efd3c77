#![cfg(test)]
//! The steps of a poller's life in a sequence, the options that start it, and manual control of it.

mod common;

use std::future::ready;
use std::sync::{Arc, Mutex};

use common::{Command, Count, Event, Told, authorisation, command, events, script};
use mainstay_poller::{
    Adapter, Context, Entry, EventQueue, Executor, Outcome, PollerError, Reason, Sequence,
    Span as _, State,
};
use tokio::time::{Duration, Instant, sleep};

/// When each poll came, since `start`.
#[derive(Clone)]
struct Diary(Instant, Arc<Mutex<Vec<Duration>>>);

impl Diary {
    fn new() -> Self {
        Self(common::now(), Arc::default())
    }

    fn note(&self) {
        self.1.lock().unwrap().push(self.0.elapsed());
    }

    fn read(&self) -> Vec<Duration> {
        self.1.lock().unwrap().clone()
    }
}

#[tokio::test(start_paused = true)]
async fn starting_a_poller_returns_at_once() {
    let queue = EventQueue::new();
    let ctx = Context::new(&queue, 0);
    let start = common::now();
    let poller = authorisation(&ctx, &["processing", "approved"]).unwrap();
    assert_eq!(start.elapsed(), 0.s());
    assert!(poller.status().is_running());
    assert_eq!(poller.status().poll_count, 0, "it polls on a task of its own");
}

#[tokio::test(start_paused = true)]
async fn lifecycle_1_an_adapter_starts_a_poller_while_it_executes_a_command() {
    let starting = command(|ctx| {
        let poller = authorisation(ctx, &["processing", "approved"])?;
        assert!(poller.status().is_running());
        assert_eq!(poller.status().poll_count, 0, "it polls on a task of its own");
        Ok(vec![Event::Created])
    });
    let run = Executor::new(Told::default()).run([starting]).await.into_result().unwrap();
    assert_eq!((run.pollers.len(), run.pollers[0].command_index), (1, 0));
    assert_eq!(events(&run.events), [Event::Created, Event::Approved]);
}

#[tokio::test(start_paused = true)]
async fn lifecycle_3_a_command_returns_its_first_events_and_the_executor_goes_on() {
    let diary = Diary::new();
    let (first, second) = (diary.clone(), diary.clone());
    let commands = vec![
        command(move |ctx| {
            first.note();
            authorisation(ctx, &["processing", "processing", "approved"])?;
            Ok(vec![Event::Created])
        }),
        command(move |_| {
            second.note();
            Ok(vec![Event::Item(2)])
        }),
    ];
    let run = Executor::new(Told::default()).run(commands).await.into_result().unwrap();
    assert_eq!(diary.read(), [0.s(), 0.s()], "nobody waited for what settles after a second");
    assert_eq!(events(&run.events), [Event::Created, Event::Item(2), Event::Approved]);
}

#[tokio::test(start_paused = true)]
async fn lifecycle_5_a_poller_completes_by_done_by_timeout_or_by_error() {
    let queue = EventQueue::<Event>::new();
    let ctx = Context::new(&queue, 0);
    let start = common::now();
    let [done, late, broken] =
        [&["processing", "approved"][..], &["processing"], &["processing", "processing", "broken"]]
            .map(|states| authorisation(&ctx, states).unwrap());
    assert!(matches!(done.wait().await.state, State::Done));
    assert_eq!(start.elapsed(), 500.ms());
    assert!(matches!(broken.wait().await.error(), Some(PollerError::Custom(_))));
    assert_eq!(start.elapsed(), 1.s());
    assert!(matches!(late.wait().await.error(), Some(PollerError::Timeout(_))));
    assert_eq!(start.elapsed(), 30.s());
}

#[tokio::test(start_paused = true)]
async fn lifecycle_2_a_poller_polls_at_once_and_then_every_interval() {
    let queue = EventQueue::<Event>::new();
    let ctx = Context::new(&queue, 0);
    let diary = Diary::new();
    let noted = diary.clone();
    let poll = move || {
        noted.note();
        ready("processing")
    };
    let poller = ctx.poll(poll).every(400.ms()).within(2.s()).handle(common::judge).unwrap();
    poller.wait().await;
    assert_eq!(diary.read(), [0.ms(), 400.ms(), 800.ms(), 1200.ms(), 1600.ms()]);
}

#[tokio::test(start_paused = true)]
async fn the_poll_is_asked_anew_and_its_result_goes_to_the_handler() {
    let queue = EventQueue::<Event>::new();
    let ctx = Context::new(&queue, 0);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    let watch = ctx.poll(script(&["a", "b", "c"])).every(1.s()).within(9.s());
    let poller = watch
        .handle(move |state| {
            noted.lock().unwrap().push(*state);
            if *state == "c" { Outcome::settled() } else { Outcome::Continue }
        })
        .unwrap();
    poller.wait().await;
    assert_eq!(*seen.lock().unwrap(), ["a", "b", "c"]);
}

#[tokio::test(start_paused = true)]
async fn lifecycle_4_the_queue_is_drained_after_each_command() {
    let folded = Arc::new(Mutex::new(Vec::new()));
    let seen = |at: &'static str, folded: &Arc<Mutex<Vec<String>>>| {
        let folded = Arc::clone(folded);
        command(move |_| {
            folded.lock().unwrap().push(at.to_owned());
            Ok(vec![])
        })
    };
    let commands: Vec<Command> = vec![
        command(|ctx| {
            authorisation(ctx, &["processing", "pending_review", "processing", "approved"])?;
            Ok(vec![Event::Created])
        }),
        seen("second command", &folded),
        seen("third command", &folded),
    ];
    let noted = Arc::clone(&folded);
    let model = move |entry: &Entry<Event>| -> Result<(), Reason> {
        noted.lock().unwrap().push(format!("{:?}", entry.event));
        Ok(())
    };
    let adapter = Told { takes_ms: 800, ..Told::default() };
    let run = Executor::new(adapter).run_with(commands, model).await;
    assert!(run.is_success());
    assert_eq!(
        *folded.lock().unwrap(),
        ["Created", "PendingReview", "second command", "Approved", "third command"]
    );
}

#[tokio::test(start_paused = true)]
async fn lifecycle_6_at_the_end_all_active_pollers_are_awaited_and_every_result_is_collected() {
    let sequence: Sequence<Command> = [
        &["processing", "processing", "processing", "approved"][..],
        &["processing", "pending_review", "declined"],
    ]
    .into_iter()
    .map(|states| {
        command(move |ctx| {
            authorisation(ctx, states)?;
            Ok(vec![Event::Created])
        })
    })
    .collect();
    let run = Executor::new(Told::default()).run(sequence).await.into_result().unwrap();
    assert_eq!(
        events(&run.events),
        [Event::Created, Event::Created, Event::PendingReview, Event::Declined, Event::Approved]
    );
    let ended: Vec<_> = run.pollers.iter().map(|one| (one.command_index, one.is_done())).collect();
    assert_eq!(ended, [(1, true), (0, true)], "in the order in which they ended");
}

/// The guide's test of an adapter: its own queue, its own context, no executor.
#[tokio::test(start_paused = true)]
async fn an_adapter_is_tested_by_hand() {
    struct Payments {
        service: &'static [&'static str],
    }

    struct CreateAuthorisation;

    impl Adapter for Payments {
        type Command = CreateAuthorisation;
        type Event = Event;

        async fn execute(
            &mut self,
            _: &CreateAuthorisation,
            ctx: &Context<Event>,
        ) -> Result<Vec<Event>, Reason> {
            ctx.poll(script(self.service)).every(50.ms()).within(30.s()).handle(common::judge)?;
            Ok(vec![Event::Created])
        }
    }

    let queue = EventQueue::new();
    let ctx = Context::new(&queue, 0);
    let mut adapter = Payments { service: &["processing", "approved"] };
    let events = adapter.execute(&CreateAuthorisation, &ctx).await.unwrap();
    assert_eq!(events, [Event::Created]);
    assert_eq!(queue.drain(), []);
    sleep(100.ms()).await;
    let entries = queue.drain();
    assert!(entries.iter().any(|entry| entry.event == Event::Approved), "{entries:?}");
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_the_queue_wakes_when_something_arrives() {
    let queue = EventQueue::new();
    let ctx = Context::new(&queue, 3);
    authorisation(&ctx, &["processing", "processing", "approved"]).unwrap();
    let start = common::now();
    queue.arrived().await;
    assert_eq!(start.elapsed(), 1.s());
    assert_eq!((queue.len(), queue.is_empty()), (1, false));
    let [entry] = queue.drain().try_into().unwrap();
    assert_eq!((entry.command_index, entry.event), (3, Event::Approved));
    assert!(queue.is_empty());
}

#[tokio::test(start_paused = true)]
async fn commands_without_pollers_are_fine() {
    let executed = Count::default();
    let adapter = Told { executed: executed.clone(), takes_ms: 0 };
    let run = Executor::new(adapter)
        .run(Sequence::new().then(command(|_| Ok(vec![]))).then(command(|_| Ok(vec![]))))
        .await;
    assert!(run.is_success());
    assert_eq!((executed.get(), run.commands_run), (2, 2));
    assert!(Executor::new(Told::default()).run([]).await.is_success());
}
