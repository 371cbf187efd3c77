//! The monitor: services polled on time, their answers judged and recorded.
//!
//! Data moves one way: [`report`] is what an answer says.

pub mod report;

pub use report::{HealthState, Report, Reported, Warning};
