//! The history of latencies on both databases.

mod charts;
mod closing;
mod house;
mod interrupted;
mod job;
mod partitions;
mod plans;
mod points;
mod removed;
mod rollups;
