//! What waits to be recorded: bounded, in order, with each service at most once in a batch.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mainstay_base::Timestamp;
use tokio::sync::Notify;

use super::health::RecorderHealth;
use super::parts::Part;
use crate::roster::Circuit;
use crate::shards::{Shard, ShardSet};
use crate::sink::PollResult;

/// A batch holds no more results than this.
const BATCH: usize = 512;
/// A batch holds no more circuits than this: each is an event, and so is much of what results tell.
const CIRCUITS: usize = 512;
/// How long the first result of a batch waits for others.
pub(super) const WINDOW: Duration = Duration::from_millis(50);
/// No poll begins while as many results wait. What is in the air then still finds room.
pub(super) const MOST_WAITING: usize = 16_384;

#[derive(Debug, Default)]
pub(super) struct Queue {
    inner: Mutex<Inner>,
    pub(super) wake: Notify,
}

#[derive(Debug, Default)]
struct Inner {
    results: VecDeque<PollResult>,
    circuits: Vec<(Circuit, Timestamp)>,
    /// Somebody waits for a result: the window is cut short.
    urgent: bool,
    failing_since: Option<Timestamp>,
    /// How many results of each shard are not recorded yet, whether they wait or are being written.
    unrecorded: HashMap<Shard, usize>,
}

/// Whether it is time to record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fill {
    Empty,
    Some,
    Full,
}

impl Queue {
    pub(super) fn push(&self, result: PollResult) {
        let mut inner = self.lock();
        inner.urgent |= result.recorded.is_some();
        if let Some(lease) = result.watch.lease {
            let count = inner.unrecorded.entry(lease.shard).or_default();
            *count = count.saturating_add(1);
        }
        inner.results.push_back(result);
        let rings = inner.results.len() == 1 || inner.fill() == Fill::Full;
        drop(inner);
        if rings {
            self.wake.notify_one();
        }
    }

    /// One more than there may be is not kept: the result of its probe tells the state anew.
    pub(super) fn push_circuit(&self, circuit: Circuit, at: Timestamp) {
        let mut inner = self.lock();
        if inner.circuits.len() < MOST_WAITING {
            inner.circuits.push((circuit, at));
        }
        drop(inner);
        self.wake.notify_one();
    }

    pub(super) fn has_room(&self) -> bool {
        self.lock().results.len() < MOST_WAITING
    }

    pub(super) fn fill(&self) -> Fill {
        self.lock().fill()
    }

    pub(super) fn len(&self) -> usize {
        self.lock().results.len()
    }

    /// The numbers of the services whose results wait, each once.
    pub(super) fn services(&self) -> Vec<i64> {
        let numbers: HashSet<i64> =
            self.lock().results.iter().map(|result| result.watch.number.0).collect();
        numbers.into_iter().collect()
    }

    /// Takes the next batch: the oldest results, but of each service only the first.
    pub(super) fn take(&self) -> Part {
        self.join(Part::default())
    }

    /// Fills a batch up in the same way.
    pub(super) fn join(&self, part: Part) -> Part {
        let Part { mut results, mut circuits } = part;
        let mut inner = self.lock();
        let room = CIRCUITS.saturating_sub(circuits.len()).min(inner.circuits.len());
        circuits.extend(inner.circuits.drain(..room));
        if !inner.circuits.is_empty() {
            // A result never comes before the circuit that its probe has opened half.
            return Part { results, circuits };
        }
        let mut services: HashSet<_> = results.iter().map(|one| one.watch.number).collect();
        let mut later = Vec::new();
        while results.len() < BATCH {
            let Some(result) = inner.results.pop_front() else { break };
            if services.insert(result.watch.number) {
                results.push(result);
            } else {
                later.push(result);
            }
        }
        for result in later.into_iter().rev() {
            inner.results.push_front(result);
        }
        inner.urgent = inner.results.iter().any(|result| result.recorded.is_some());
        Part { results, circuits }
    }

    /// These results are recorded, or never will be.
    pub(super) fn done(&self, results: &[PollResult]) {
        let mut inner = self.lock();
        for lease in results.iter().filter_map(|result| result.watch.lease) {
            if let Some(count) = inner.unrecorded.get_mut(&lease.shard) {
                *count = count.saturating_sub(1);
            }
        }
    }

    pub(super) fn unrecorded(&self, shards: ShardSet) -> ShardSet {
        let inner = self.lock();
        let counts = inner.unrecorded.iter().filter(|(_, count)| **count > 0);
        counts.map(|(shard, _)| *shard).collect::<ShardSet>().among(shards)
    }

    pub(super) fn set_failing(&self, since: Option<Timestamp>) {
        let mut inner = self.lock();
        inner.failing_since = since.map(|now| inner.failing_since.unwrap_or(now));
    }

    pub(super) fn health(&self) -> RecorderHealth {
        let inner = self.lock();
        RecorderHealth { waiting: inner.results.len(), failing_since: inner.failing_since }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing in here panics half-way.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn fill(&self) -> Fill {
        match self.results.len() {
            0 if self.circuits.is_empty() => Fill::Empty,
            _ if self.circuits.len() >= CIRCUITS => Fill::Full,
            waiting if self.urgent || waiting >= BATCH => Fill::Full,
            _ => Fill::Some,
        }
    }
}
