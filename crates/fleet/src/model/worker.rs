//! A worker.

use std::str::FromStr;

use mainstay_base::{Id, PlainText, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::operation::{Ended, Failure, Underway, WorkerOperation};
use super::status::{UnknownWord, WorkerStatus};
use crate::providers::{Machine, MachineName, ProviderKind, Region, Size};

/// The most workers of one user.
pub const MAX_WORKERS_PER_USER: i64 = 1_000;
/// The most characters of a name.
pub const MAX_NAME: usize = 100;

/// What its owner calls a worker.
pub type WorkerName = PlainText<MAX_NAME>;

/// Whether a worker outlives being stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// It can be stopped and started again.
    Persistent,
    /// It ends when it stops.
    Ephemeral,
}

/// A worker: what is wanted of it, and what is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// The id.
    pub id: Id,
    /// Whose it is.
    pub user_id: Id,
    /// What its owner calls it.
    pub name: String,
    /// Where its machine comes from.
    pub provider: ProviderKind,
    /// Whether it outlives being stopped.
    pub category: Category,
    /// Where it should stand.
    pub region: Option<Region>,
    /// How big it should be.
    pub size: Size,
    /// Where it stands.
    pub status: WorkerStatus,
    /// Since when.
    pub status_since: Timestamp,
    /// Why it failed; of one that has not, what keeps its provider from saying how it is, or from doing what is
    /// being done.
    pub reason: Option<String>,
    /// Counts its announced states: whatever was begun under another one is stale.
    pub generation: i64,
    /// What is being done to it.
    pub operation: Option<Underway<WorkerOperation>>,
    /// How the last such thing ended.
    pub ended: Option<Ended<WorkerOperation>>,
    /// Its machine, as the provider knows it.
    pub machine: Option<Machine>,
    /// The generation that its machine was ordered under: the agent there answers with it.
    pub machine_generation: Option<i64>,
    /// Which run of the agent answered last.
    pub boot_id: Option<Id>,
    /// The provider's own word for what the machine does.
    pub provider_state: Option<String>,
    /// When its agent last answered.
    pub last_seen_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Worker {
    /// Moves it on, with the reason.
    pub(crate) fn becomes(&mut self, status: WorkerStatus, reason: Option<String>, now: Timestamp) {
        if self.status != status {
            self.status = status;
            self.status_since = now;
        }
        self.reason = reason;
    }

    /// Ends what is being done to it.
    pub(crate) fn ends(&mut self, failure: Option<Failure>, now: Timestamp) {
        if let Some(Underway { id, kind, .. }) = self.operation.take() {
            self.ended = Some(Ended { id, kind, at: now, failure });
        }
    }

    /// Where it stands: by its provider's word, or where it was ordered.
    #[must_use]
    pub fn stands_in(&self) -> Option<&str> {
        let told = self.machine.as_ref().and_then(|machine| machine.region.as_deref());
        told.or_else(|| self.region.as_ref().map(Region::as_str))
    }

    /// Whether what is being done to it waits for its provider.
    pub(crate) fn waits(&self) -> bool {
        let is_warned = self.reason.is_some() && self.status != WorkerStatus::Error;
        self.operation.is_some() && is_warned
    }

    /// Its machine is gone. Of what order it was stays known: something of it may be left, which ends
    /// when the worker is destroyed.
    pub(crate) fn loses_machine(&mut self) {
        self.machine = None;
        self.boot_id = None;
        self.provider_state = None;
    }

    /// It has no machine, and nothing is left of one.
    pub(crate) fn is_rid_of_machine(&mut self) {
        self.loses_machine();
        self.machine_generation = None;
    }

    /// What the machine of its last order is called, where nobody has seen it: it may have been made all the
    /// same.
    pub(crate) fn unseen_order(&self) -> Option<MachineName> {
        let name = MachineName::of(self.id, self.machine_generation?);
        let is_seen = self.machine.as_ref().is_some_and(|machine| machine.name == name);
        (!is_seen).then_some(name)
    }

    /// What its machines are called that nobody has ended, as far as is known.
    pub(crate) fn unended(&self) -> impl Iterator<Item = MachineName> {
        let seen = self.machine.as_ref().map(|machine| machine.name.clone());
        seen.into_iter().chain(self.unseen_order())
    }

    /// Whether its owner and the events are told that it differs from `before`: then it is of a new
    /// generation.
    pub(crate) fn is_told_apart(&self, before: &Self) -> bool {
        let told = |worker: &Self| (worker.status, worker.operation.map(|operation| operation.id));
        told(self) != told(before)
    }
}

impl Category {
    /// Each of them.
    pub const ALL: [Self; 2] = [Self::Persistent, Self::Ephemeral];

    /// The word for it, in the API and in the database.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Persistent => "persistent",
            Self::Ephemeral => "ephemeral",
        }
    }
}

impl FromStr for Category {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        Self::ALL.into_iter().find(|one| one.name() == word).ok_or(UnknownWord("category"))
    }
}
