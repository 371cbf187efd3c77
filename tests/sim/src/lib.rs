//! The poll loop in virtual time: [`world`] drives the roster that really polls, and [`script`] says how
//! each endpoint behaves. Nothing sleeps, nothing is random but by a seed, and the same seed gives the
//! same run.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a simulation that can't be set up must stop with the reason"
)]

pub mod script;
pub mod world;

pub use script::{Manner, Script};
pub use world::{Poll, World, WorldOptions};
