//! What becomes of a worker and its nets when an operation ends.
//!
//! | operation | done | the machine is gone | the worker does not answer, or time is up | the provider fails |
//! |---|---|---|---|---|
//! | provision, retry | ready | error | error | error; where it refuses the order, nothing is left of that |
//! | start | ready | error | error | stopped |
//! | stop | stopped | error | ready | ready |
//! | destroy | pending | pending | as before | as before |
//! | delete | removed | removed | as before | as before |
//! | load | loaded | – | the net and the worker error, other nets unloaded | – |
//! | unload | unloaded | – | the same | – |
//!
//! Whenever the worker leaves `ready`, each net is unloaded but the one that found the failure. Time that
//! is up for a load or an unload says nothing of the worker: only the net is in error.

use mainstay_base::{Id, Timestamp};

use super::lose;
use crate::model::{
    Crew, Failure, FailureCode, LoadState, NetOperation, Underway, WorkerOperation, WorkerStatus,
};
use crate::providers::{Machine, ProviderError};

/// How an operation on a worker ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerEnd {
    /// Its machine runs and its own agent has answered.
    Running {
        /// The machine.
        machine: Machine,
        /// The run of the agent.
        boot_id: Id,
        /// The provider's word.
        provider_state: Option<String>,
    },
    /// Its machine stands still.
    Stopped {
        /// The machine.
        machine: Machine,
        /// The provider's word.
        provider_state: Option<String>,
    },
    /// Its machine is ended for ever, or was already.
    Destroyed,
    /// Its order was refused, and has made nothing: there is no machine, and none will come.
    Unmade(Failure),
    /// It was not done.
    Failed {
        /// Why.
        failure: Failure,
        /// The machine, where another is known than before.
        machine: Option<Machine>,
    },
}

/// How an operation on a net ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NetEnd {
    /// The agent did it.
    Done,
    /// The worker itself is lost.
    WorkerLost(String),
    /// It was not done, and nothing is known against the worker.
    Failed(Failure),
}

/// A crew after an operation.
#[derive(Debug, Clone, PartialEq)]
pub struct After {
    /// How it stands.
    pub crew: Crew,
    /// The worker's record goes.
    pub is_removed: bool,
}

/// Ends the operation of a worker.
#[must_use]
pub fn worker(crew: &Crew, end: &WorkerEnd, now: Timestamp) -> After {
    let mut next = crew.clone();
    let Some(Underway { kind, .. }) = crew.worker.operation else {
        return After { crew: next, is_removed: false };
    };
    match end {
        WorkerEnd::Running { machine, boot_id, provider_state } => {
            next.worker.machine = Some(machine.clone());
            next.worker.boot_id = Some(*boot_id);
            next.worker.provider_state.clone_from(provider_state);
            next.worker.last_seen_at = Some(now);
            next.worker.becomes(WorkerStatus::Ready, None, now);
            next.worker.ends(None, now);
        }
        WorkerEnd::Stopped { machine, provider_state } => {
            next.worker.machine = Some(machine.clone());
            next.worker.provider_state.clone_from(provider_state);
            let failure = Failure::new(FailureCode::WorkerUnavailable, "the worker was stopped");
            lose(&mut next, (WorkerStatus::Stopped, None), &failure, now, None);
            next.worker.ends(None, now);
        }
        WorkerEnd::Destroyed => {
            destroy(&mut next, kind, now);
            return After { crew: next, is_removed: kind == WorkerOperation::Delete };
        }
        WorkerEnd::Unmade(failure) => {
            fail(&mut next, kind, failure, now);
            // One of an earlier order was ended before, or is looked for.
            next.worker.is_rid_of_machine();
        }
        WorkerEnd::Failed { failure, machine } => {
            if machine.is_some() {
                next.worker.machine.clone_from(machine);
            }
            fail(&mut next, kind, failure, now);
        }
    }
    After { crew: next, is_removed: false }
}

/// Ends the operation of a net.
#[must_use]
pub fn net(crew: &Crew, id: Id, end: &NetEnd, now: Timestamp) -> Crew {
    let mut next = crew.clone();
    let Some(net) = next.net_mut(id) else { return next };
    let Some(Underway { kind, .. }) = net.operation else { return next };
    match end {
        NetEnd::Done => {
            let state = match kind {
                NetOperation::Load => LoadState::Loaded,
                NetOperation::Unload => LoadState::Unloaded,
            };
            net.becomes(state, None, now);
            net.ends(None, now);
        }
        NetEnd::Failed(failure) => {
            net.becomes(LoadState::Error, Some(failure.detail.clone()), now);
            net.ends(Some(failure.clone()), now);
        }
        NetEnd::WorkerLost(why) => {
            let failure = Failure::new(FailureCode::WorkerUnavailable, why.clone());
            net.becomes(LoadState::Error, Some(why.clone()), now);
            net.ends(Some(failure.clone()), now);
            let lost = (WorkerStatus::Error, Some(why.clone()));
            lose(&mut next, lost, &failure, now, Some(id));
        }
    }
    next
}

/// What an error of the provider is to whoever asked for the operation.
#[must_use]
pub fn failure_of(error: &ProviderError) -> Failure {
    let code = match error {
        ProviderError::Gone(_) => FailureCode::WorkerGone,
        ProviderError::Unreachable(_)
        | ProviderError::LeftAlone { .. }
        | ProviderError::Ambiguous(_) => FailureCode::ProviderUnavailable,
        ProviderError::Conflict { .. } => FailureCode::ProviderConflict,
        ProviderError::Throttled { .. } => FailureCode::ProviderThrottled,
        ProviderError::Denied(_) => FailureCode::ProviderDenied,
        ProviderError::Invalid(_) => FailureCode::OrderRefused,
    };
    Failure::new(code, error.to_string())
}

fn destroy(next: &mut Crew, kind: WorkerOperation, now: Timestamp) {
    let failure = Failure::new(FailureCode::WorkerGone, "the worker was destroyed");
    lose(next, (WorkerStatus::Pending, None), &failure, now, None);
    next.worker.is_rid_of_machine();
    next.worker.ends(None, now);
    for net in &mut next.nets {
        net.cast_generation = None;
        if kind == WorkerOperation::Delete {
            net.worker_id = None;
        }
    }
}

fn fail(next: &mut Crew, kind: WorkerOperation, failure: &Failure, now: Timestamp) {
    let is_gone = failure.code == FailureCode::WorkerGone;
    let is_lost = match kind {
        WorkerOperation::Provision | WorkerOperation::Retry => true,
        WorkerOperation::Start => is_gone || is_the_workers(failure.code),
        WorkerOperation::Stop => is_gone,
        // A health check says what it found by a look; without one nothing is known.
        WorkerOperation::Destroy | WorkerOperation::Delete | WorkerOperation::HealthCheck => false,
    };
    if is_lost {
        let lost = (WorkerStatus::Error, Some(failure.detail.clone()));
        lose(next, lost, failure, now, None);
    }
    if next.worker.status != WorkerStatus::Error {
        // What it waited for is told with its end.
        next.worker.reason = None;
    }
    if is_gone {
        next.worker.loses_machine();
    }
    next.worker.ends(Some(failure.clone()), now);
}

/// Whether the worker may be up or down, and nobody knows.
const fn is_the_workers(code: FailureCode) -> bool {
    matches!(
        code,
        FailureCode::WorkerUnavailable
            | FailureCode::TimedOut
            | FailureCode::GivenUp
            | FailureCode::CalledOff
    )
}

#[cfg(test)]
#[path = "end_tests.rs"]
mod tests;
