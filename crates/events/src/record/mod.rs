//! Everything the streams read and write, one file for each concern.

pub(crate) mod epoch;
pub(crate) mod streams;
