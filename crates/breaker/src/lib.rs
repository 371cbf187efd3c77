#![doc = include_str!("../README.md")]
//!
//! # The rooms of this crate
//!
//! `config` (what a breaker goes by, checked) → `gate` (the state in one word) → `core` (gate, lock,
//! counters) → `machine` (the pure state machine) → `events` (what others are told). On top:
//! `breaker` (the handle), `permit` (a call that was let through), `call` (asynchronous calls),
//! `hedge` (several attempts that count once), `layer` (tower), `registry` (a breaker for each key).
#![forbid(unsafe_code)]

mod breaker;
#[cfg(feature = "async")]
mod call;
mod calls;
mod classify;
mod clock;
mod config;
mod core;
mod error;
mod events;
mod gate;
mod hedge;
#[cfg(feature = "tower")]
mod layer;
mod machine;
mod manual_clock;
mod moment;
mod permit;
mod rare;
mod registry;
mod saved;
mod snapshot;
mod state;
mod sync;
mod ticket;

pub use breaker::Breaker;
#[cfg(feature = "async")]
pub use call::{Call, CallContext, CallOptions, Limited};
pub use classify::{ByError, Classify, EveryError};
#[cfg(feature = "async")]
pub use clock::Sleep;
pub use clock::{Clock, SystemClock};
pub use config::{
    Builder, ClosePolicy, ConfigError, Detector, HalfOpenPolicy, LatencyOf, MAX_DETECTORS,
    MAX_NAME, MAX_RING, Problem, Ring, Rolling,
};
pub use error::{CallError, Rejected, TooManyListeners};
pub use events::{Event, Events, MAX_LISTENERS, MAX_UNREAD, Notice, Subscription};
pub use hedge::Hedge;
#[cfg(feature = "tower")]
pub use layer::{BreakerLayer, BreakerService, ResponseFuture};
pub use manual_clock::ManualClock;
pub use moment::Moment;
pub use permit::Permit;
pub use registry::{Breakers, BreakersBuilder, Full, MAX_REGISTRY};
pub use saved::{MAX_SAVED_GENERATION, RestoreError, Saved};
pub use snapshot::{LatencySnapshot, Snapshot, WindowSnapshot};
pub use state::{Cause, FailureKind, Settled, State, Verdict};
/// Stops a call from outside: see [`CallOptions::cancelled_by`].
#[cfg(feature = "async")]
pub use tokio_util::sync::CancellationToken;
