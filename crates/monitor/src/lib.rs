//! The monitor: services polled on time, their answers judged and recorded.
//!
//! Data moves one way: people define [`services`], one by one or all at once ([`desired`]) → [`watch`]
//! is what is known of one, [`policy`] the numbers that polling goes by → the [`engine`] learns from a
//! [`source`] which services there are, and the [`roster`] says which request to make now, by [`decide`]
//! → [`observe`] makes it → [`formats`] read the answer → [`report`] is what it says, [`failure`] why
//! there is none → a [`sink`] takes the result: the [`recorder`], which compares it with what is
//! `known`, as `judge` says (pure), and writes it with its events by `record` (all SQL). [`latency`]
//! keeps how long dependencies took, [`graph`] what leans on what, [`past`] how everything was. Several
//! instances divide the work by [`shards`].

pub mod aliases;
mod announce;
pub mod answer;
mod aside;
pub mod decide;
pub mod desired;
pub mod engine;
pub mod failure;
pub mod formats;
pub mod graph;
mod judge;
mod known;
pub mod latency;
pub mod names;
pub mod observe;
pub mod past;
pub mod policy;
pub mod polling;
mod record;
pub mod recorder;
pub mod report;
pub mod roster;
pub mod services;
pub mod shards;
pub mod sink;
pub mod source;
pub mod status;
pub mod views;
pub mod watch;

pub use engine::{Engine, EngineParts};
pub use failure::{FailureKind, PollFailure};
pub use formats::{BadBody, Format, FormatError, Mapping};
pub use graph::{Graphs, GraphsOptions};
pub use past::Past;
pub use policy::{PolicyError, PollPolicy};
pub use polling::{Fetch, Polling};
pub use recorder::Recorder;
pub use report::{DependencyStatus, HealthState, Report, Reported, Warning};
pub use roster::Roster;
pub use services::{Definition, Draft, Patch, Seal, Services, ServicesError, Watches};
pub use shards::{Keeper, KeeperParts, Tenure};
pub use sink::{PollResult, Recorded, Sink};
pub use status::ServiceStatus;
pub use views::Views;
pub use watch::{Endpoint, ServiceNumber, Watch};
