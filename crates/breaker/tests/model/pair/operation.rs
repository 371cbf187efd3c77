//! What can be done to a breaker, in a form that both sides understand.

use mainstay_breaker::{MAX_SAVED_GENERATION, State};

/// How many bytes [`Step::decode`] wants.
pub(crate) const STEP_BYTES: usize = 4;

/// One operation, and whether somebody looks at the breaker afterwards: looking sweeps and forgets,
/// so that a bug could hide behind it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) operation: Operation,
    pub(crate) look: bool,
}

/// An index counts modulo what there is; where there is nothing, nothing happens.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Operation {
    Enter,
    EnterOwned,
    EnterProbe,
    /// Enters by one of the hedged calls that there are, or by a new one.
    EnterHedge {
        group: u8,
    },
    Settle {
        call: u8,
        end: End,
    },
    /// A call that blocks, in one go.
    Run {
        succeeds: bool,
    },
    Advance {
        ticks: u64,
    },
    StepBack {
        ticks: u64,
    },
    ForceOpen,
    ForceClosed,
    Reset,
    /// Keeps what the breaker would carry over a restart.
    Export,
    /// Goes on with what was kept.
    Restore,
    /// Goes on with what another breaker might have saved.
    RestoreMade {
        state: State,
        forced: bool,
        failures: u32,
        /// In ticks.
        remaining: u64,
        generation: u64,
    },
    Look,
}

/// How a call ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Success,
    Failure,
    Timeout,
    Ignore,
    Cancel,
    Drop,
    Panic,
}

impl Step {
    /// Any bytes make a step. Zeroes make the simplest.
    pub(crate) fn decode([kind, first, second, look]: [u8; STEP_BYTES]) -> Self {
        let operation = match kind % 32 {
            0..=7 => Operation::Enter,
            8 => Operation::EnterOwned,
            9 => Operation::EnterProbe,
            10..=12 => Operation::EnterHedge { group: first },
            13..=22 => Operation::Settle { call: first, end: End::decode(second) },
            23..=26 => Operation::Advance { ticks: ticks(first, second) },
            27 => Operation::StepBack { ticks: ticks(first, second) },
            28 => match first % 8 {
                0 => Operation::ForceOpen,
                1 => Operation::ForceClosed,
                _ => Operation::Reset,
            },
            29 => Operation::decode_restart(first, second),
            30 => Operation::Run { succeeds: first.is_multiple_of(2) },
            _ => Operation::Look,
        };
        Self { operation, look: !look.is_multiple_of(4) }
    }
}

impl Operation {
    fn decode_restart(first: u8, second: u8) -> Self {
        match first % 4 {
            0 | 1 => Self::Export,
            2 => Self::Restore,
            _ => Self::RestoreMade {
                state: [State::Closed, State::Open, State::HalfOpen][usize::from(second % 3)],
                forced: (first / 4).is_multiple_of(8),
                failures: u32::from(first / 32),
                remaining: u64::from(second / 4),
                generation: match second {
                    254 => MAX_SAVED_GENERATION,
                    255 => MAX_SAVED_GENERATION + 1,
                    _ => u64::from(second / 2),
                },
            },
        }
    }
}

impl End {
    fn decode(byte: u8) -> Self {
        match byte % 16 {
            0..=5 => Self::Success,
            6..=10 => Self::Failure,
            11 => Self::Timeout,
            12 => Self::Ignore,
            13 => Self::Cancel,
            14 => Self::Drop,
            _ => Self::Panic,
        }
    }
}

fn ticks(first: u8, second: u8) -> u64 {
    match first % 8 {
        0..=3 => 1,
        4 => 2,
        5 => 5,
        6 => u64::from(second % 24) + 1,
        _ => 20,
    }
}
