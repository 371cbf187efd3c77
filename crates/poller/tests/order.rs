#![cfg(test)]
//! Events have a number, a poller and a command; a batch is whole; the order is that of arrival.

mod common;

use std::future::ready;

use common::{Event, Told, authorisation, command, events};
use mainstay_poller::{
    Cause, Context, EventQueue, Executor, Mode, Outcome, PollerError, Reason, Span as _,
};

#[tokio::test(start_paused = true)]
async fn every_event_says_where_it_comes_from() {
    let commands = vec![
        command(|ctx| {
            authorisation(ctx, &["processing", "processing", "approved"])?;
            Ok(vec![Event::Created])
        }),
        command(|ctx| {
            authorisation(ctx, &["processing", "declined"])?;
            Ok(vec![Event::Created])
        }),
    ];
    let run = Executor::new(Told::default()).run(commands).await;
    let told: Vec<_> = run
        .events
        .iter()
        .map(|one| {
            let poller = one.poller.map(mainstay_poller::PollerId::get);
            (one.sequence, poller, one.command_index, one.event.clone())
        })
        .collect();
    assert_eq!(
        told,
        [
            (0, None, 0, Event::Created),
            (1, None, 1, Event::Created),
            (2, Some(2), 1, Event::Declined),
            (3, Some(1), 0, Event::Approved),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn the_events_of_a_command_come_before_those_of_the_pollers_that_it_starts() {
    let commands = vec![command(|ctx| {
        authorisation(ctx, &["pending_review", "approved"])?;
        Ok(vec![Event::Created])
    })];
    let adapter = Told { takes_ms: 5_000, ..Told::default() };
    let run = Executor::new(adapter).run(commands).await;
    assert_eq!(events(&run.events), [Event::Created, Event::PendingReview, Event::Approved]);
    assert!(run.events.is_sorted_by_key(|entry| entry.sequence));
}

#[tokio::test(start_paused = true)]
async fn what_pollers_of_earlier_commands_tell_meanwhile_is_not_held_back() {
    let commands = vec![
        command(|ctx| {
            authorisation(ctx, &["processing", "processing", "approved"])?;
            Ok(vec![])
        }),
        command(|_| Ok(vec![Event::Created])),
    ];
    let adapter = Told { takes_ms: 900, ..Told::default() };
    let run = Executor::new(adapter).run(commands).await;
    assert_eq!(events(&run.events), [Event::Approved, Event::Created]);
}

#[tokio::test(start_paused = true)]
async fn of_a_command_that_fails_the_pollers_are_heard() {
    let commands = vec![command(|ctx| {
        authorisation(ctx, &["pending_review", "approved"])?;
        Err(Reason::from("the rest failed"))
    })];
    let executor = Executor::builder(Told { takes_ms: 100, ..Told::default() });
    let run = executor.mode(Mode::Record).build().run(commands).await;
    assert_eq!(events(&run.events), [Event::PendingReview, Event::Approved]);
    assert_eq!(run.failures.len(), 1);
}

/// Many pollers on several threads tell batches at once: each comes whole and in the order of its poller.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_is_whole_in_the_queue() {
    const POLLERS: u32 = 50;
    const BATCH: u32 = 20;
    let queue = EventQueue::new();
    let ctx = Context::new(&queue, 0);
    let pollers: Vec<_> = (0..POLLERS)
        .map(|_| {
            let watch = ctx.poll(|| ready(())).every(1.s()).within(60.s());
            watch.handle(|()| Outcome::done_all((0..BATCH).map(Event::Item))).unwrap()
        })
        .collect();
    for poller in pollers {
        poller.wait().await;
    }
    let entries = queue.drain();
    assert_eq!(entries.len(), usize::try_from(POLLERS * BATCH).unwrap());
    for batch in entries.chunks(usize::try_from(BATCH).unwrap()) {
        assert!(batch.iter().all(|entry| entry.poller == batch[0].poller));
        assert_eq!(events(batch), (0..BATCH).map(Event::Item).collect::<Vec<_>>());
    }
    let numbers: Vec<u64> = entries.iter().map(|entry| entry.sequence).collect();
    assert_eq!(numbers, (0..u64::from(POLLERS * BATCH)).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_finds_no_room_is_refused_as_a_whole_and_its_poller_fails() {
    let queue = EventQueue::with_capacity(3);
    let ctx = Context::new(&queue, 0);
    let watch = |most: u32| {
        let watch = ctx.poll(|| ready(())).every(1.s()).within(60.s());
        watch.handle(move |()| Outcome::done_all((0..most).map(Event::Item))).unwrap()
    };
    assert!(watch(2).wait().await.is_done());
    let refused = watch(2).wait().await;
    assert!(matches!(refused.error(), Some(PollerError::QueueFull { capacity: 3 })));
    assert!(watch(1).wait().await.is_done(), "one has room");
    assert_eq!(events(&queue.drain()), [Event::Item(0), Event::Item(1), Event::Item(0)]);
    assert!(watch(3).wait().await.is_done(), "a drained queue has room");
}

#[tokio::test(start_paused = true)]
async fn events_of_a_command_that_find_no_room_are_a_failure() {
    let commands = vec![command(|_| Ok(vec![Event::Created, Event::Created]))];
    let executor = Executor::builder(Told::default()).queue_capacity(1).build();
    let run = executor.run(commands).await;
    assert!(matches!(run.failures[0].cause, Cause::QueueFull { capacity: 1 }));
}
