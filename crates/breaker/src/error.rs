//! What a caller is told when a call does not go through or does not end well.

use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use crate::machine::Refusal;
use crate::state::State;

/// A call is refused: the breaker is open, or half-open with no probe to spare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the circuit breaker is {state}: {}", advice(*.retry_after))]
pub struct Rejected {
    /// The state that refuses it.
    pub state: State,
    /// When to ask again, at the latest: a probe that ends may change the answer before. Absent
    /// where the breaker was forced open and only a person can change it.
    pub retry_after: Option<Duration>,
}

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CallError<E> {
    /// It was refused, and the downstream never saw it.
    #[error("{name}: the circuit breaker is {state}: {}", advice(*.retry_after))]
    Open {
        /// The name of the breaker.
        name: Arc<str>,
        /// The state that refused it.
        state: State,
        /// When to ask again, at the latest. Absent where only a person can change it.
        retry_after: Option<Duration>,
    },
    /// It did not end in time and was dropped. It counted as a failure, or as stale; if it had no time
    /// at all it was not made, and not counted.
    #[error("{}", late(*.after))]
    Timeout {
        /// How long it had. Zero where it was not made.
        after: Duration,
    },
    /// Its caller cancelled it, or another attempt of the same hedged call had the first result. It
    /// counted neither as a success nor as a failure, unless it was over the limit of slow calls by
    /// then: that counts, however a call ends. One that was cancelled before it was made is not counted.
    #[error("the call was cancelled")]
    Cancelled,
    /// It ran and returned this.
    #[error(transparent)]
    Inner(E),
}

/// There can be no more listeners than [`MAX_LISTENERS`](crate::MAX_LISTENERS).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "the circuit breaker has {} listeners already: drop a subscription first",
    crate::MAX_LISTENERS
)]
pub struct TooManyListeners;

impl<E> CallError<E> {
    #[inline(always)]
    pub(crate) fn open(name: &Arc<str>, rejected: Rejected) -> Self {
        let Rejected { state, retry_after } = rejected;
        Self::Open { name: Arc::clone(name), state, retry_after }
    }

    /// What the call itself returned, if it ran and returned.
    pub fn into_inner(self) -> Option<E> {
        match self {
            Self::Inner(error) => Some(error),
            _ => None,
        }
    }

    /// Whether the downstream never saw the call.
    pub const fn is_rejection(&self) -> bool {
        matches!(self, Self::Open { .. })
    }
}

impl From<Refusal> for Rejected {
    fn from(refusal: Refusal) -> Self {
        Self { state: refusal.state, retry_after: refusal.retry_after }
    }
}

fn late(after: Duration) -> String {
    if after.is_zero() {
        return "the call had no time left and was not made".to_owned();
    }
    format!("the call did not end within {after:?} and was dropped")
}

fn advice(retry_after: Option<Duration>) -> String {
    match retry_after {
        Some(duration) => format!("ask again after {duration:?}"),
        None => "it was forced open and stays so until it is reset".to_owned(),
    }
}
