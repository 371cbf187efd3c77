//! The room of reports on both databases, with a real storage and real runners.
#![cfg(test)]

mod faults;
mod fencing;
mod house;
mod lists;
mod making;
mod shares;
mod storage;
mod sweeping;
mod uploads;
