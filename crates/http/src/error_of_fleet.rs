//! What the fleet refuses, as the surface says it.

use mainstay_fleet::place::BadPlace;
use mainstay_fleet::{Crew, Failure, FailureCode, FleetError, Net, Refusal, WorkerStatus};

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
            Refused::Refused { refusal, crew } => {
                let told = Self::new(refused(*refusal), sentence(&error.to_string()));
                return match crew {
                    Some(crew) => about(told, crew),
                    None => told,
                };
            }
            Refused::NameTaken => Code::NameTaken,
            Refused::TooManyWorkers => Code::TooManyWorkers,
            Refused::TooManyNets => Code::TooManyNets,
            Refused::WorkerFull => Code::WorkerFull,
            Refused::NotConfigured(_) => Code::ProviderNotConfigured,
            Refused::Definition(_) => Code::InvalidDefinition,
            Refused::Overtaken => Code::Busy,
            _ => return failed(error),
        };
        Self::new(code, sentence(&error.to_string()))
    }
}

impl From<BadPlace> for Error {
    fn from(error: BadPlace) -> Self {
        Self::new(Code::InvalidQuery, format!("The query is not as expected: {error}."))
    }
}

/// An operation on a worker that was not done.
pub(crate) fn undone(crew: &Crew, failure: &Failure) -> Error {
    about(Error::new(code_of(failure.code), detail(failure, crew.worker.status)), crew)
}

/// An operation on a net that was not done.
pub(crate) fn undone_net(net: &Net, crew: Option<&Crew>, failure: &Failure) -> Error {
    let status = crew.map(|crew| crew.worker.status);
    let text = status.map_or_else(|| sentence(&failure.detail), |status| detail(failure, status));
    let told = Error::new(code_of(failure.code), text);
    let told = told.with("net_load_state", net.load_state.name());
    match status {
        Some(status) => told.with("worker_status", status.name()),
        None => told,
    }
}

fn failed(error: FleetError) -> Error {
    match error {
        FleetError::Jobs(error) => error.into(),
        FleetError::Store(error) => error.into(),
        other => Error::internal(other),
    }
}

/// Where the worker stands, and its nets when it is not ready.
fn about(error: Error, crew: &Crew) -> Error {
    let status = crew.worker.status;
    let error = error.with("worker_status", status.name());
    match status {
        WorkerStatus::Ready => error,
        _ => error.with("net_load_state", "unloaded"),
    }
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
