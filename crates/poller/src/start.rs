//! Starts pollers: on a task of their own, or within the caller's.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::chance::Chance;
use crate::clock::SystemClock;
use crate::context::Home;
use crate::error::{PollerError, StartError};
use crate::outcome::Outcome;
use crate::poller::{Handle, Ledger, PollerId, Shared, Sink, Start, State, Task};
use crate::queue::EventQueue;
use crate::sync::{can_spawn, spawn};
use crate::watch::{Background, SettleError, Waiting, Watch};

pub(crate) fn in_background<P, F, T, E, H>(
    watch: Watch<Background<'_, E>, P, T, E>,
    handler: H,
) -> Result<Handle, StartError>
where
    P: FnMut() -> F + Send + 'static,
    F: Future<Output = T> + Send + 'static,
    T: fmt::Debug + Send + Sync + 'static,
    E: Send + 'static,
    H: FnMut(&T) -> Outcome<E> + Send + 'static,
{
    let Watch { start: Background(context), poll, schedule, hooks } = watch;
    schedule.check()?;
    if !can_spawn() {
        return Err(StartError::NoRuntime);
    }
    let home = context.home();
    let background = Start::background(context.command_index(), schedule.time(), hooks.given_up());
    let shared = home.ledger.enter(background, Arc::clone(&home.clock))?;
    let chance = Chance::new(home.seed, shared.id().get());
    let sink = Sink::Queue(home.queue.clone());
    let farewell = Farewell {
        shared: Arc::clone(&shared),
        ledger: Arc::clone(&home.ledger),
        queue: home.queue.clone(),
    };
    let handle = Handle(Arc::clone(&shared));
    let task = Task { shared, poll, handler, schedule, hooks, sink, chance, last: None };
    spawn(run(farewell, task));
    home.queue.bell().ring();
    Ok(handle)
}

/// What comes last in the list is dropped first: the task goes before the farewell, with all that the
/// poll holds, also where the runtime drops it halfway.
async fn run<P, F, T, E, H>(farewell: Farewell<E>, mut task: Task<P, H, T, E>)
where
    P: FnMut() -> F + Send,
    F: Future<Output = T> + Send,
    T: fmt::Debug + Send + Sync + 'static,
    H: FnMut(&T) -> Outcome<E>,
{
    task.run().await;
    drop(task);
    drop(farewell);
}

/// Says that a poller is gone, however its task ends: also by a runtime that shuts down.
struct Farewell<E> {
    shared: Arc<Shared>,
    ledger: Arc<Ledger>,
    queue: EventQueue<E>,
}

impl<E> Drop for Farewell<E> {
    fn drop(&mut self) {
        let status = self.shared.leave();
        self.ledger.leave(self.shared.id(), || self.queue.push_end(status));
        self.shared.ring_gone();
        self.queue.bell().ring();
    }
}

pub(crate) async fn and_wait<P, F, T, E, H>(
    watch: Watch<Waiting<'_, E>, P, T, E>,
    handler: H,
) -> Result<Vec<E>, SettleError>
where
    P: FnMut() -> F + Send,
    F: Future<Output = T> + Send,
    T: fmt::Debug + Send + Sync + 'static,
    H: FnMut(&T) -> Outcome<E> + Send,
{
    let Watch { start: Waiting(context), poll, schedule, hooks } = watch;
    schedule.check().map_err(StartError::from)?;
    let home = context.map(|context| (context.home(), context.command_index()));
    let listed = Listed::enter(home, schedule.time())?;
    let shared = Arc::clone(&listed.shared);
    let chance = Chance::new(listed.seed, shared.id().get());
    let sink = Sink::Waiting(Vec::new());
    let mut task = Task { shared, poll, handler, schedule, hooks, sink, chance, last: None };
    task.run().await;
    let events = match task.sink {
        Sink::Waiting(events) => events,
        Sink::Queue(_) => Vec::new(),
    };
    match listed.shared.status().state {
        State::Failed(error) => Err(PollerError::into(error)),
        State::Done | State::TimedOut | State::Stopped | State::Running => Ok(events),
    }
}

/// A poller within a command, listed while it runs so that its status can be seen.
struct Listed {
    shared: Arc<Shared>,
    ledger: Option<Arc<Ledger>>,
    seed: u64,
}

impl Listed {
    fn enter<E>(home: Option<(&Home<E>, usize)>, within: Duration) -> Result<Self, StartError> {
        let Some((home, command_index)) = home else {
            let start = Start::waiting(0, within);
            let shared = Arc::new(Shared::new(PollerId(1), start, Arc::new(SystemClock)));
            return Ok(Self { shared, ledger: None, seed: Chance::any_seed() });
        };
        let start = Start::waiting(command_index, within);
        let shared = home.ledger.enter(start, Arc::clone(&home.clock))?;
        Ok(Self { shared, ledger: Some(Arc::clone(&home.ledger)), seed: home.seed })
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        if let Some(ledger) = &self.ledger {
            ledger.leave(self.shared.id(), || {});
        }
    }
}
