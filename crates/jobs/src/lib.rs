//! The durable job queue: background work that is never lost, never finished twice and never stuck.
//!
//! The way of a job: [`model`] says what it is → [`jobs`] enqueues it in the caller's transaction →
//! [`queue`] claims it under a lease that fences every write → the [`runner`] runs its [`handler`]
//! with a [`context`] → [`decide`] (pure) says what becomes of it → `record` (all SQL) writes that
//! down, with the hook of its kind in the same transaction.
//!
//! Beside it: [`cron`] enqueues by the clock, [`view`] is what people see, `text` makes errors fit to
//! be kept, [`trace`] hands on whose request it was, `measure` tells the metrics.

pub mod context;
pub mod cron;
pub mod decide;
pub mod error;
pub mod handler;
pub mod jobs;
mod measure;
pub mod model;
pub mod queue;
mod record;
pub mod runner;
pub mod text;
pub mod trace;
pub mod view;

pub use context::Context;
pub use cron::CronJob;
pub use error::JobsError;
pub use handler::{DEFAULT_MAX_RUN, Handler, JobError};
pub use jobs::{Jobs, JobsOptions};
pub use measure::{METRIC_BUCKETS, describe_metrics};
pub use model::{
    Cause, Change, Claimed, Due, Enqueued, Failure, JobView, Kind, KindError, Lease, NewJob, Status,
};
pub use queue::Queue;
pub use runner::{Runner, RunnerOptions, RunnerTask, Turning, tell_depth};
pub use text::Traceparent;
pub use view::{JobFilter, KindSummary, Page, Part, Summary};
