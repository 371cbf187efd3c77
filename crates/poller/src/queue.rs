//! The event queue: what commands and pollers tell, in the order in which it arrived.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use crate::bell::Bell;
use crate::poller::{PollerId, Status};
use crate::sync::{Mutex, lock};

/// How many events a queue holds unless it is told otherwise.
pub const DEFAULT_CAPACITY: usize = 65_536;

/// An event and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry<E> {
    /// Its number in the queue: from 0, without gaps, in the order of arrival.
    pub sequence: u64,
    /// The poller that told it, or none where the command itself did.
    pub poller: Option<PollerId>,
    /// Which command of the sequence it belongs to.
    pub command_index: usize,
    /// The event.
    pub event: E,
}

/// Keeps events until they are drained. Clones are the same queue. It is bounded: a batch that finds no
/// room is refused as a whole.
pub struct EventQueue<E>(Arc<Inner<E>>);

struct Inner<E> {
    capacity: usize,
    held: Mutex<Held<E>>,
    bell: Arc<Bell>,
}

/// What is told of a poller or command: a batch of events, or that a poller has ended.
pub(crate) enum Arrival<E> {
    Event(Entry<E>),
    Ended(Status),
}

struct Held<E> {
    arrivals: VecDeque<Arrival<E>>,
    /// The command that runs. Its own events come before those of the pollers that it starts.
    running: Option<usize>,
    /// What pollers of the running command told meanwhile, and who has ended since.
    waiting: Vec<Waiting<E>>,
    events: usize,
    next: u64,
    /// Whether somebody wants to know in which order pollers ended among the events.
    keeps_ends: bool,
}

enum Waiting<E> {
    Batch(Source, Vec<E>),
    Ended(Status),
}

/// Who tells a batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source {
    pub(crate) poller: Option<PollerId>,
    pub(crate) command_index: usize,
}

/// A batch found no room. It is given back, so that its events are not dropped under a lock.
pub(crate) struct Full<E> {
    pub(crate) capacity: usize,
    _batch: Vec<E>,
}

impl<E> EventQueue<E> {
    /// An empty queue for [`DEFAULT_CAPACITY`] events.
    #[must_use]
    pub fn new() -> Self {
        Self::with_capacity(DEFAULT_CAPACITY)
    }

    /// An empty queue for so many events.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        let held = Held {
            arrivals: VecDeque::new(),
            running: None,
            waiting: Vec::new(),
            events: 0,
            next: 0,
            keeps_ends: false,
        };
        Self(Arc::new(Inner { capacity, held: Mutex::new(held), bell: Arc::default() }))
    }

    /// Takes all events that have arrived.
    #[must_use = "what is drained is gone from the queue"]
    pub fn drain(&self) -> Vec<Entry<E>> {
        let events = |arrival| match arrival {
            Arrival::Event(entry) => Some(entry),
            Arrival::Ended(_) => None,
        };
        self.arrivals().into_iter().filter_map(events).collect()
    }

    /// How many events wait to be drained.
    #[must_use]
    pub fn len(&self) -> usize {
        lock(&self.0.held).events
    }

    /// Whether none waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Ends when there is something to drain.
    pub async fn arrived(&self) {
        loop {
            let rung = self.0.bell.listen();
            let mut rung = std::pin::pin!(rung);
            rung.as_mut().enable();
            if !lock(&self.0.held).arrivals.is_empty() {
                return;
            }
            rung.await;
        }
    }

    pub(crate) fn bell(&self) -> &Arc<Bell> {
        &self.0.bell
    }

    pub(crate) fn arrivals(&self) -> VecDeque<Arrival<E>> {
        let mut held = lock(&self.0.held);
        held.events = held.waiting.iter().map(Waiting::len).sum();
        std::mem::take(&mut held.arrivals)
    }

    /// From now on, who drains this queue hears of every poller that ends.
    pub(crate) fn keep_ends(&self) {
        lock(&self.0.held).keeps_ends = true;
    }

    /// A command begins.
    pub(crate) fn begin(&self, command_index: usize) {
        lock(&self.0.held).running = Some(command_index);
    }

    /// The command has ended, with these events of its own. What its pollers told comes after them.
    pub(crate) fn end(&self, command_index: usize, events: Vec<E>) -> Result<(), Full<E>> {
        let mut held = lock(&self.0.held);
        held.running = None;
        let told = held.admit(self.0.capacity, events).map(|events| {
            held.number(Source { poller: None, command_index }, events);
        });
        for waiting in std::mem::take(&mut held.waiting) {
            match waiting {
                Waiting::Batch(source, batch) => held.number(source, batch),
                Waiting::Ended(status) => held.arrivals.push_back(Arrival::Ended(status)),
            }
        }
        drop(held);
        self.0.bell.ring();
        told
    }

    /// Puts a poller's batch in, as a whole or not at all. Whoever does so rings the bell.
    pub(crate) fn push(&self, source: Source, batch: Vec<E>) -> Result<(), Full<E>> {
        let mut held = lock(&self.0.held);
        let batch = held.admit(self.0.capacity, batch)?;
        if held.running == Some(source.command_index) {
            held.waiting.push(Waiting::Batch(source, batch));
        } else {
            held.number(source, batch);
        }
        Ok(())
    }

    /// A poller has ended.
    pub(crate) fn push_end(&self, status: Status) {
        let mut held = lock(&self.0.held);
        if !held.keeps_ends {
            return;
        }
        // Behind what is held back, whoever told it: of two errors the first in time stays the first.
        if held.waiting.is_empty() {
            held.arrivals.push_back(Arrival::Ended(status));
        } else {
            held.waiting.push(Waiting::Ended(status));
        }
    }
}

impl<E> Waiting<E> {
    fn len(&self) -> usize {
        match self {
            Self::Batch(_, batch) => batch.len(),
            Self::Ended(_) => 0,
        }
    }
}

impl<E> Held<E> {
    fn admit(&mut self, capacity: usize, batch: Vec<E>) -> Result<Vec<E>, Full<E>> {
        let events = self.events.saturating_add(batch.len());
        if events > capacity {
            return Err(Full { capacity, _batch: batch });
        }
        self.events = events;
        Ok(batch)
    }

    fn number(&mut self, source: Source, batch: Vec<E>) {
        let Source { poller, command_index } = source;
        for event in batch {
            let entry = Entry { sequence: self.next, poller, command_index, event };
            self.next = self.next.saturating_add(1);
            self.arrivals.push_back(Arrival::Event(entry));
        }
    }
}

impl<E> Clone for EventQueue<E> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E> fmt::Debug for EventQueue<E> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("EventQueue").field("len", &self.len()).finish_non_exhaustive()
    }
}
