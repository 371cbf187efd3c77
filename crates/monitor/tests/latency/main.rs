//! The history of latencies on both databases.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test stops with the reason"
)]

mod house;
mod points;
