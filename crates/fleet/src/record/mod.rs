//! Everything the room reads and writes.
//!
//! Locks are taken in one order: the row of a job, then that of a worker, then those of its nets. A state
//! is written only by [`crew::save`] and [`nets::save`], which write the events of the difference too.

pub(crate) mod crew;
pub(crate) mod nets;
mod rows;
pub(crate) mod sweep;
pub(crate) mod workers;
