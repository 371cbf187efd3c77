//! Everything the room reads and writes.
//!
//! Locks are taken in one order: the row of a job, then that of its file.

pub(crate) mod files;
#[cfg(test)]
mod plans;
pub(crate) mod shares;
pub(crate) mod steps;
pub(crate) mod sweep;
