//! Journeys: scripted paths of a user through real systems, for people who do not write Rust.
//!
//! A [`file`](mod@file) of YAML (checked, every mistake with its place) → [`model`] (the journey) → [`run`](mod@run) (on the poller's
//! executor; requests go out by `courier`, past a breaker for each host) → [`report`] (what came of it,
//! without any secret) → [`junit`].
//!
//! Texts are filled in by [`template`] from `scope`, values are found by [`path`], answers are judged by
//! `judge` and `compare`; `mask` keeps secrets out of all that is shown.
//!
//! On a server [`journeys`] keeps them as [`kept`] says, [`engine`] queues the runs that are due, [`runner`]
//! runs them as jobs, `fit` holds their records to a length, `record` (all SQL) writes down what came of
//! them, and `announce` tells the organisation.

mod announce;
pub mod bounds;
mod compare;
pub mod courier;
mod curl;
pub mod engine;
pub mod error;
pub mod file;
mod fit;
pub mod journeys;
mod judge;
pub mod junit;
pub mod kept;
mod mask;
mod measure;
pub mod model;
mod nearest;
pub mod path;
mod record;
pub mod report;
mod request;
pub mod run;
pub mod runner;
mod scope;
pub mod template;
mod text;

pub use courier::Courier;
pub use error::JourneysError;
pub use file::{Mistake, schema};
pub use journeys::{EditedJourney, JourneyEdit, Journeys, JourneysOptions, Listed};
pub use measure::describe_metrics;
pub use model::{Journey, Mode, NoMode};
pub use report::{RunOutcome, RunRecord};
pub use run::{News, Observer, Options, StartError, run};
pub use runner::{JourneyRunner, Luggage};
pub use scope::Secrets;
