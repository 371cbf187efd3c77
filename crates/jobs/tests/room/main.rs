//! The queue on both databases: every rule that a caller or a runner can see.
#![cfg(test)]

mod acts;
mod claims;
mod crons;
mod enqueues;
mod fences;
mod hooks;
mod house;
mod lists;
mod runners;
mod steps;
mod stops;
mod wakes;
