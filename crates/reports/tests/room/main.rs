//! The room of reports on both databases, with a real storage and real runners.
//!
//! `MAINSTAY_FAULT_ROUNDS` says that the fault matrix leaves no place out, and how often it is gone through.
#![cfg(test)]
#![expect(
    clippy::disallowed_methods,
    reason = "a proof is told by the environment how long it may take"
)]

mod faults;
mod fencing;
mod house;
mod lists;
mod losing;
mod making;
mod matrix;
mod shares;
mod storage;
mod sweeping;
mod uploads;
