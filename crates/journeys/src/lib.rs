//! Journeys: scripted paths of a user through real systems, for people who do not write Rust.
//!
//! A [`file`] of YAML (checked, every mistake with its place) → [`model`] (the journey) → [`run`](mod@run) (on the poller's
//! executor; requests go out by `courier`, past a breaker for each host) → [`report`] (what came of it,
//! without any secret) → [`junit`].
//!
//! Texts are filled in by [`template`] from `scope`, values are found by [`path`], answers are judged by
//! `judge` and `compare`; `mask` keeps secrets out of all that is shown.

pub mod bounds;
mod compare;
pub mod courier;
mod curl;
pub mod file;
mod judge;
pub mod junit;
mod mask;
pub mod model;
mod nearest;
pub mod path;
pub mod report;
mod request;
pub mod run;
mod scope;
pub mod template;
mod text;

pub use courier::Courier;
pub use file::{Mistake, schema};
pub use model::{Journey, Mode, NoMode};
pub use report::{RunOutcome, RunRecord};
pub use run::{News, Observer, Options, StartError, run};
pub use scope::Secrets;
