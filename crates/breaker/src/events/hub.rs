//! Keeps events in order and hands them out, one thread at a time and without a lock held.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};

use super::{Event, Listener, MAX_LISTENERS, Notice};
use crate::core::Core;
use crate::sync::{AtomicUsize, Mutex, Ordering, lock};

/// How many results and refusals wait while a listener takes its time. What comes on top is counted
/// and not told.
const MAX_WAITING: usize = 1_024;
/// State changes are few and matter more: they may wait beyond that.
const MAX_WAITING_CHANGES: usize = 4_096;

/// How many events one thread tells before it goes on with its own work: a listener that makes an
/// event of every event must not keep it for ever. The rest waits for whoever comes next.
const MAX_TOLD_AT_ONCE: usize = MAX_WAITING + MAX_WAITING_CHANGES;

/// The listeners of one breaker, and what they have not been told yet.
#[derive(Debug)]
pub(crate) struct Hub {
    /// The number of listeners, so that nobody takes the lock where nobody listens.
    listeners: AtomicUsize,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    listeners: Numbered,
    next_id: u64,
    /// Each with the number of the first subscription that came after it.
    waiting: VecDeque<(Event, u64)>,
    is_telling: bool,
    untold: u64,
    panics: u64,
}

/// Listeners with the numbers of their subscriptions.
type Numbered = Arc<[(u64, Listener)]>;

/// Keeps a listener listening: it hears nothing more when this is dropped.
#[must_use = "the listener hears nothing more when this is dropped"]
pub struct Subscription {
    core: Weak<Core>,
    id: u64,
}

impl Hub {
    pub(crate) fn new(shared: &[Listener]) -> Self {
        let listeners: Numbered = (0..).zip(shared.iter().cloned()).collect();
        let count = listeners.len();
        let (waiting, is_telling) = (VecDeque::new(), false);
        let next_id = count as u64;
        let inner = Inner { listeners, next_id, waiting, is_telling, untold: 0, panics: 0 };
        Self { listeners: AtomicUsize::new(count), inner: Mutex::new(inner) }
    }

    /// Adds a listener, if there is room.
    pub(crate) fn add(&self, listener: Listener) -> Option<u64> {
        let mut inner = lock(&self.inner);
        if inner.listeners.len() >= MAX_LISTENERS {
            return None;
        }
        let id = inner.next_id;
        inner.next_id += 1;
        let all = inner.listeners.iter().cloned().chain([(id, listener)]);
        inner.listeners = all.collect();
        self.listeners.store(inner.listeners.len(), Ordering::Relaxed);
        Some(id)
    }

    pub(crate) fn remove(&self, id: u64) {
        // The listener goes when the lock is free: what it holds may use the breaker as it goes.
        let before = {
            let mut inner = lock(&self.inner);
            let rest = inner.listeners.iter().filter(|(other, _)| *other != id).cloned();
            let rest: Numbered = rest.collect();
            self.listeners.store(rest.len(), Ordering::Relaxed);
            std::mem::replace(&mut inner.listeners, rest)
        };
        self.contain(|| drop(before));
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.listeners.load(Ordering::Relaxed) == 0
    }

    /// Puts an event behind those that wait. Whoever changes the state does so under its lock.
    pub(crate) fn push(&self, event: Event) {
        let mut inner = lock(&self.inner);
        let is_change = matches!(event, Event::StateChange { .. });
        let bound = if is_change { MAX_WAITING_CHANGES } else { MAX_WAITING };
        if inner.waiting.len() < bound {
            let before = inner.next_id;
            inner.waiting.push_back((event, before));
        } else {
            inner.untold += 1;
        }
    }

    /// Tells the listeners what waits, unless somebody is at it: then that one tells this too.
    pub(crate) fn tell(&self, breaker: &str) {
        if !self.begin_telling() {
            return;
        }
        for _ in 0..MAX_TOLD_AT_ONCE {
            let Some(((event, before), listeners)) = self.next() else { return };
            let notice = Notice { breaker, event };
            for (_, listener) in listeners.iter().filter(|(id, _)| *id < before) {
                self.contain(|| listener.tell(&notice));
            }
            // A listener whose subscription is gone by now goes here.
            self.contain(|| drop(listeners));
        }
        lock(&self.inner).is_telling = false;
    }

    /// Events that were not told because a listener took too long, and panics of listeners.
    pub(crate) fn losses(&self) -> (u64, u64) {
        let inner = lock(&self.inner);
        (inner.untold, inner.panics)
    }

    /// Runs what belongs to a listener. Whatever it throws goes no further.
    fn contain(&self, run: impl FnOnce()) {
        let Err(thrown) = catch_unwind(AssertUnwindSafe(run)) else { return };
        lock(&self.inner).panics += 1;
        // What was thrown may throw in its turn as it is dropped: what comes then is left alone.
        if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(thrown))) {
            std::mem::forget(again);
        }
    }

    fn begin_telling(&self) -> bool {
        let mut inner = lock(&self.inner);
        if inner.is_telling || inner.waiting.is_empty() {
            return false;
        }
        inner.is_telling = true;
        true
    }

    fn next(&self) -> Option<((Event, u64), Numbered)> {
        let mut inner = lock(&self.inner);
        let event = inner.waiting.pop_front();
        if event.is_none() {
            inner.is_telling = false;
        }
        Some((event?, Arc::clone(&inner.listeners)))
    }
}

impl Subscription {
    pub(crate) fn new(core: &Arc<Core>, id: u64) -> Self {
        Self { core: Arc::downgrade(core), id }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Some(core) = self.core.upgrade() {
            core.unsubscribe(self.id);
        }
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Subscription").field("id", &self.id).finish_non_exhaustive()
    }
}
