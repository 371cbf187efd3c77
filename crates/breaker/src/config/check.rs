//! Refuses what can't work, at the time the breaker is built.

use std::fmt;
use std::time::Duration;

use thiserror::Error;

/// A configuration that can't work.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("breaker {breaker:?}: {field} {problem}")]
pub struct ConfigError {
    /// The name of the breaker.
    pub breaker: String,
    /// The field that is wrong.
    pub field: &'static str,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a field of the configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Problem {
    /// It is empty, and must not be.
    Empty,
    /// It is zero, and must be more.
    Zero,
    /// It is a share, and must be within 0 and 1.
    NotAShare(f64),
    /// It has more bytes than it may.
    TooLong {
        /// How many it has.
        given: usize,
        /// How many it may have.
        most: usize,
    },
    /// It is more than can be.
    TooMany {
        /// What was given.
        given: u64,
        /// What can be.
        most: u64,
        /// Why there can't be more.
        because: &'static str,
    },
    /// It must be longer than something else.
    NotLonger {
        /// What was given.
        given: Duration,
        /// What it must exceed.
        than: Duration,
        /// What that is, and why.
        because: &'static str,
    },
    /// It holds characters that would break a line of a log.
    ControlCharacters,
    /// It is given more than once, and only one can hold.
    Contradiction,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(formatter, "is empty: it must not be"),
            Self::Zero => write!(formatter, "is zero: it must be at least one unit"),
            Self::NotAShare(given) => write!(formatter, "is {given}: it must be within 0 and 1"),
            Self::TooLong { given, most } => {
                write!(formatter, "is {given} bytes long: it may be {most} bytes long")
            }
            Self::TooMany { given, most, because } => {
                write!(formatter, "is {given}: at most {most} can be, because {because}")
            }
            Self::NotLonger { given, than, because } => {
                write!(
                    formatter,
                    "is {given:?}: it must be longer than {than:?}, because {because}"
                )
            }
            Self::ControlCharacters => {
                write!(formatter, "holds control characters: leave them out")
            }
            Self::Contradiction => write!(formatter, "is given more than once: only one can hold"),
        }
    }
}

/// A field and what is wrong with it, before the name of the breaker is added.
pub(super) type Wrong = (&'static str, Problem);

pub(super) fn at_least_one(field: &'static str, number: u32) -> Result<(), Wrong> {
    if number == 0 { Err((field, Problem::Zero)) } else { Ok(()) }
}

pub(super) fn at_most(
    field: &'static str,
    given: u32,
    most: u32,
    because: &'static str,
) -> Result<(), Wrong> {
    if given <= most {
        return Ok(());
    }
    Err((field, Problem::TooMany { given: given.into(), most: most.into(), because }))
}

pub(super) fn some_time(field: &'static str, duration: Duration) -> Result<(), Wrong> {
    if duration.is_zero() { Err((field, Problem::Zero)) } else { Ok(()) }
}

pub(super) fn share(field: &'static str, number: f64) -> Result<(), Wrong> {
    if (0.0..=1.0).contains(&number) { Ok(()) } else { Err((field, Problem::NotAShare(number))) }
}
