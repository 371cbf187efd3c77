//! Goes through a sequence, and waits for its pollers at the end.

use std::future::poll_fn;
use std::ops::ControlFlow;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tokio::sync::futures::Notified;
use tokio::time::Instant;

use super::observer::Cancel;
use super::progress::Progress;
use super::{Cause, Executor, Model, Run};
use crate::adapter::Adapter;
use crate::clock::Clock;
use crate::context::{Context, Home};
use crate::poller::Shared;
use crate::queue::Full;

/// How long a run waits for pollers that it has told to stop. Who has not yielded by then is given up.
pub const CANCEL_WITHIN: Duration = Duration::from_secs(1);

type Flow = ControlFlow<()>;

/// A run on its way.
struct Steps<A: Adapter, M> {
    adapter: A,
    home: Arc<Home<A::Event>>,
    cancel: Arc<Cancel>,
    progress: Progress<A::Event, M>,
}

pub(super) async fn run<A: Adapter, M: Model<A::Event>>(
    executor: Executor<A>,
    commands: &[A::Command],
    model: M,
) -> Run<A::Event, M> {
    let Executor { adapter, mode, wait_for, home, cancel } = executor;
    let mut steps = Steps { adapter, home, cancel, progress: Progress::new(mode, model) };
    for (index, command) in commands.iter().enumerate() {
        if steps.step(index, command).await.is_break() {
            break;
        }
    }
    steps.settle(wait_for).await;
    steps.stop().await;
    steps.progress.into_run()
}

impl<A: Adapter, M: Model<A::Event>> Steps<A, M> {
    /// Executes one command and takes in what has arrived.
    async fn step(&mut self, index: usize, command: &A::Command) -> Flow {
        if self.until_ready(index, command).await.is_break() {
            return self.progress.flow();
        }
        let context = Context::within(Arc::clone(&self.home), index);
        self.home.queue.begin(index);
        let executed = {
            let command = pin!(self.adapter.execute(command, &context));
            let cancelled = pin!(self.cancel.asked(self.home.queue.bell()));
            first(command, cancelled).await
        };
        let (events, failure) = match executed {
            Some(Ok(events)) => (events, None),
            Some(Err(reason)) => (Vec::new(), Some(Cause::Command(reason))),
            None => (Vec::new(), None),
        };
        let told = self.home.queue.end(index, events);
        self.progress.command_ran();
        self.collect();
        if let Some(cause) = failure {
            self.progress.fail(index, cause);
        }
        if let Err(Full { capacity, .. }) = told {
            self.progress.fail(index, Cause::QueueFull { capacity });
        }
        self.progress.flow()
    }

    /// Waits for what the command needs, as long as a poller may tell it. It breaks when the command is
    /// not to be executed.
    async fn until_ready(&mut self, index: usize, command: &A::Command) -> Flow {
        let bell = Arc::clone(self.home.queue.bell());
        let clock = Arc::clone(&self.home.clock);
        let mut end = self.next_overdue();
        loop {
            let mut rung = pin!(bell.listen());
            rung.as_mut().enable();
            // Asked first: who is gone by now has told everything before.
            let is_anybody_left = self.home.ledger.has_background();
            self.collect();
            self.progress.flow()?;
            if self.adapter.is_ready(command, self.progress.events()) {
                return Flow::Continue(());
            }
            if !is_anybody_left {
                self.progress.fail(index, Cause::NeverReady);
                return Flow::Break(());
            }
            if rung_before(&*clock, end, rung).await.is_break() {
                self.give_up_overdue();
                end = self.next_overdue();
            }
        }
    }

    /// When to look again for a poller that should have ended by itself.
    fn next_overdue(&self) -> Instant {
        let pollers = self.home.ledger.background();
        pollers
            .iter()
            .map(|poller| overdue(poller))
            .min()
            .unwrap_or_else(|| soon(&*self.home.clock))
    }

