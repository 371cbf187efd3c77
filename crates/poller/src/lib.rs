#![doc = include_str!("../README.md")]
//!
//! ## The rooms of this crate
//!
//! `schedule` (when to poll, pure) → `guard` (may we) → `poller` (polls, and what its handles know) →
//! `queue` (what is told, in order) → `executor` (commands, folding, failures by mode). On top: `watch`
//! puts a poller together, `context` is what a command starts it in.
#![forbid(unsafe_code)]

mod adapter;
mod bell;
mod chance;
mod clock;
mod context;
mod error;
mod executor;
mod guard;
mod observed;
mod outcome;
mod poller;
mod queue;
mod raised;
mod reason;
#[cfg(doctest)]
mod required;
mod schedule;
mod span;
mod start;
mod sync;
mod timeout;
mod watch;

pub use adapter::{Adapter, Sequence};
pub use clock::{Clock, Sleep, SystemClock};
pub use context::Context;
pub use error::{PollerError, StartError};
pub use executor::{
    Builder, CANCEL_WITHIN, Cause, Executor, Failure, MAX_EVENTS, Mode, Model, Observer, Run,
    RunError,
};
pub use guard::{BoxedPoll, Guard, Guarded};
pub use observed::Observed;
pub use outcome::{IntoOutcome, Outcome};
pub use poller::{Handle, MAX_POLLERS, PollerId, State, Status};
pub use queue::{DEFAULT_CAPACITY, Entry, EventQueue};
pub use reason::Reason;
pub use schedule::{Every, MAX_WITHIN, MIN_INTERVAL, Schedule, ScheduleError};
pub use span::Span;
pub use timeout::{Limit, OnTimeout, TimeoutInfo};
pub use watch::{Background, SettleError, Unlimited, Unscheduled, Waiting, Watch, settle};
