//! Everything the latency history reads and writes.

pub(crate) mod closing;
pub(crate) mod old;
mod pieces;
pub(crate) mod points;
pub(crate) mod rollups;
