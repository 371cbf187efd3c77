//! What a poller and its handles know together.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::time::Instant;

use super::status::{PollerId, State, Status};
use crate::bell::Bell;
use crate::clock::Clock;
use crate::error::PollerError;
use crate::observed::Observed;
use crate::raised::Raised;
use crate::sync::{Mutex, lock};
use crate::timeout::{Limit, OnTimeout, TimeoutInfo};

pub(crate) struct Shared {
    id: PollerId,
    start: Start,
    clock: Arc<dyn Clock>,
    started: Instant,
    known: Mutex<Known>,
    /// Rings when the task is gone.
    gone: Bell,
}

/// How a poller was started.
#[derive(Debug)]
pub(crate) struct Start {
    command_index: usize,
    within: Duration,
    /// What becomes of it when it is given up. A function that decides can't be asked then.
    given_up: OnTimeout,
    /// Whether it runs on its own, or within a command that waits for it.
    is_background: bool,
}

struct Known {
    state: State,
    /// Since when the sequence waits no longer: the task is to decide about its timeout now.
    cut_off_at: Option<Instant>,
    /// The task, its poll included, has been dropped.
    is_gone: bool,
    polls: u64,
    skipped: u64,
    events: u64,
    last: Option<Observed>,
    /// How long it ran, once it has ended.
    elapsed: Option<Duration>,
    task: Option<Waker>,
}

/// Why a task was interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interrupt {
    Stopped,
    CutOff,
}

impl Shared {
    pub(crate) fn new(id: PollerId, start: Start, clock: Arc<dyn Clock>) -> Self {
        let known = Known {
            state: State::Running,
            cut_off_at: None,
            is_gone: false,
            polls: 0,
            skipped: 0,
            events: 0,
            last: None,
            elapsed: None,
            task: None,
        };
        let started = clock.now();
        Self { id, start, clock, started, known: Mutex::new(known), gone: Bell::default() }
    }

    pub(crate) fn id(&self) -> PollerId {
        self.id
    }

    pub(crate) fn command_index(&self) -> usize {
        self.start.command_index
    }

    pub(crate) fn is_background(&self) -> bool {
        self.start.is_background
    }

