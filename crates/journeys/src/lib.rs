//! Journeys: scripted paths of a user through real systems, for people who do not write Rust.
//!
//! A [`file`](mod@file) of YAML (checked, every mistake with its place) → [`model`] (the journey) → [`run`](mod@run) (on the poller's
//! executor; requests go out by `courier`, past a breaker for each host) → [`report`] (what came of it,
//! without any secret) → [`junit`].
//!
//! Texts are filled in by [`template`] (what its expressions do, `expression` knows; what their `filters` make is bounded) from `scope`, values are found by [`path`] in an answer's `document`, answers are judged by
//! `judge` and `compare`, read as `charset` says; `mask` keeps secrets out of all that is shown,
//! however they are written (`writing`).
//!
//! On a server [`journeys`] keeps them as [`kept`] says, [`engine`] queues the runs that are due, [`runner`]
//! runs them as jobs until they end or somebody `cancel`s them, `progress` says how far they are, `fit` holds their records to a length, `record` (all SQL) writes down what came of
//! them, `decide` says what is known of them beside, and `announce` tells the organisation.

mod announce;
mod bad_template;
pub mod bounds;
mod cancel;
mod charset;
mod compare;
pub mod courier;
mod curl;
mod decide;
mod document;
pub mod engine;
pub mod error;
mod expression;
pub mod file;
mod filters;
mod fit;
pub mod journeys;
mod json_template;
mod judge;
pub mod junit;
pub mod kept;
mod mask;
mod measure;
pub mod model;
mod numbers;
pub mod path;
pub mod progress;
mod record;
pub mod report;
mod request;
pub mod run;
pub mod runner;
mod scope;
pub mod template;
mod text;
mod writing;

pub use courier::Courier;
pub use decide::Place;
pub use error::JourneysError;
pub use file::{Mistake, schema};
pub use journeys::{EditedJourney, JourneyEdit, Journeys, JourneysOptions, Listed, ReadSource};
pub use measure::describe_metrics;
pub use model::{Journey, Mode, NoMode};
pub use report::{RunOutcome, RunRecord};
pub use run::{News, Observer, Options, StartError, run, run_until};
pub use runner::{JourneyRunner, Luggage};
pub use scope::Secrets;
