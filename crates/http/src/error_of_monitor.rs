//! What the monitor refuses, as the surface says it.

use std::time::Duration;

use mainstay_monitor::PollFailure;
use mainstay_monitor::aliases::{AliasesError, NameError};
use mainstay_monitor::answer::AnswerError;
use mainstay_monitor::desired::{DesiredError, Refusal};
use mainstay_monitor::engine::PollNowError;
use mainstay_monitor::graph::GraphsError;
use mainstay_monitor::past::PastError;
use mainstay_monitor::roster::NotNow;
use mainstay_monitor::services::{Invalid, ServicesError};
use mainstay_monitor::views::BoardError;

use crate::code::Code;
use crate::error::Error;
use crate::error_of_accounts::sentence;

/// When a slot of a busy host is free again: about one poll later.
const HOST_WAIT: Duration = Duration::from_secs(5);

impl From<Invalid> for Error {
    fn from(invalid: Invalid) -> Self {
        let (code, field) = match &invalid {
            Invalid::Name(_) => (Code::InvalidName, "name"),
            Invalid::Team(_) => (Code::InvalidTeam, "team"),
            Invalid::HealthEndpoint(_) => (Code::InvalidHealthEndpoint, "health_endpoint"),
            Invalid::Format(_) => (Code::InvalidFormat, "format"),
            Invalid::SchemaConfig(error) => {
                let told = Self::new(Code::InvalidSchemaConfig, sentence(&invalid.to_string()));
                return told.with("field", error.key());
            }
            Invalid::PollInterval { .. } => (Code::InvalidPollIntervalMs, "poll_interval_ms"),
            Invalid::Timeout { .. } => (Code::InvalidTimeoutMs, "timeout_ms"),
            Invalid::Headers(_) => (Code::InvalidHeaders, "headers"),
        };
        Self::new(code, sentence(&invalid.to_string())).with("field", field)
    }
}

impl From<ServicesError> for Error {
    fn from(error: ServicesError) -> Self {
        let code = match error {
            ServicesError::Invalid(invalid) => return invalid.into(),
            ServicesError::Store(error) => return error.into(),
            ServicesError::NameTaken => Code::NameTaken,
            ServicesError::NotFound => Code::NotFound,
            ServicesError::TooMany => Code::TooManyServices,
            _ => return Self::internal(error),
        };
        Self::new(code, sentence(&error.to_string()))
    }
}

impl From<AliasesError> for Error {
    fn from(error: AliasesError) -> Self {
        let code = match error {
            AliasesError::Name(error) => return error.into(),
            AliasesError::Store(error) => return error.into(),
            AliasesError::Taken => Code::AliasTaken,
            AliasesError::NotFound
            | AliasesError::NoDependency
            | AliasesError::NoneNamed
            | AliasesError::NoService => Code::NotFound,
            AliasesError::SelfLink => Code::SelfLink,
            AliasesError::TooMany => Code::TooManyAliases,
            _ => return Self::internal(error),
        };
        Self::new(code, sentence(&error.to_string()))
    }
}

impl From<AnswerError> for Error {
    fn from(error: AnswerError) -> Self {
        match error {
            AnswerError::Stopping => Self::new(Code::Busy, sentence(&error.to_string())),
            error => Self::internal(error),
        }
    }
}

impl From<BoardError> for Error {
    fn from(error: BoardError) -> Self {
        match error {
            BoardError::Store(error) => error.into(),
            BoardError::Answer(error) => error.into(),
            BoardError::Graph(error) => error.into(),
            error => Self::internal(error),
        }
    }
}

impl From<GraphsError> for Error {
    fn from(error: GraphsError) -> Self {
        let code = match error {
            GraphsError::Store(error) => return error.into(),
            GraphsError::Answer(error) => return error.into(),
            GraphsError::NotYet => Code::Busy,
            GraphsError::NoService
            | GraphsError::NoServiceThen { .. }
            | GraphsError::NoNode
            | GraphsError::NoNodeThen { .. } => Code::NotFound,
            _ => return Self::internal(error),
        };
        Self::new(code, sentence(&error.to_string()))
    }
}

impl From<NameError> for Error {
    fn from(error: NameError) -> Self {
        let (code, field) = match error {
            NameError::Alias(_) => (Code::InvalidAlias, "alias"),
            NameError::Canonical(_) => (Code::InvalidCanonicalName, "canonical_name"),
        };
        Self::new(code, sentence(&error.to_string())).with("field", field)
    }
}

impl From<DesiredError> for Error {
    fn from(error: DesiredError) -> Self {
        // The way to an item is written as it stands in the document.
        let detail = format!("{error}.");
        match error {
            DesiredError::Store(error) => error.into(),
            DesiredError::Refused { item, reason } => {
                let field = reason.field().map(ToOwned::to_owned);
                let told = Self::new(code_of(*reason), detail).with("item", item.path());
                field.into_iter().fold(told, |told, field| told.with("field", field))
            }
            DesiredError::Version { .. } => {
                Self::new(Code::InvalidDocument, detail).with("field", "version")
            }
            DesiredError::TooManyItems(_) => Self::new(Code::InvalidDocument, detail),
            DesiredError::TooManyChanges { .. } | DesiredError::TooMuchToTell => {
                Self::new(Code::TooManyChanges, detail)
            }
            error => Self::internal(error),
        }
    }
}

fn code_of(reason: Refusal) -> Code {
    match reason {
        Refusal::Invalid(invalid) => Error::from(invalid).code(),
        Refusal::Name(name) => Error::from(name).code(),
        Refusal::SelfLink => Code::SelfLink,
        Refusal::Blocked(_) => Code::BlockedAddress,
        Refusal::Changed => Code::ServiceChanged,
        Refusal::TooManyServices => Code::TooManyServices,
        Refusal::TooManyAliases => Code::TooManyAliases,
        _ => Code::InvalidDocument,
    }
}

impl From<PollNowError> for Error {
    fn from(error: PollNowError) -> Self {
        let code = match &error {
            PollNowError::NotNow(NotNow::NotWatched) => Code::NotPolled,
            PollNowError::NotNow(NotNow::InProgress) => Code::PollInProgress,
            PollNowError::NotNow(NotNow::Busy(_)) => Code::HostBusy,
            PollNowError::Stale => Code::ServiceChanged,
            PollNowError::NotRecorded | PollNowError::Stopping => Code::PollNotRecorded,
            PollNowError::Nobody | PollNowError::NotAsked => Code::NotPolledNow,
        };
        Self::new(code, sentence(&error.to_string())).retry_after(HOST_WAIT)
    }
}

impl From<PastError> for Error {
    fn from(error: PastError) -> Self {
        match error {
            PastError::Store(error) => error.into(),
            PastError::Future { .. } | PastError::Span { .. } | PastError::Most { .. } => {
                Self::new(Code::InvalidQuery, sentence(&error.to_string()))
            }
            _ => Self::internal(error),
        }
    }
}

/// The refusal of an address that is not called.
pub(crate) fn blocked(failure: &PollFailure) -> Error {
    Error::new(Code::BlockedAddress, sentence(failure.message.trim_end_matches('.')))
        .with("field", "health_endpoint")
}
