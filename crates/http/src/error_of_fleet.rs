//! What the fleet refuses, as the surface says it.

use mainstay_fleet::{
    Crew, Failure, FailureCode, FleetError, LoadState, Net, Refusal, WorkerStatus,
};

use crate::code::Code;
use crate::error::Error;
use crate::error_of_accounts::sentence;

impl From<FleetError> for Error {
    fn from(error: FleetError) -> Self {
        use FleetError as Refused;
        let code = match &error {
            Refused::NoSuchWorker | Refused::NoSuchNet => Code::NotFound,
            Refused::StaleWorker(crew) => {
                let told = Self::new(Code::Stale, sentence(&error.to_string()));
                return about(told, crew).with("generation", crew.worker.generation);
            }
            Refused::StaleNet(net) => {
                let told = Self::new(Code::Stale, sentence(&error.to_string()));
                let told = told.with("net_load_state", net.load_state.name());
                return told.with("generation", net.generation);
            }
            Refused::Refused { refusal, crew, net } => {
                let told = Self::new(refused(*refusal), sentence(&error.to_string()));
                return match (crew, net) {
                    (Some(crew), Some(state)) => about_net(told, *state, Some(crew.worker.status)),
                    (None, Some(state)) => about_net(told, *state, None),
                    (Some(crew), None) => about(told, crew),
                    (None, None) => told,
                };
            }
            Refused::NameTaken => Code::NameTaken,
            Refused::TooManyWorkers => Code::TooManyWorkers,
            Refused::TooManyNets => Code::TooManyNets,
            Refused::WorkerFull => Code::WorkerFull,
            Refused::NotConfigured(_) => Code::ProviderNotConfigured,
            Refused::NotForgotten(_) => Code::WrongStatus,
            Refused::Definition(_) => return definition(&error, None),
            Refused::Net(bad) => return definition(&error, bad.key()),
            Refused::Overtaken => Code::Busy,
            _ => return failed(error),
        };
        Self::new(code, sentence(&error.to_string()))
    }
}

/// A definition that is none, with the key in it that is wrong.
fn definition(error: &FleetError, key: Option<&str>) -> Error {
    let field = key.map_or_else(|| "definition".to_owned(), |key| format!("definition.{key}"));
    Error::new(Code::InvalidDefinition, sentence(&error.to_string())).with("field", field)
}

/// An operation on a worker that was not done.
pub(crate) fn undone(crew: &Crew, failure: &Failure) -> Error {
    about(Error::new(code_of(failure.code), detail(failure, crew.worker.status)), crew)
}

/// An operation on a net that was not done.
pub(crate) fn undone_net(net: &Net, crew: Option<&Crew>, failure: &Failure) -> Error {
    let status = crew.map(|crew| crew.worker.status);
    let text = status.map_or_else(|| sentence(&failure.detail), |status| detail(failure, status));
    about_net(Error::new(code_of(failure.code), text), net.load_state, status)
}

fn failed(error: FleetError) -> Error {
    match error {
        FleetError::Jobs(error) => error.into(),
        FleetError::Store(error) => error.into(),
        other => Error::internal(other),
    }
}

/// Where a net stands, with its worker where that is known.
fn about_net(error: Error, state: LoadState, worker: Option<WorkerStatus>) -> Error {
    let error = error.with("net_load_state", state.name());
    match worker {
        Some(status) => error.with("worker_status", status.name()),
        None => error,
    }
}

/// Where the worker stands; and its nets, where it is not ready and the same holds for each of them.
fn about(error: Error, crew: &Crew) -> Error {
    let status = crew.worker.status;
    let error = error.with("worker_status", status.name());
    let states: Vec<LoadState> = crew.nets.iter().map(|net| net.load_state).collect();
    let first = states.first().copied().unwrap_or(LoadState::Unloaded);
    let is_said = status != WorkerStatus::Ready && states.iter().all(|state| *state == first);
    if is_said { error.with("net_load_state", first.name()) } else { error }
}

fn detail(failure: &Failure, status: WorkerStatus) -> String {
    let happened = sentence(&failure.detail);
    match failure.code {
        FailureCode::WorkerGone | FailureCode::WorkerUnavailable => {
            format!("{happened} Worker status has been updated to '{}'.", status.name())
        }
        _ => happened,
    }
}

const fn refused(refusal: Refusal) -> Code {
    match refusal {
        Refusal::WorkerBusy(_) => Code::WorkerBusy,
        Refusal::NetBusy(_) => Code::NetBusy,
        Refusal::WrongStatus(..) => Code::WrongStatus,
        Refusal::NotPersistent => Code::NotPersistent,
        Refusal::WorkerNotReady(_) => Code::WorkerNotReady,
        Refusal::NotAssigned => Code::NotAssigned,
    }
}

const fn code_of(code: FailureCode) -> Code {
    match code {
        FailureCode::WorkerGone => Code::WorkerGone,
        FailureCode::WorkerUnavailable => Code::WorkerUnavailable,
        FailureCode::NetRefused => Code::NetRefused,
        FailureCode::ProviderUnavailable => Code::ProviderUnavailable,
        FailureCode::ProviderThrottled => Code::ProviderThrottled,
        FailureCode::ProviderDenied => Code::ProviderDenied,
        FailureCode::ProviderConflict => Code::ProviderConflict,
        FailureCode::OrderRefused => Code::OrderRefused,
        FailureCode::NotConfigured => Code::ProviderNotConfigured,
        FailureCode::TimedOut => Code::OperationTimedOut,
        FailureCode::GivenUp => Code::OperationGivenUp,
        FailureCode::CalledOff => Code::OperationCalledOff,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_has_the_same_word_here_and_there() {
        for code in FailureCode::ALL {
            assert_eq!(code_of(code).name(), code.name());
        }
    }
}
