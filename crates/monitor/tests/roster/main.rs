//! The roster, driven by hand: no clock, no sockets.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that can't be set up must stop with the reason"
)]
#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small numbers of tests"
)]

mod crowds;
mod edits;
mod flights;
mod gates;
mod stage;
mod timing;
