//! The room on both databases, with a world of machines and agents that does what a test says.
#![cfg(test)]

mod findings;
mod fly;
mod history;
mod house;
mod keys;
mod leftovers;
mod lifecycle;
mod loads;
mod outages;
mod process;
mod property;
mod sweeps;
mod world;
