//! What the room refuses, and why it could not answer.

use mainstay_events::EventError;
use mainstay_jobs::JobsError;
use mainstay_store::StoreError;

use crate::agent::BadNet;
use crate::decide::Refusal;
use crate::model::net::{BadDefinition, MAX_NETS_PER_USER, MAX_NETS_PER_WORKER};
use crate::model::worker::MAX_WORKERS_PER_USER;
use crate::model::{Broken, Crew, LoadState, Net, UnknownWord};
use crate::providers::ProviderKind;

/// A refusal, or a failure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FleetError {
    /// The caller has no such worker.
    #[error("you have no worker with this id; it may have been deleted")]
    NoSuchWorker,
    /// The caller has no such net.
    #[error("you have no net with this id; it may have been deleted")]
    NoSuchNet,
    /// The worker is of another generation than the caller thought.
    #[error("the worker has changed since you read it; read it again, then decide anew")]
    StaleWorker(Box<Crew>),
    /// The net is of another generation than the caller thought.
    #[error("the net has changed since you read it; read it again, then decide anew")]
    StaleNet(Box<Net>),
    /// It can't be done from where things stand.
    #[error("{refusal}")]
    Refused {
        /// Why.
        refusal: Refusal,
        /// Where the worker stands.
        crew: Option<Box<Crew>>,
        /// Where the net stands that it was asked of.
        net: Option<LoadState>,
    },
    /// The caller has another of this name.
    #[error("you have another one of this name; choose another name")]
    NameTaken,
    /// The user has as many workers as one may have.
    #[error("you have {MAX_WORKERS_PER_USER} workers, which is the limit; delete some first")]
    TooManyWorkers,
    /// The user has as many nets as one may have.
    #[error("you have {MAX_NETS_PER_USER} nets, which is the limit; delete some first")]
    TooManyNets,
    /// The worker has as many nets as one may have.
    #[error("the worker has {MAX_NETS_PER_WORKER} nets, which is the limit; use another worker")]
    WorkerFull,
    /// The provider is not set up.
    #[error("the provider {0} is not set up here; set {settings}, and restart Mainstay", settings = .0.settings())]
    NotConfigured(ProviderKind),
    /// A worker is forgotten only when nobody could end its machine.
    #[error(
        "the provider {0} is set up here, so its machine can be ended; delete the worker without forget"
    )]
    NotForgotten(ProviderKind),
    /// The definition is none.
    #[error(transparent)]
    Definition(#[from] BadDefinition),
    /// The definition can't be run.
    #[error("the definition can't be run: {0}")]
    Net(#[from] BadNet),
    /// Somebody else changed it in the same moment.
    #[error("it was changed by somebody else in the same moment; try again")]
    Overtaken,
    /// A change would break a rule: a mistake in this program.
    #[error("a rule of the fleet would be broken, so nothing was written: {0}")]
    Broken(#[from] Broken),
    /// The database holds what this program does not know.
    #[error(transparent)]
    Word(#[from] UnknownWord),
    /// The database holds JSON that is none.
    #[error("what is remembered of a machine or a net can't be read")]
    Unreadable(#[from] serde_json::Error),
    /// An event could not be made.
    #[error(transparent)]
    Event(#[from] EventError),
    /// The queue did not do it.
    #[error(transparent)]
    Jobs(#[from] JobsError),
    /// The database did not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl FleetError {
    /// Whether the same call may succeed a little later.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Store(error) => error.is_transient(),
            Self::Jobs(error) => error.is_transient(),
            Self::Overtaken => true,
            _ => false,
        }
    }

    /// As the queue is told.
    pub(crate) fn into_jobs(self) -> JobsError {
        match self {
            Self::Store(error) => JobsError::Store(error),
            Self::Jobs(error) => error,
            other => JobsError::Hook(other.to_string()),
        }
    }
}
