// Where the README links to a file, this page links to the item: of two definitions the first holds.
#![cfg_attr(feature = "async", doc = "[run]: Breaker::run")]
#![cfg_attr(feature = "async", doc = "[call]: Breaker::call")]
#![cfg_attr(feature = "async", doc = "[enter]: Permit")]
#![cfg_attr(feature = "async", doc = "[registry]: Breakers")]
#![cfg_attr(feature = "async", doc = "[runbook]: tuning")]
#![cfg_attr(feature = "tower", doc = "[layer]: BreakerLayer")]
#![cfg_attr(not(feature = "tower"), doc = "[layer]: #features")]
// Its examples need the default features.
#![cfg_attr(feature = "async", doc = include_str!("../README.md"))]
#![cfg_attr(not(feature = "async"), doc = "A circuit breaker without asynchronous calls.")]
//!
//! ## The rooms of this crate
//!
//! `config` (what a breaker goes by, checked) → `gate` (the state in one word) → `core` (gate, lock,
//! counters) → `machine` (the pure state machine) → `events` (what others are told). On top:
//! `breaker` (the handle), `permit` (a call that was let through), `call` (asynchronous calls),
//! `hedge` (several attempts that count once), `layer` (tower), `registry` (a breaker for each key).
#![forbid(unsafe_code)]

/// The operator's runbook.
///
/// [readme]: crate
///
#[cfg(all(feature = "async", any(doc, doctest)))]
#[doc = include_str!("../../../docs/runbooks/tune-a-breaker.md")]
pub mod tuning {}

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
