//! The words of a breaker: its state, why it changed, how a call ended.

use std::fmt;

/// Whether calls are let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum State {
    /// Calls go through, and their results are watched.
    Closed,
    /// Calls are refused at once.
    Open,
    /// A bounded number of probes goes through; their results decide.
    HalfOpen,
}

impl fmt::Display for State {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half-open",
        })
    }
}

/// Why a breaker changed its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// The detector's limit was reached.
    Tripped,
    /// It had been open for long enough.
    Waited,
    /// The probes spoke for the downstream.
    ProbesSucceeded,
    /// The probes spoke against the downstream.
    ProbesFailed,
    /// An operator's probe was let through ahead of the time.
    OperatorProbe,
    /// An operator's probe ended without a result: the breaker is open as it was before.
    OperatorProbeGone,
    /// Somebody forced it.
    Forced,
    /// Somebody reset it.
    Reset,
    /// It was restored from what was saved.
    Restored,
}

impl fmt::Display for Cause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Tripped => "the detector's limit was reached",
            Self::Waited => "it had been open for long enough",
            Self::ProbesSucceeded => "the probes succeeded",
            Self::ProbesFailed => "the probes failed",
            Self::OperatorProbe => "an operator's probe was let through",
            Self::OperatorProbeGone => "the operator's probe ended without a result",
            Self::Forced => "it was forced",
            Self::Reset => "it was reset",
            Self::Restored => "it was restored",
        })
    }
}

/// Why a call counted as a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureKind {
    /// It returned what the classifier calls a failure.
    Error,
    /// It did not end in time and was dropped.
    Timeout,
    /// It panicked.
    Panic,
    /// It took longer than a call may take, or is in flight for longer.
    Slow,
}

impl fmt::Display for FailureKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Error => "error",
            Self::Timeout => "timeout",
            Self::Panic => "panic",
            Self::Slow => "slow",
        })
    }
}

/// What became of a result that was given to the breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Settled {
    /// It was counted.
    Counted,
    /// It belongs to another generation: the breaker changed its state since the call was let
    /// through, or the call was a probe that was lost. It was counted as stale and moved nothing else.
    Stale,
    /// Another attempt of the same hedged call had the first result: this one counted as cancelled,
    /// or as stale.
    Outrun,
}

/// What a result means to the breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It speaks for the downstream.
    Success,
    /// It speaks against the downstream.
    Failure,
    /// It says nothing about the downstream, as an error of the caller's own making does.
    Ignore,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Outcome {
    Success,
    Failure(FailureKind),
    /// The classifier says that it speaks neither for nor against the downstream.
    Ignored,
    /// The caller went away.
    Cancelled,
}

impl From<Verdict> for Outcome {
    #[inline]
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Success => Self::Success,
            Verdict::Failure => Self::Failure(FailureKind::Error),
            Verdict::Ignore => Self::Ignored,
        }
    }
}