    /// When it has ended by itself at the latest.
    pub(crate) fn deadline(&self) -> Instant {
        self.moment(self.start.within)
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// The moment that is so long after the start.
    pub(crate) fn moment(&self, since_start: Duration) -> Instant {
        self.started.checked_add(since_start).unwrap_or(self.started)
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.clock.now().saturating_duration_since(self.started)
    }

    pub(crate) fn polls(&self) -> u64 {
        lock(&self.known).polls
    }

    pub(crate) fn skipped(&self) -> u64 {
        lock(&self.known).skipped
    }

    pub(crate) fn poll_started(&self) {
        let mut known = lock(&self.known);
        known.polls = known.polls.saturating_add(1);
    }

    pub(crate) fn poll_skipped(&self) {
        let mut known = lock(&self.known);
        known.skipped = known.skipped.saturating_add(1);
    }

    pub(crate) fn answered(&self, result: Observed) {
        let before = lock(&self.known).last.replace(result);
        // Its drop is code of the caller: not under the lock.
        drop(before);
    }

    /// Tells events, unless the poller has ended: who stopped it hears nothing more of it. With `end` it
    /// ends in the same moment.
    pub(crate) fn tell<F>(
        &self,
        count: usize,
        end: Option<State>,
        tell: impl FnOnce() -> Result<(), F>,
    ) -> Result<(), F> {
        let mut known = lock(&self.known);
        if !known.is_running() {
            return Ok(());
        }
        tell()?;
        known.events = known.events.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
        if let Some(state) = end {
            known.end(state, self.elapsed());
        }
        Ok(())
    }

    /// Ends it, unless it has ended.
    pub(crate) fn end(&self, state: State) {
        let mut known = lock(&self.known);
        if known.is_running() {
            known.end(state, self.elapsed());
        }
    }

    /// Stops it: it tells nothing from now on, and its task is dropped as soon as it can be.
    pub(crate) fn stop(&self) {
        let task = {
            let mut known = lock(&self.known);
            if known.is_running() {
                known.end(State::Stopped, self.elapsed());
            }
            known.task.take()
        };
        wake(task);
    }

    /// Makes it decide about its timeout now.
    pub(crate) fn cut_off(&self) {
        let task = {
            let mut known = lock(&self.known);
            known.cut_off_at.get_or_insert(self.clock.now());
            known.task.take()
        };
        wake(task);
    }

    /// When it was cut off.
    pub(crate) fn cut_off_at(&self) -> Option<Instant> {
        lock(&self.known).cut_off_at
    }

    /// It did not even decide about its timeout, because its poll never yields: it is given up.
    pub(crate) fn abandon(&self) -> Status {
        let mut known = lock(&self.known);
        if known.is_running() {
            let info = TimeoutInfo {
                elapsed: self.elapsed(),
                poll_count: known.polls,
                skipped_count: known.skipped,
                last_result: known.last.clone(),
                limit: Limit::Sequence,
            };
            known.end(self.start.given_up.clone().state(info), self.elapsed());
        }
        self.status_of(&known)
    }

    /// The task is gone, with all that it held.
    pub(crate) fn leave(&self) -> Status {
        let state = if std::thread::panicking() {
            State::Failed(PollerError::poll(Raised::unseen()))
        } else {
            State::Stopped
        };
        let mut known = lock(&self.known);
        if known.is_running() {
            known.end(state, self.elapsed());
        }
        known.is_gone = true;
        known.task = None;
        self.status_of(&known)
    }

    pub(crate) fn ring_gone(&self) {
        self.gone.ring();
    }

    pub(crate) fn status(&self) -> Status {
        self.status_of(&lock(&self.known))
    }

    /// Ends when the task is gone.
    pub(crate) async fn gone(&self) -> Status {
        loop {
            let mut rung = pin!(self.gone.listen());
            rung.as_mut().enable();
            {
                let known = lock(&self.known);
                if known.is_gone {
                    return self.status_of(&known);
                }
            }
            rung.await;
        }
    }

    /// Runs `future` until it ends, or is to end early.
    pub(crate) async fn until_interrupted<F: Future>(
        &self,
        mut future: Pin<&mut F>,
    ) -> Result<F::Output, Interrupt> {
        poll_fn(|context| match self.interrupt(context) {
            Some(interrupt) => Poll::Ready(Err(interrupt)),
            None => future.as_mut().poll(context).map(Ok),
        })
        .await
    }

    fn interrupt(&self, context: &Context<'_>) -> Option<Interrupt> {
        let mut known = lock(&self.known);
        if !known.is_running() {
            return Some(Interrupt::Stopped);
        }
        if known.cut_off_at.is_some() {
            return Some(Interrupt::CutOff);
        }
        if !known.task.as_ref().is_some_and(|task| task.will_wake(context.waker())) {
            known.task = Some(context.waker().clone());
        }
        None
    }

    fn status_of(&self, known: &Known) -> Status {
        Status {
            id: self.id,
            command_index: self.start.command_index,
            state: known.state.clone(),
            poll_count: known.polls,
            skipped_count: known.skipped,
            event_count: known.events,
            elapsed: known.elapsed.unwrap_or_else(|| self.elapsed()),
            last_result: known.last.clone(),
        }
    }
}

impl Start {
    pub(crate) fn background(command_index: usize, within: Duration, given_up: OnTimeout) -> Self {
        Self { command_index, within, given_up, is_background: true }
    }

    pub(crate) fn waiting(command_index: usize, within: Duration) -> Self {
        Self { command_index, within, given_up: OnTimeout::Fail, is_background: false }
    }
}

impl Known {
    fn is_running(&self) -> bool {
        matches!(self.state, State::Running)
    }

    fn end(&mut self, state: State, elapsed: Duration) {
        debug_assert!(self.is_running(), "a poller ends once");
        self.state = state;
        self.elapsed = Some(elapsed);
    }
}

fn wake(task: Option<Waker>) {
    if let Some(task) = task {
        task.wake();
    }
}
