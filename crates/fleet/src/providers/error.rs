//! Why a provider did not do what it was asked for.
//!
//! What a provider writes is repeated only as far as it is bounded and printable; no text holds a token.

use std::time::Duration;

/// The most characters of what a provider wrote that are kept.
pub const MAX_DETAIL: usize = 300;

/// Why a machine that was not found is not taken for gone.
pub(crate) const NOT_SURE: &str = "it says that the machine is gone, and then that it is there";

/// Why a provider did not do what it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// There is no such machine any more, by the provider's own word.
    #[error("the machine no longer exists ({0})")]
    Gone(String),
    /// Nobody answered, or the provider failed: nothing was done, as far as can be known.
    #[error("the provider can't be reached: {0}; try again once it answers")]
    Unreachable(String),
    /// It failed so often that it is not asked for a while.
    #[error(
        "the provider can't be reached: it failed so often that it is left alone for a while; try again once it answers"
    )]
    LeftAlone {
        /// For how long.
        retry_after: Duration,
    },
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
    #[error("it is not known whether the provider did it: {0}; try again, it is looked up first")]
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
    /// It was stopped a moment ago, and does not start yet.
    Lingering,
    /// What the provider says, and nothing that is known.
    Other,
}

impl ProviderError {
    /// The word for it in the API, in logs and in metrics.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Gone(_) => "gone",
            Self::Unreachable(_) | Self::LeftAlone { .. } => "unreachable",
            Self::Conflict { .. } => "conflict",
            Self::Throttled { .. } => "throttled",
            Self::Denied(_) => "denied",
            Self::Ambiguous(_) => "ambiguous",
            Self::Invalid(_) => "invalid",
        }
    }

    /// Whether another try may do better.
    #[must_use]
    pub const fn is_retriable(&self) -> bool {
        match self {
            Self::Unreachable(_)
            | Self::LeftAlone { .. }
            | Self::Throttled { .. }
            | Self::Ambiguous(_) => true,
            // What ends by itself within seconds, the provider's own client has waited for.
            Self::Conflict { .. } | Self::Gone(_) | Self::Denied(_) | Self::Invalid(_) => false,
        }
    }

    /// Whether it is a plain no to an order: nothing was begun.
    #[must_use]
    pub const fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Denied(_) | Self::Invalid(_) | Self::Conflict { kind: Conflict::Capacity, .. }
        )
    }

    /// Whether somebody holds the machine, which ends in its time.
    #[must_use]
    pub const fn is_held(&self) -> bool {
        matches!(self, Self::Conflict { kind: Conflict::Leased, .. })
    }

    /// Whether it is trouble of the provider's own, which ends some time.
    #[must_use]
    pub const fn is_trouble(&self) -> bool {
        matches!(
            self,
            Self::Unreachable(_)
                | Self::LeftAlone { .. }
                | Self::Throttled { .. }
                | Self::Ambiguous(_)
        )
    }

    /// How long to leave the provider alone, where it is known.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Throttled { retry_after } | Self::LeftAlone { retry_after } => Some(*retry_after),
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
            Self::Lingering => "lingering",
            Self::Other => "other",
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
            Self::Lingering => {
                "the machine was stopped a moment ago and does not start yet; try again in a while"
            }
            Self::Other => "something stands in its way at the provider",
        })
    }
}

/// What a provider wrote, as far as it may be repeated: on one line, without control characters, bounded.
#[must_use]
pub fn told(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().filter(|letter| !letter.is_control()).take(MAX_DETAIL).collect()
}
