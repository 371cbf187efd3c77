//! How long dependencies took to answer, for as long as anybody asks.
//!
//! The way of a latency: [`points`] packs those of one poll → `record` (all SQL) keeps them as a row.

pub mod points;
mod record;
mod varint;

pub use points::{pack, unpack};
pub use record::points::{PointsRow, insert, latest};

/// A day in milliseconds.
pub(crate) const DAY_MS: i64 = 86_400_000;
