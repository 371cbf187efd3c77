//! What is being done to a worker or a net, and how the last such thing ended.

use std::str::FromStr;
use std::time::Duration;

use mainstay_base::{Id, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use super::status::UnknownWord;

/// How long making a machine may take, until its agent answers.
pub const PROVISION_LIMIT: Duration = Duration::from_mins(5);
/// How long anything else may take.
pub const OPERATION_LIMIT: Duration = Duration::from_mins(2);

/// What is done to a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkerOperation {
    /// Makes its machine.
    Provision,
    /// Makes another machine for a worker that has failed.
    Retry,
    /// Starts its machine.
    Start,
    /// Stops its machine.
    Stop,
    /// Ends its machine for ever; the record stays.
    Destroy,
    /// Ends its machine for ever, and removes the record.
    Delete,
    /// Looks whether it is well.
    HealthCheck,
}

/// What is done to a net.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum NetOperation {
    /// Hands it to its worker.
    Load,
    /// Takes it from its worker.
    Unload,
}

/// An operation that has begun and not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Underway<K> {
    /// Its id, which is that of its job.
    #[schema(value_type = String)]
    pub id: Id,
    /// What it does.
    pub kind: K,
    /// When it was asked for.
    #[schema(value_type = String, format = DateTime)]
    pub since: Timestamp,
    /// When it is given up.
    #[schema(value_type = String, format = DateTime)]
    pub deadline: Timestamp,
}

/// How the last operation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended<K> {
    /// Its id.
    pub id: Id,
    /// What it did.
    pub kind: K,
    /// When it ended.
    pub at: Timestamp,
    /// Why it did not do what was asked for, if it did not.
    pub failure: Option<Failure>,
}

/// Why an operation did not do what was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// A stable word.
    pub code: FailureCode,
    /// What happened, for people.
    pub detail: String,
}

/// Why an operation did not do what was asked for, as a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureCode {
    /// The machine no longer exists.
    WorkerGone,
    /// The worker's agent can't be reached, or is not ours.
    WorkerUnavailable,
    /// The agent refuses the net.
    NetRefused,
    /// The provider can't be reached.
    ProviderUnavailable,
    /// The provider wants to be left alone.
    ProviderThrottled,
    /// The provider refuses our token.
    ProviderDenied,
    /// Something else stands in the way at the provider.
    ProviderConflict,
    /// The provider refuses what was ordered.
    OrderRefused,
    /// The provider is not set up in this process.
    NotConfigured,
    /// It took too long.
    TimedOut,
    /// Whoever did it died too often.
    GivenUp,
    /// Its owner called it off, by what they asked for next.
    CalledOff,
}

impl Failure {
    /// Of a code and its words.
    pub(crate) fn new(code: FailureCode, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into() }
    }
}

impl WorkerOperation {
    /// Whether the machine is gone after it.
    #[must_use]
    pub const fn ends_the_machine(self) -> bool {
        matches!(self, Self::Destroy | Self::Delete)
    }

    /// Each of them.
    pub const ALL: [Self; 7] = [
        Self::Provision,
        Self::Retry,
        Self::Start,
        Self::Stop,
        Self::Destroy,
        Self::Delete,
        Self::HealthCheck,
    ];

    /// The word for it, in the API and in the database.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Provision => "provision",
            Self::Retry => "retry",
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Destroy => "destroy",
            Self::Delete => "delete",
            Self::HealthCheck => "health_check",
        }
    }

    /// How long it may take.
    #[must_use]
    pub const fn limit(self) -> Duration {
        if self.makes_a_machine() { PROVISION_LIMIT } else { OPERATION_LIMIT }
    }

    /// Whether it gives the worker another machine.
    #[must_use]
    pub const fn makes_a_machine(self) -> bool {
        matches!(self, Self::Provision | Self::Retry)
    }
}

impl NetOperation {
    /// Each of them.
    pub const ALL: [Self; 2] = [Self::Load, Self::Unload];

    /// The word for it, in the API and in the database.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Unload => "unload",
        }
    }
}

impl FailureCode {
    /// Each of them.
    pub const ALL: [Self; 12] = [
        Self::WorkerGone,
        Self::WorkerUnavailable,
        Self::NetRefused,
        Self::ProviderUnavailable,
        Self::ProviderThrottled,
        Self::ProviderDenied,
        Self::ProviderConflict,
        Self::OrderRefused,
        Self::NotConfigured,
        Self::TimedOut,
        Self::GivenUp,
        Self::CalledOff,
    ];

    /// The word for it, in the API and in the database.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::WorkerGone => "worker_gone",
            Self::WorkerUnavailable => "worker_unavailable",
            Self::NetRefused => "net_refused",
            Self::ProviderUnavailable => "provider_unavailable",
            Self::ProviderThrottled => "provider_throttled",
            Self::ProviderDenied => "provider_denied",
            Self::ProviderConflict => "provider_conflict",
            Self::OrderRefused => "order_refused",
            Self::NotConfigured => "provider_not_configured",
            Self::TimedOut => "operation_timed_out",
            Self::GivenUp => "operation_given_up",
            Self::CalledOff => "operation_called_off",
        }
    }
}

impl FromStr for WorkerOperation {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        Self::ALL.into_iter().find(|one| one.name() == word).ok_or(UnknownWord("operation"))
    }
}

impl FromStr for NetOperation {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        Self::ALL.into_iter().find(|one| one.name() == word).ok_or(UnknownWord("operation"))
    }
}

impl FromStr for FailureCode {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        Self::ALL.into_iter().find(|one| one.name() == word).ok_or(UnknownWord("failure"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_read_back() {
        for operation in WorkerOperation::ALL {
            assert_eq!(operation.name().parse(), Ok(operation));
            assert_eq!(serde_json::to_value(operation).unwrap(), operation.name());
        }
        for operation in NetOperation::ALL {
            assert_eq!(operation.name().parse(), Ok(operation));
        }
        for code in FailureCode::ALL {
            assert_eq!(code.name().parse(), Ok(code));
        }
        assert!("reload".parse::<NetOperation>().is_err());
    }
}
