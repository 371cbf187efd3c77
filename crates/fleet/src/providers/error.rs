//! Why a provider did not do what it was asked for.
//!
//! What a provider writes is repeated only as far as it is bounded and printable; no text holds a token.

use std::time::Duration;

/// The most characters of what a provider wrote that are kept.
pub const MAX_DETAIL: usize = 300;

/// Why a provider did not do what it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// There is no such machine any more, by the provider's own word.
    #[error("the machine no longer exists ({0})")]
    Gone(String),
    /// Nobody answered, or the provider failed: nothing was done, as far as can be known.
    #[error("the provider can't be reached: {0}; it is tried again")]
    Unreachable(String),
    /// Something else stands in the way.
    #[error("{kind}: {detail}")]
    Conflict {
        /// What.
        kind: Conflict,
        /// What the provider wrote.
        detail: String,
    },
    /// Too many calls.
    #[error("the provider limits how often it is asked; it is asked again in {} s", .retry_after.as_secs().max(1))]
    Throttled {
        /// How long to leave it alone.
        retry_after: Duration,
    },
    /// We may not.
    #[error("the provider refuses our token: {0}; check the token and what it may do")]
    Denied(String),
    /// It may have been done: look before asking for it again.
    #[error(
        "it is not known whether the provider did it: {0}; it is looked up before it is tried again"
    )]
    Ambiguous(String),
    /// What was ordered can't be had: another try would not mend it.
    #[error("the provider refuses what was ordered: {0}")]
    Invalid(String),
}

/// What stands in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Conflict {
    /// Somebody else holds the machine.
    Leased,
    /// The machine has changed since it was read.
    Version,
    /// The host, or the whole account, has no room.
    Capacity,
    /// The name belongs to something else.
    NameTaken,
    /// The machine can't do that from where it is.
    State,
}

impl ProviderError {
    /// The word for it in the API, in logs and in metrics.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Gone(_) => "gone",
            Self::Unreachable(_) => "unreachable",
            Self::Conflict { .. } => "conflict",
            Self::Throttled { .. } => "throttled",
            Self::Denied(_) => "denied",
            Self::Ambiguous(_) => "ambiguous",
            Self::Invalid(_) => "invalid",
        }
    }

    /// Whether it says something of the provider and nothing of the machine: then nothing changes about
    /// the worker.
    #[must_use]
    pub const fn is_the_providers_own(&self) -> bool {
        matches!(
            self,
            Self::Unreachable(_) | Self::Throttled { .. } | Self::Denied(_) | Self::Ambiguous(_)
        )
    }

    /// Whether another try may do better.
    #[must_use]
    pub const fn is_retriable(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Throttled { .. } | Self::Ambiguous(_) => true,
            Self::Conflict { kind, .. } => !matches!(kind, Conflict::NameTaken),
            Self::Gone(_) | Self::Denied(_) | Self::Invalid(_) => false,
        }
    }

    /// How long to leave the provider alone, where it is known.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Throttled { retry_after } => Some(*retry_after),
            _ => None,
        }
    }
}

impl Conflict {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Leased => "leased",
            Self::Version => "version",
            Self::Capacity => "capacity",
            Self::NameTaken => "name_taken",
            Self::State => "state",
        }
    }
}

impl std::fmt::Display for Conflict {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Leased => "somebody else holds the machine",
            Self::Version => "the machine has changed in between",
            Self::Capacity => "the provider has no room for it",
            Self::NameTaken => "the name is taken by something else",
            Self::State => "the machine can't do that from where it is",
        })
    }
}

/// What a provider wrote, as far as it may be repeated: on one line, without control characters, bounded.
#[must_use]
pub fn told(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().filter(|letter| !letter.is_control()).take(MAX_DETAIL).collect()
}
