//! How long dependencies took to answer, for as long as anybody asks.
//!
//! The way of a latency: [`points`] packs those of one poll → `record` (all SQL) keeps them as a row →
//! `rollup` makes each span of five minutes, and then each hour, one [`summary`] for each dependency,
//! `packed` for each service → [`chart`](mod@chart) reads whichever of them serve, and so does [`recent`]. [`upkeep`] is the job that
//! rolls up, and removes what [`retention`] does not keep.

mod budget;
pub mod chart;
mod packed;
pub mod points;
pub mod recent;
mod record;
pub mod retention;
mod rollup;
mod span;
pub mod summary;
#[cfg(test)]
mod tests;
pub mod upkeep;
mod varint;

pub use chart::{Bucket, Range, RangeError, chart};
pub use points::{Damaged, pack, unpack};
pub(crate) use recent::{hours, recent};
pub use record::points::{PointsRow, insert, latest};
pub use retention::{Retention, RetentionError};
pub use rollup::GRACE;
pub use summary::Summary;
pub use upkeep::Upkeep;
