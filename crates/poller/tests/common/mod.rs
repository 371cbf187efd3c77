//! What the tests share: a resource that settles by a script, and a command that does what it is told.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::future::{Ready, pending, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mainstay_poller::{
    Adapter, Clock as _, Context, Entry, Handle, Outcome, Reason, Span as _, SystemClock,
};
use tokio::time::Instant;

/// An event of the tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    Created,
    PendingReview,
    Approved,
    Declined,
    Item(u32),
}

/// What the resource of the tests answers.
pub(crate) type Answer = Result<&'static str, &'static str>;

/// Now, by tokio's clock.
pub(crate) fn now() -> Instant {
    SystemClock.now()
}

/// How often something happened.
#[derive(Debug, Clone, Default)]
pub(crate) struct Count(Arc<AtomicU64>);

impl Count {
    pub(crate) fn add(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Counts when it is dropped.
#[derive(Debug)]
pub(crate) struct Dropped(pub(crate) Count);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.add();
    }
}

/// A poll that hangs, and counts when it is dropped.
pub(crate) fn hanging(
    dropped: &Count,
) -> impl FnMut() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + 'static {
    let dropped = dropped.clone();
    move || {
        let held = Dropped(dropped.clone());
        Box::pin(async move {
            let _held = held;
            pending::<()>().await;
        })
    }
}

/// A poll that answers by a script, and then with its last line for ever.
pub(crate) fn script(
    states: &'static [&'static str],
) -> impl FnMut() -> Ready<&'static str> + Send + 'static {
    let mut at = 0;
    move || {
        let state = states.get(at).or(states.last()).copied().unwrap_or("nothing");
        at += 1;
        ready(state)
    }
}

/// The handler of the authorisation.
pub(crate) fn judge(state: &&'static str) -> Outcome<Event> {
    match *state {
        "processing" => Outcome::Continue,
        "pending_review" => Outcome::inject(Event::PendingReview),
        "approved" => Outcome::done(Event::Approved),
        "declined" => Outcome::done(Event::Declined),
        "broken" => Outcome::error("the resource is broken"),
        other => Outcome::error(format!("{other} is no state")),
    }
}

pub(crate) fn events<E: Clone>(entries: &[Entry<E>]) -> Vec<E> {
    entries.iter().map(|entry| entry.event.clone()).collect()
}

/// A command of the tests: does as it is told.
pub(crate) type Command = Box<dyn Fn(&Context<Event>) -> Result<Vec<Event>, Reason> + Send + Sync>;

pub(crate) fn command(
    execute: impl Fn(&Context<Event>) -> Result<Vec<Event>, Reason> + Send + Sync + 'static,
) -> Command {
    Box::new(execute)
}

/// A command that takes so long and does nothing else.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) executed: Count,
    /// How long each command takes, after it has done what it does.
    pub(crate) takes_ms: u64,
}

impl Adapter for Told {
    type Command = Command;
    type Event = Event;

    async fn execute(
        &mut self,
        command: &Command,
        ctx: &Context<Event>,
    ) -> Result<Vec<Event>, Reason> {
        self.executed.add();
        let told = command(ctx);
        if self.takes_ms > 0 {
            tokio::time::sleep(self.takes_ms.ms()).await;
        }
        told
    }
}

/// Starts a poller that goes by a script, every 500 ms for 30 s.
pub(crate) fn authorisation(
    ctx: &Context<Event>,
    states: &'static [&'static str],
) -> Result<Handle, Reason> {
    Ok(ctx.poll(script(states)).every(500.ms()).within(30.s()).handle(judge)?)
}

/// A clock by which every sleep is over at once: no real time passes in a test that can't be paused.
#[derive(Debug)]
pub(crate) struct Hurried(std::sync::Mutex<Instant>);

impl Hurried {
    pub(crate) fn new() -> Self {
        Self(std::sync::Mutex::new(now()))
    }
}

impl mainstay_poller::Clock for Hurried {
    fn now(&self) -> Instant {
        *self.0.lock().unwrap()
    }

    fn sleep_until(&self, moment: Instant) -> mainstay_poller::Sleep {
        let mut now = self.0.lock().unwrap();
        *now = moment.max(*now);
        Box::pin(async { tokio::task::yield_now().await })
    }
}
