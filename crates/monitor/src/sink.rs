//! What the engine hands on: results, and breakers that let a probe through.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Timestamp;
use tokio::sync::oneshot;

use crate::failure::PollFailure;
use crate::report::{DependencyStatus, Report};
use crate::roster::{Circuit, Settlement};
use crate::shards::ShardSet;
use crate::status::ServiceStatus;
use crate::watch::Watch;

/// Where results go: the recorder here, a buffer on an agent.
pub trait Sink: Send + Sync + 'static {
    /// Takes a result. It never waits and never refuses: who asks [`Sink::has_room`] before each start
    /// hands over no more than what was in the air then.
    fn take(&self, result: PollResult);

    /// Takes a breaker that became half-open: its probe is in the air.
    fn take_circuit(&self, circuit: &Circuit, at: Timestamp);

    /// Whether polls may begin: there is room for what they bring.
    fn has_room(&self) -> bool;

    /// In which of these shards results were taken and are not recorded yet.
    fn unrecorded(&self, shards: ShardSet) -> ShardSet {
        let _ = shards;
        ShardSet::NONE
    }
}

/// What a poll brought.
#[derive(Debug)]
pub struct PollResult {
    /// The service as it was polled.
    pub watch: Arc<Watch>,
    /// When the poll ended.
    pub at: Timestamp,
    /// How long the request took.
    pub latency: Duration,
    /// What the answer says, or why there is none.
    pub outcome: Result<Report, PollFailure>,
    /// The guards after it.
    pub settlement: Settlement,
    /// Told when it is recorded, or dropped: for whoever waits.
    pub recorded: Option<oneshot::Sender<Recorded>>,
}

/// What became of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recorded {
    /// It is written down.
    Written(PollSummary),
    /// The service was edited or removed meanwhile: it says nothing any more.
    Stale,
    /// Another instance polls the service meanwhile: it came too late.
    TakenOver,
    /// It could not be written down.
    Refused,
}

/// What a poll changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PollSummary {
    /// How many dependencies the answer named.
    pub dependencies: usize,
    /// Which of them changed their status.
    pub status_changes: Vec<StatusChange>,
    /// How the service is now.
    pub status: Option<ServiceStatus>,
}

/// A dependency that changed its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusChange {
    /// Its name.
    pub dependency_name: String,
    /// What it was; `None` for a dependency that was not known before.
    pub previous: Option<DependencyStatus>,
    /// What it is.
    pub current: DependencyStatus,
}
