//! The nets that are loaded, and what they found until somebody has it. Pure.

use std::collections::{BTreeMap, VecDeque};

use mainstay_base::Id;
use serde_json::{Value, json};

use crate::agents::answer::{LoadedNet, MAX_NETS, MAX_PAGE, NetResult};

/// The most findings of one net that wait to be fetched; the oldest go first.
pub const MAX_KEPT: usize = 2_000;

/// The most bytes of all findings that wait to be fetched.
pub const MAX_KEPT_BYTES: usize = 32 * 1024 * 1024;

/// The most bytes of one finding.
pub const MAX_RESULT_BYTES: usize = 64 * 1024;

/// A page ends after so many bytes.
const MAX_PAGE_BYTES: usize = 1024 * 1024;

/// The most nets that are remembered after they were unloaded, so that nothing older loads them again.
const MAX_REMEMBERED: usize = 10_000;

/// The nets of an agent.
#[derive(Debug, Default)]
pub struct Nets {
    nets: BTreeMap<Id, Kept>,
    /// The generations that were unloaded, and in which order.
    unloaded: BTreeMap<Id, i64>,
    order: VecDeque<Id>,
    bytes: usize,
    /// The number of the last finding of all: a net that is loaded anew goes on behind it, since whoever
    /// fetches remembers how far they were.
    last: u64,
}

#[derive(Debug)]
struct Kept {
    generation: i64,
    definition: Value,
    results: VecDeque<Finding>,
    bytes: usize,
    dropped: u64,
    /// How many of them were told with the last page, which nobody has acknowledged yet.
    told: u64,
}

#[derive(Debug)]
struct Finding {
    bytes: usize,
    result: NetResult,
}

/// What became of loading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loading {
    /// It has to be run from now on, in place of what was.
    Anew,
    /// It is as it was.
    Same,
}

/// Why something was not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotDone {
    /// A newer generation is known.
    #[error("generation {current} is known, and this one is older")]
    Stale {
        /// Which one.
        current: i64,
    },
    /// There is no room.
    #[error("there are {MAX_NETS} nets already; unload one first")]
    TooMany,
}

/// A page of findings.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Oldest first.
    pub results: Vec<NetResult>,
    /// Whether there are more.
    pub has_more: bool,
    /// How many were dropped since the findings before these were acknowledged.
    pub dropped: u64,
}

impl Nets {
    /// Takes a net, or a newer generation of one.
    ///
    /// # Errors
    /// [`NotDone`] for an older one, and where there is no room.
    pub fn load(
        &mut self,
        id: Id,
        generation: i64,
        definition: &Value,
    ) -> Result<Loading, NotDone> {
        self.refuse_older(id, generation)?;
        if let Some(net) = self.nets.get_mut(&id) {
            let is_same = net.generation == generation && net.definition == *definition;
            net.generation = generation;
            net.definition = definition.clone();
            return Ok(if is_same { Loading::Same } else { Loading::Anew });
        }
        if self.nets.len() >= MAX_NETS {
            return Err(NotDone::TooMany);
        }
        let (definition, results) = (definition.clone(), VecDeque::new());
        let net = Kept { generation, definition, results, bytes: 0, dropped: 0, told: 0 };
        self.nets.insert(id, net);
        Ok(Loading::Anew)
    }

    /// Lets a net go, with what it found. One that is not there is fine.
    ///
    /// # Errors
    /// [`NotDone::Stale`] for an older generation.
    pub fn unload(&mut self, id: Id, generation: i64) -> Result<(), NotDone> {
        self.refuse_older(id, generation)?;
        if let Some(net) = self.nets.remove(&id) {
            self.bytes = self.bytes.saturating_sub(net.bytes);
        }
        if self.unloaded.insert(id, generation).is_none() {
            self.order.push_back(id);
        }
        if self.order.len() > MAX_REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.unloaded.remove(&oldest);
        }
        Ok(())
    }

    /// Keeps what a net found. What an older generation of it found is dropped.
    pub fn keep(&mut self, id: Id, generation: i64, result: Value) {
        let Some(net) = self.nets.get_mut(&id).filter(|net| net.generation == generation) else {
            return;
        };
        let mut result = result;
        let mut bytes = result.to_string().len();
        if bytes > MAX_RESULT_BYTES {
            result = json!({ "error": "the finding is too large to be told", "bytes": bytes });
            bytes = result.to_string().len();
        }
        self.last = self.last.saturating_add(1);
        let result = NetResult { seq: self.last, generation, result };
        net.results.push_back(Finding { bytes, result });
        net.bytes = net.bytes.saturating_add(bytes);
        self.bytes = self.bytes.saturating_add(bytes);
        if net.results.len() > MAX_KEPT {
            self.bytes = self.bytes.saturating_sub(net.drop_oldest());
        }
        self.make_room();
    }

    /// The net that keeps most gives way: one that finds little loses nothing to it.
    fn make_room(&mut self) {
        while self.bytes > MAX_KEPT_BYTES {
            let largest = self.nets.values_mut().max_by_key(|net| net.bytes);
            let freed = largest.map_or(0, Kept::drop_oldest);
            if freed == 0 {
                return;
            }
            self.bytes = self.bytes.saturating_sub(freed);
        }
    }

    /// What a net found after `after`; what is not after it was fetched, and is let go. Nothing where the
    /// net is not loaded.
    pub fn results(&mut self, id: Id, after: u64) -> Option<Found> {
        let net = self.nets.get_mut(&id)?;
        while net.results.front().is_some_and(|oldest| oldest.result.seq <= after) {
            self.bytes = self.bytes.saturating_sub(net.let_go());
            net.dropped = net.dropped.saturating_sub(net.told);
            net.told = 0;
        }
        net.told = net.dropped;
        let mut bytes = 0_usize;
        let fits = |one: &&Finding| {
            let fits = bytes < MAX_PAGE_BYTES;
            bytes = bytes.saturating_add(one.bytes);
            fits
        };
        let page = net.results.iter().take(MAX_PAGE).take_while(fits);
        let results: Vec<NetResult> = page.map(|one| one.result.clone()).collect();
        let has_more = results.len() < net.results.len();
        Some(Found { results, has_more, dropped: net.dropped })
    }

    /// What is loaded.
    #[must_use]
    pub fn loaded(&self) -> Vec<LoadedNet> {
        let net = |(id, net): (&Id, &Kept)| LoadedNet { id: *id, generation: net.generation };
        self.nets.iter().map(net).collect()
    }

    fn refuse_older(&self, id: Id, generation: i64) -> Result<(), NotDone> {
        let loaded = self.nets.get(&id).map(|net| net.generation);
        let known = loaded.max(self.unloaded.get(&id).copied());
        match known.filter(|known| *known > generation) {
            Some(current) => Err(NotDone::Stale { current }),
            None => Ok(()),
        }
    }
}

impl Kept {
    /// Lets the oldest finding go, and tells its bytes.
    fn let_go(&mut self) -> usize {
        let bytes = self.results.pop_front().map_or(0, |one| one.bytes);
        self.bytes = self.bytes.saturating_sub(bytes);
        bytes
    }

    /// The same for one that nobody has fetched.
    fn drop_oldest(&mut self) -> usize {
        self.dropped = self.dropped.saturating_add(u64::from(!self.results.is_empty()));
        self.let_go()
    }
}

#[cfg(test)]
#[path = "nets_tests.rs"]
mod tests;
