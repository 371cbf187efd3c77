//! Why there is no answer. No text holds what was asked or answered, or the key.

use std::fmt;
use std::time::Duration;

use mainstay_breaker::Verdict;

/// The most bytes of an answer that is no JSON that are kept.
pub const MAX_RAW: usize = 256 * 1024;

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub enum LlmError {
    /// No whole answer in time.
    #[error("the language model gave no answer within {} s; it is tried again", .limit.as_secs_f64())]
    Timeout {
        /// How long it had.
        limit: Duration,
    },
    /// No connection, or one that was lost.
    #[error("the language model can't be reached: {0}")]
    Network(String),
    /// Too many questions.
    #[error("the provider of the language model limits how often it is asked (429{}); it is tried again", .code.as_ref().map(|code| format!(" {code}")).unwrap_or_default())]
    RateLimited {
        /// The provider's word for it.
        code: Option<String>,
        /// How long it asks to be left alone.
        retry_after: Option<Duration>,
    },
    /// The provider failed.
    #[error("the provider of the language model failed ({status}); it is tried again")]
    Provider5xx {
        /// Its status.
        status: u16,
        /// How long it asks to be left alone.
        retry_after: Option<Duration>,
    },
    /// The provider refuses the question.
    #[error("the provider of the language model refused the request ({status}{}); {}", .code.as_ref().map(|code| format!(" {code}")).unwrap_or_default(), advice(*.status))]
    Provider4xx {
        /// Its status.
        status: u16,
        /// The provider's word for it.
        code: Option<String>,
    },
    /// What the model wrote is no JSON.
    #[error(
        "the language model wrote something else than JSON; what it wrote is kept, try another LLM_MODEL"
    )]
    InvalidJson {
        /// What it wrote, up to [`MAX_RAW`].
        raw: String,
    },
    /// Anything else that another try would not mend.
    #[error("{0}")]
    Failed(String),
    /// The provider failed so often of late that it was not asked.
    #[error("the provider of the language model failed so often that it is left alone for {} s", .wait.as_secs().max(1))]
    Open {
        /// When to ask again.
        wait: Duration,
    },
}

impl LlmError {
    /// The word for it on jobs, in logs and in metrics.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Timeout { .. } => "llm_timeout",
            Self::Network(_) => "llm_network_error",
            Self::RateLimited { .. } => "llm_rate_limited",
            Self::Provider5xx { .. } => "llm_provider_5xx",
            Self::Provider4xx { .. } => "llm_provider_4xx",
            Self::InvalidJson { .. } => "llm_output_invalid_json",
            Self::Failed(_) => "llm_provider_failed",
            Self::Open { .. } => "llm_left_alone",
        }
    }

    /// Whether another try may do better.
    #[must_use]
    pub const fn is_retriable(&self) -> bool {
        match self {
            Self::Timeout { .. }
            | Self::Network(_)
            | Self::RateLimited { .. }
            | Self::Provider5xx { .. }
            | Self::Open { .. } => true,
            Self::Provider4xx { .. } | Self::InvalidJson { .. } | Self::Failed(_) => false,
        }
    }

    /// How long the provider asks to be left alone, where it says so.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Provider5xx { retry_after, .. } => {
                *retry_after
            }
            Self::Open { wait } => Some(*wait),
            _ => None,
        }
    }

    /// What the model wrote, where that was no JSON.
    #[must_use]
    pub fn raw(&self) -> Option<&str> {
        match self {
            Self::InvalidJson { raw } => Some(raw),
            _ => None,
        }
    }

    /// What it means to the breaker: a provider that answers is well, also when it says no. One that
    /// limits us is to be left alone.
    pub(crate) const fn verdict(&self) -> Verdict {
        if self.is_retriable() { Verdict::Failure } else { Verdict::Success }
    }
}

/// Without what the model wrote.
impl fmt::Debug for LlmError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "LlmError({}: {self})", self.code())
    }
}

const fn advice(status: u16) -> &'static str {
    match status {
        401 | 403 => "check LLM_API_KEY and what it may do",
        404 => "check LLM_BASE_URL and LLM_MODEL",
        413 => "the transcript is too long for it; shorten it, or take another LLM_MODEL",
        _ => "check LLM_MODEL, LLM_BASE_URL and the length of the transcript",
    }
}
