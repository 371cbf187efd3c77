//! What is tried in many orders.

use mainstay_poller::{
    Cause, Context, EventQueue, Executor, Limit, Mode, PollerError, Run, State, Status,
};
use shuttle::future::{block_on, spawn, yield_now};

use crate::world::{BATCH, Command, Event, Fate, Turns, World, assert_whole, start};

fn context() -> (EventQueue<Event>, Context<Event>) {
    let queue = EventQueue::new();
    let ctx = Context::with_clock(&queue, 0, Turns::new());
    (queue, ctx)
}

pub(crate) fn after_stop_nothing_is_told_and_who_waits_always_wakes() {
    block_on(async {
        let (queue, ctx) = context();
        let poller = start(&ctx, 1, Fate::Settles).unwrap();
        let (waited, also) = (poller.clone(), poller.clone());
        let waiting = spawn(async move { waited.wait().await });
        let also_waiting = spawn(async move { also.wait().await });
        yield_now().await;
        poller.stop();
        let told = queue.len();
        let status = poller.wait().await;
        assert_eq!(queue.len(), told, "it told something after it was stopped");
        assert_eq!(usize::try_from(status.event_count).unwrap(), told);
        assert!(!status.is_running());
        for other in [waiting, also_waiting] {
            assert_eq!(other.await.unwrap().event_count, status.event_count);
        }
        assert_whole(&queue.drain());
        assert!(ctx.pollers().is_empty());
    });
}

pub(crate) fn batches_are_whole_numbered_without_gaps_and_drained_once() {
    const POLLERS: u64 = 3;
    block_on(async {
        let (queue, ctx) = context();
        let pollers: Vec<_> =
            (0..POLLERS).map(|number| start(&ctx, number, Fate::Settles).unwrap()).collect();
        let all = usize::try_from(POLLERS * 2 * u64::from(BATCH)).unwrap();
        let mut drained = Vec::new();
        while drained.len() < all {
            queue.arrived().await;
            let batch = queue.drain();
            assert_eq!(batch.len() % usize::try_from(BATCH).unwrap(), 0, "half a batch");
            drained.extend(batch);
        }
        for poller in pollers {
            assert!(poller.wait().await.is_done());
        }
        assert_whole(&drained);
        assert!(queue.is_empty());
    });
}

pub(crate) fn a_dropped_context_ends_every_poller() {
    block_on(async {
        let (_queue, ctx) = context();
        let fates = [Fate::Settles, Fate::Breaks, Fate::Hangs];
        let pollers = fates.map(|fate| start(&ctx, 1, fate).unwrap());
        yield_now().await;
        drop(ctx);
        for poller in pollers {
            assert!(!poller.wait().await.is_running());
        }
    });
}

fn command(number: u64, fate: Fate) -> Command {
    Command { number, fate, needs: None }
}

fn executor(mode: Mode) -> Executor<World> {
    Executor::builder(World).mode(mode).clock(Turns::new()).build()
}

/// Every poller that was started is told once.
fn assert_all_told(run: &Run<Event>) {
    let mut ids: Vec<u64> = run.pollers.iter().map(|status| status.id.get()).collect();
    ids.sort_unstable();
    let started = u64::try_from(run.commands_run).unwrap();
    assert_eq!(ids, (1..=started).collect::<Vec<_>>(), "{run:?}");
    assert!(run.pollers.iter().all(|status| !status.is_running()));
    assert_whole(&run.events);
}

fn failed(statuses: &[Status]) -> impl Iterator<Item = &Status> {
    statuses.iter().filter(|status| status.error().is_some())
}

pub(crate) fn a_run_reports_every_poller_and_the_first_error_in_time() {
    block_on(async {
        let commands =
            [command(0, Fate::Breaks), command(1, Fate::Settles), command(2, Fate::Hangs)];
        let run = executor(Mode::Record).run(commands).await;
        assert_all_told(&run);
        assert_eq!(run.failures.len(), 2, "{:?}", run.failures);
        let hung = run.pollers.iter().find(|status| status.command_index == 2).unwrap();
        let Some(PollerError::Timeout(info)) = hung.error() else { panic!("{hung:?}") };
        assert_eq!(info.limit, Limit::Time);

        let commands =
            [command(0, Fate::Breaks), command(1, Fate::Breaks), command(2, Fate::Hangs)];
        let run = executor(Mode::Halt).run(commands).await;
        assert_all_told(&run);
        let [failure] = run.failures.as_slice() else { panic!("{:?}", run.failures) };
        let first = failed(&run.pollers).next().unwrap();
        assert!(matches!(failure.cause, Cause::Poller { id, .. } if id == first.id), "{run:?}");
        assert_eq!(failure.command_index, first.command_index);
    });
}

pub(crate) fn a_cancelled_run_ends_whatever_goes_on() {
    block_on(async {
        let commands = [command(0, Fate::Settles), command(1, Fate::Hangs)];
        let executor = executor(Mode::Record);
        let observer = executor.observer();
        let running = spawn(executor.run(commands));
        for _ in 0..3 {
            yield_now().await;
        }
        observer.cancel();
        let run = running.await.unwrap();
        // Where all had ended before, it is a run like any other.
        if run.is_cancelled {
            assert!(!run.is_success());
        }
        assert!(run.pollers.iter().all(|status| !matches!(status.state, State::Running)));
        assert!(observer.pollers().is_empty());
    });
}

pub(crate) fn a_command_that_waits_for_an_event_never_misses_it() {
    block_on(async {
        let commands = [
            command(0, Fate::Settles),
            Command { number: 1, fate: Fate::Settles, needs: Some(0) },
            Command { number: 2, fate: Fate::Settles, needs: Some(1) },
        ];
        let run = executor(Mode::Halt).run(commands).await;
        assert!(run.is_success(), "{run:?}");
        assert_eq!(run.commands_run, 3);
        assert_all_told(&run);
    });
}
