//! Everything the latency history reads and writes.

pub(crate) mod points;
