//! Everything the streams read and write, one file for each concern.

pub(crate) mod bells;
pub(crate) mod between;
pub(crate) mod connections;
pub(crate) mod epoch;
pub(crate) mod follow;
#[cfg(test)]
mod plans;
pub(crate) mod retention;
pub(crate) mod streams;
