//! Workers, the machines that run `mainstay agent`, and the nets that are loaded on them.
//!
//! The way of an operation: [`fleet`] and [`nets`] begin it for whoever owns the worker or net ([`place`]
//! is where a page of a list begins), as [`decide`] (pure) allows on what [`model`] is → [`operate`]
//! carries it out as a durable job, by [`providers`] (make, start, stop and end machines, wherever they
//! are) and [`agents`] (ask the program that runs on one) → `record` (all SQL) writes what became of it
//! with its events (`announce`) → [`wait`] tells whoever waits for it.
//!
//! Beside it the [`engine`] looks at all ready workers (`observe`, with `hearsay` of their providers) at a [`pace`] and
//! tells when most of them fail at once ([`mass`]), `leftovers` ends machines that
//! nobody has, and `collect` fetches what
//! their nets found, which [`locations`] shows; [`neighbours`] is what other rooms are asked for. [`error`] says what went
//! wrong, `measure` tells the metrics. The [`agent`] is the program on a worker.

pub mod agent;
pub mod agents;
mod announce;
mod collect;
pub mod decide;
pub mod engine;
pub mod error;
pub mod fleet;
mod hearsay;
mod leftovers;
pub mod locations;
pub mod mass;
mod measure;
pub mod model;
pub mod neighbours;
pub mod nets;
mod observe;
pub mod operate;
pub mod pace;
pub mod place;
pub mod providers;
mod record;
pub mod wait;

pub use agents::{AgentDoor, AgentError, AgentHealth, AgentKey, Agents, NetOrder};
pub use decide::Refusal;
pub use engine::{Engine, EngineTask};
pub use error::FleetError;
pub use fleet::{Expected, Fleet, FleetOptions, NewWorker};
pub use locations::CleanUpLocations;
pub use mass::MassFailure;
pub use measure::METRIC_BUCKETS;
pub use model::{
    Category, CheckKind, Crew, DefinedNet, Definition, Ended, Failure, FailureCode, LoadState,
    LocationChange, LocationStatus, Net, NetName, NetOperation, PlannedCheck, SeenLocation,
    Underway, Worker, WorkerName, WorkerOperation, WorkerStatus,
};
pub use neighbours::{Neighbours, Planner, Registry};
pub use nets::{NetPatch, NewNet};
pub use operate::Operator;
pub use pace::Pace;
pub use place::{Part, Place};
pub use providers::{Machine, Order, Provider, ProviderError, ProviderKind, Providers, Sighting};
pub use wait::Waited;

/// Gives each metric of the room its help text. Call it once, after the recorder is installed.
pub fn describe_metrics() {
    measure::describe_metrics();
    providers::measure::describe_metrics();
    agents::measure::describe_metrics();
}
