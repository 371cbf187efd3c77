//! The monitor: services polled on time, their answers judged and recorded.
//!
//! Data moves one way: [`formats`] read an answer, and [`report`] is what it says.

pub mod formats;
pub mod report;

pub use formats::{BadBody, Format, FormatError, Mapping};
pub use report::{DependencyStatus, HealthState, Report, Reported, Warning};
