//! The dependency graph of this instance, kept true by what the organisation's stream tells.
//!
//! The way of a change: `dirty` collects whom events name → `record` (all SQL) reads those again →
//! the `keeper` applies the difference to the graph of [`mainstay_graph`] → a [`picture`] is what
//! follows from one version of it, drawn where the [`drawing`] says → [`show`] makes the [`view`] that
//! people get, as an [`Answer`](crate::answer::Answer) once. [`then`] makes the graph of a moment of the past. [`suggestions`] are confirmed or dismissed. [`Graphs`] is the handle.

mod dirty;
pub mod drawing;
mod handle;
mod keeper;
mod measure;
pub mod picture;
mod record;
mod shared;
pub mod show;
pub mod suggestions;
pub mod then;
pub mod view;

pub use handle::{Graphs, GraphsError, GraphsOptions};
pub use measure::{METRIC_BUCKETS, describe_metrics};
pub use picture::Picture;
pub(crate) use shared::blocking;
