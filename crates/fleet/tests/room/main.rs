//! The room on both databases, with a world of machines and agents that does what a test says.
#![cfg(test)]

mod house;
mod keys;
mod lifecycle;
mod loads;
mod sweeps;
mod world;
