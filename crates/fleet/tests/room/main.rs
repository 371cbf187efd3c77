//! The room on both databases, with a world of machines and agents that does what a test says.
#![cfg(test)]

mod history;
mod house;
mod keys;
mod lifecycle;
mod loads;
mod property;
mod sweeps;
mod world;
