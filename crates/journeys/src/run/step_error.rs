//! How a step fails.

use mainstay_poller::StartError;

use crate::bounds::MAX_MESSAGE;
use crate::courier::SendError;
use crate::judge::Unjudged;
use crate::mask::NotHidden;
use crate::report::{CheckRecord, FailureKind};
use crate::request::NotReady;
use crate::template::TemplateError;
use crate::text::cut;

/// How a step failed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub(super) struct StepError {
    pub(super) kind: FailureKind,
    pub(super) message: String,
    pub(super) check: Option<Box<CheckRecord>>,
}

impl StepError {
    pub(super) fn new(kind: FailureKind, message: impl AsRef<str>) -> Self {
        Self { kind, message: cut(message.as_ref(), MAX_MESSAGE), check: None }
    }
}

impl From<TemplateError> for StepError {
    fn from(error: TemplateError) -> Self {
        Self::new(FailureKind::Template, error.to_string())
    }
}

impl From<Unjudged> for StepError {
    fn from(error: Unjudged) -> Self {
        match error {
            Unjudged::Template(error) => error.into(),
            error @ Unjudged::TooLarge { .. } => Self::new(FailureKind::Bound, error.to_string()),
        }
    }
}

impl From<NotReady> for StepError {
    fn from(error: NotReady) -> Self {
        let kind = match &error {
            NotReady::Template(_) => FailureKind::Template,
            NotReady::Url(_) | NotReady::Request(_) => FailureKind::Request,
            NotReady::TooLong => FailureKind::Bound,
        };
        Self::new(kind, error.to_string())
    }
}

impl From<SendError> for StepError {
    fn from(error: SendError) -> Self {
        let kind = match &error {
            SendError::Fetch(_) | SendError::Hasty(_) | SendError::Expected(_) => {
                FailureKind::Request
            }
            SendError::Open { .. } | SendError::TooManyHosts => FailureKind::BreakerOpen,
        };
        Self::new(kind, error.to_string())
    }
}

impl From<NotHidden> for StepError {
    fn from(error: NotHidden) -> Self {
        Self::new(
            FailureKind::Bound,
            format!("what the request logs in with can't be hidden: {error}"),
        )
    }
}

impl From<StartError> for StepError {
    fn from(error: StartError) -> Self {
        Self::new(FailureKind::Bound, error.to_string())
    }
}
