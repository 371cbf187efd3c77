//! Everything the room reads and writes.
//!
//! Locks are taken in one order: the row of a job, then that of a worker, then those of its nets. A state
//! is written only by [`crew::save`] and [`nets::save`], which write the events of the difference too.

pub(crate) mod brake;
pub(crate) mod crew;
pub(crate) mod locations;
pub(crate) mod nets;
pub(crate) mod orders;
#[cfg(test)]
mod plans;
mod rows;
pub(crate) mod sweep;
pub(crate) mod workers;
