//! What a command is executed in: it starts pollers and waits for resources.

use std::fmt;
use std::sync::Arc;

use crate::chance::Chance;
use crate::clock::{Clock, SystemClock};
use crate::poller::{Ledger, Status};
use crate::queue::EventQueue;
use crate::watch::{Background, Unscheduled, Waiting};

/// What a command is executed in. It starts pollers and waits for resources.
///
/// An executor hands one to every command. A test of an adapter makes one of its own, looks at the
/// queue, and stops the pollers by dropping the context.
pub struct Context<E> {
    home: Arc<Home<E>>,
    command_index: usize,
}

/// What the pollers of one owner share. When the last holder of it goes, they are stopped: their tasks
/// hold its parts, never itself.
pub(crate) struct Home<E> {
    pub(crate) queue: EventQueue<E>,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) seed: u64,
}

impl<E> Context<E> {
    /// A context without an executor, whose pollers tell their events to `queue`.
    #[must_use]
    pub fn new(queue: &EventQueue<E>, command_index: usize) -> Self {
        Self::with_clock(queue, command_index, SystemClock)
    }

    /// The same with a clock of the caller's own.
    #[must_use]
    pub fn with_clock(queue: &EventQueue<E>, command_index: usize, clock: impl Clock) -> Self {
        let home = Home::new(queue.clone(), Arc::new(clock), Chance::any_seed());
        Self::within(Arc::new(home), command_index)
    }

    pub(crate) fn within(home: Arc<Home<E>>, command_index: usize) -> Self {
        Self { home, command_index }
    }

    /// Which command of the sequence this is.
    #[must_use]
    pub fn command_index(&self) -> usize {
        self.command_index
    }

    /// Polls a resource in the background. The poller is started by its handler and returns at once;
    /// an interval and a time must be given before, which the compiler sees to.
    pub fn poll<P, F>(&self, poll: P) -> Unscheduled<Background<'_, E>, P>
    where
        P: FnMut() -> F,
        F: Future,
    {
        Unscheduled::new(Background(self), poll)
    }

    /// Waits until a resource has settled, and returns its final events: see [`settle`](crate::settle).
    pub fn settle<P, F>(&self, poll: P) -> Unscheduled<Waiting<'_, E>, P>
    where
        P: FnMut() -> F,
        F: Future,
    {
        Unscheduled::new(Waiting(Some(self)), poll)
    }

    /// How the active pollers are, in the order in which they were started.
    #[must_use]
    pub fn pollers(&self) -> Vec<Status> {
        self.home.ledger.statuses()
    }

    pub(crate) fn home(&self) -> &Home<E> {
        &self.home
    }
}

impl<E> Home<E> {
    pub(crate) fn new(queue: EventQueue<E>, clock: Arc<dyn Clock>, seed: u64) -> Self {
        Self { queue, ledger: Arc::new(Ledger::new()), clock, seed }
    }
}

impl<E> Drop for Home<E> {
    fn drop(&mut self) {
        self.ledger.stop_all();
    }
}

impl<E> fmt::Debug for Context<E> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Context")
            .field("command_index", &self.command_index)
            .finish_non_exhaustive()
    }
}
