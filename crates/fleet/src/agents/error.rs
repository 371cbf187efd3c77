//! Why an agent did not do what it was asked for. No text holds a token or an address.

/// Why an agent did not do what it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgentError {
    /// Nobody is there, it does not answer in time, or what answers in front of it says that it is not.
    #[error("the worker can't be reached: {0}")]
    Unreachable(String),
    /// Whoever answers is not our agent.
    #[error("what answers on the worker's port is not its agent: {0}")]
    Foreign(String),
    /// It does not know our token.
    #[error("the agent refuses our token; it was started with another: retry the worker")]
    Denied,
    /// It knows a newer generation.
    #[error("the agent knows a newer generation{}", .current.map(|current| format!(" ({current})")).unwrap_or_default())]
    Stale {
        /// Which one.
        current: Option<i64>,
    },
    /// It has no such net.
    #[error("the agent has no such net loaded")]
    NoSuchNet,
    /// It can't run what it was given.
    #[error("the agent refuses the net: {0}")]
    Refused(String),
}

impl AgentError {
    /// The word for it in logs and in metrics.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unreachable(_) => "unreachable",
            Self::Foreign(_) => "foreign",
            Self::Denied => "denied",
            Self::Stale { .. } => "stale",
            Self::NoSuchNet => "no_such_net",
            Self::Refused(_) => "refused",
        }
    }

    /// Whether the worker itself is lost, rather than that it said no to this one thing.
    #[must_use]
    pub const fn is_the_workers(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Foreign(_) | Self::Denied)
    }
}
