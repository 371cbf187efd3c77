//! The monitor: services polled on time, their answers judged and recorded.
//!
//! Data moves one way: [`watch`] is what is known of a service, [`policy`] the numbers that polling
//! goes by → the [`roster`] says which request to make now, by [`decide`] → [`report`] is what an
//! answer says, [`failure`] why there is none. [`latency`] keeps how long dependencies took.

pub mod decide;
pub mod failure;
pub mod formats;
pub mod latency;
pub mod policy;
pub mod report;
pub mod roster;
pub mod watch;

pub use failure::{FailureKind, PollFailure};
pub use policy::{PolicyError, PollPolicy};
pub use report::{HealthState, Report, Reported, Warning};
pub use roster::Roster;
pub use watch::{Endpoint, ServiceNumber, Watch};