    /// Who is overdue is told to decide about its timeout, and given up if it does not even do that.
    fn give_up_overdue(&mut self) {
        let now = self.home.clock.now();
        for poller in self.home.ledger.background() {
            if overdue(&poller) > now {
                continue;
            }
            match poller.cut_off_at() {
                Some(_) => self.give_up(&poller),
                None => poller.cut_off(),
            }
        }
    }

    /// Waits for every poller. At the latest when each must have ended by itself, those that have not are
    /// told to decide about their timeout.
    async fn settle(&mut self, wait_for: Option<Duration>) {
        let clock = Arc::clone(&self.home.clock);
        let latest = self.home.ledger.background().iter().map(|poller| poller.deadline()).max();
        let patience = wait_for.and_then(|time| clock.now().checked_add(time));
        let overdue = latest.and_then(|latest| latest.checked_add(CANCEL_WITHIN));
        let Some(end) = patience.into_iter().chain(overdue).min() else {
            self.collect();
            return;
        };
        if self.until_ended(end).await.is_break() {
            return;
        }
        for poller in self.home.ledger.background() {
            poller.cut_off();
        }
        let _ = self.until_ended(soon(&*clock)).await;
        if self.progress.flow().is_continue() {
            self.abandon();
        }
    }

    /// Stops what is still active, within a bounded time.
    async fn stop(&mut self) {
        self.home.ledger.stop_all();
        let bell = Arc::clone(self.home.queue.bell());
        let clock = Arc::clone(&self.home.clock);
        let end = soon(&*clock);
        loop {
            let mut rung = pin!(bell.listen());
            rung.as_mut().enable();
            if !self.home.ledger.has_background() {
                break;
            }
            if rung_before(&*clock, end, rung).await.is_break() {
                break;
            }
        }
        self.abandon();
    }

    /// Takes in what arrives until no poller is left or the run is halted: then it breaks.
    async fn until_ended(&mut self, end: Instant) -> Flow {
        let bell = Arc::clone(self.home.queue.bell());
        let clock = Arc::clone(&self.home.clock);
        loop {
            let mut rung = pin!(bell.listen());
            rung.as_mut().enable();
            let is_anybody_left = self.home.ledger.has_background();
            self.collect();
            self.progress.flow()?;
            if !is_anybody_left {
                return Flow::Break(());
            }
            if rung_before(&*clock, end, rung).await.is_break() {
                return Flow::Continue(());
            }
        }
    }

    /// Reports those whose polls never yield: nobody can drop them.
    fn abandon(&mut self) {
        for poller in self.home.ledger.background() {
            self.give_up(&poller);
        }
        self.collect();
    }

    fn give_up(&self, poller: &Shared) {
        let status = poller.abandon();
        self.home.ledger.leave(poller.id(), || self.home.queue.push_end(status));
    }

    fn collect(&mut self) {
        for arrival in self.home.queue.arrivals() {
            self.progress.take(arrival);
        }
        if self.cancel.is_asked() {
            self.progress.cancel();
        }
    }
}

/// By when it must have ended, or have done what it was told when it was cut off.
fn overdue(poller: &Shared) -> Instant {
    let end = poller.cut_off_at().unwrap_or_else(|| poller.deadline());
    end.checked_add(CANCEL_WITHIN).unwrap_or(end)
}

fn soon(clock: &dyn Clock) -> Instant {
    let now = clock.now();
    now.checked_add(CANCEL_WITHIN).unwrap_or(now)
}

/// Breaks when `end` comes before the bell.
async fn rung_before(clock: &dyn Clock, end: Instant, rung: Pin<&mut Notified<'_>>) -> Flow {
    match first(rung, clock.sleep_until(end).as_mut()).await {
        Some(()) => Flow::Continue(()),
        None => Flow::Break(()),
    }
}

/// What `future` says, unless `end` comes first.
async fn first<F: Future>(
    mut future: Pin<&mut F>,
    mut end: Pin<&mut (impl Future<Output = ()> + ?Sized)>,
) -> Option<F::Output> {
    poll_fn(|context| {
        if let Poll::Ready(output) = future.as_mut().poll(context) {
            return Poll::Ready(Some(output));
        }
        end.as_mut().poll(context).map(|()| None)
    })
    .await
}
