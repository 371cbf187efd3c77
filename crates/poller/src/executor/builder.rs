//! Puts an executor together.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::{Executor, Mode};
use crate::adapter::Adapter;
use crate::chance::Chance;
use crate::clock::{Clock, SystemClock};
use crate::context::Home;
use crate::queue::{DEFAULT_CAPACITY, EventQueue};

/// Puts an executor together, made by [`Executor::builder`].
#[must_use = "an executor does nothing until it runs a sequence"]
pub struct Builder<A> {
    adapter: A,
    mode: Mode,
    wait_for: Option<Duration>,
    clock: Arc<dyn Clock>,
    seed: u64,
    capacity: usize,
}

impl<A: Adapter> Builder<A> {
    pub(super) fn new(adapter: A) -> Self {
        Self {
            adapter,
            mode: Mode::default(),
            wait_for: None,
            clock: Arc::new(SystemClock),
            seed: Chance::any_seed(),
            capacity: DEFAULT_CAPACITY,
        }
    }

    /// What a failure means. Unless it is said, the first one ends the run.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// How long to wait at the end for pollers that are still active. Those that have not ended by then
    /// time out as if their own time were over. Unless it is said, each has its own time.
    pub fn wait_for(mut self, time: Duration) -> Self {
        self.wait_for = Some(time);
        self
    }

    /// Who tells the time.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Makes jitter repeat itself.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// How many events may wait between two commands.
    pub fn queue_capacity(mut self, capacity: usize) -> Self {
        self.capacity = capacity;
        self
    }

    /// Done.
    #[must_use]
    pub fn build(self) -> Executor<A> {
        let queue = EventQueue::with_capacity(self.capacity);
        queue.keep_ends();
        Executor {
            adapter: self.adapter,
            mode: self.mode,
            wait_for: self.wait_for,
            home: Arc::new(Home::new(queue, self.clock, self.seed)),
            cancel: Arc::default(),
        }
    }
}

impl<A> fmt::Debug for Builder<A> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Builder").field("mode", &self.mode).finish_non_exhaustive()
    }
}
