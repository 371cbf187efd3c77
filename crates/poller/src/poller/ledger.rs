//! The pollers that are active.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{PollerId, Shared, Start, Status};
use crate::clock::Clock;
use crate::error::StartError;
use crate::sync::{Mutex, lock};

/// How many pollers of one executor or context may be active at once.
pub const MAX_POLLERS: usize = 100_000;

/// Lists the active pollers of one owner.
pub(crate) struct Ledger(Mutex<Listed>);

struct Listed {
    active: BTreeMap<PollerId, Arc<Shared>>,
    last: u64,
}

impl Ledger {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Listed { active: BTreeMap::new(), last: 0 }))
    }

    /// Lists a new poller.
    pub(crate) fn enter(
        &self,
        start: Start,
        clock: Arc<dyn Clock>,
    ) -> Result<Arc<Shared>, StartError> {
        let mut listed = lock(&self.0);
        if listed.active.len() >= MAX_POLLERS {
            return Err(StartError::TooManyPollers { bound: MAX_POLLERS });
        }
        listed.last = listed.last.saturating_add(1);
        let id = PollerId(listed.last);
        let shared = Arc::new(Shared::new(id, start, clock));
        listed.active.insert(id, Arc::clone(&shared));
        Ok(shared)
    }

    /// Strikes a poller out and tells so, unless somebody else did before: each is told once. Who finds it
    /// struck out can hear it already.
    pub(crate) fn leave(&self, id: PollerId, tell: impl FnOnce()) {
        let mut listed = lock(&self.0);
        let left = listed.active.remove(&id);
        if left.is_some() {
            tell();
        }
        drop(listed);
        drop(left);
    }

    /// How the active ones are.
    pub(crate) fn statuses(&self) -> Vec<Status> {
        self.listed(|_| true).iter().map(|shared| shared.status()).collect()
    }

    /// Those that run on their own.
    pub(crate) fn background(&self) -> Vec<Arc<Shared>> {
        self.listed(Shared::is_background)
    }

    pub(crate) fn has_background(&self) -> bool {
        lock(&self.0).active.values().any(|shared| shared.is_background())
    }

    pub(crate) fn stop_all(&self) {
        for shared in self.background() {
            shared.stop();
        }
    }

    fn listed(&self, is_meant: impl Fn(&Shared) -> bool) -> Vec<Arc<Shared>> {
        let listed = lock(&self.0);
        listed.active.values().filter(|shared| is_meant(shared)).map(Arc::clone).collect()
    }
}
