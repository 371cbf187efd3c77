//! Everything the queue reads and writes.
//!
//! Time is the database's: on PostgreSQL each statement asks `clock_timestamp()` itself (once, in a
//! sub-select, so that an index can be used and all rows agree), on SQLite the injected clock is
//! given. Either way `$1` belongs to the clock, and only durations travel.

pub(crate) mod act;
pub(crate) mod archive;
pub(crate) mod claim;
pub(crate) mod enqueue;
pub(crate) mod kinds;
pub(crate) mod lease;
pub(crate) mod list;
pub(crate) mod look;
pub(crate) mod schedules;
pub(crate) mod settle;
pub(crate) mod steps;
pub(crate) mod summary;

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Clock;
use mainstay_store::{Db, Dialect};

/// A statement that needs the time. The commas between the pieces of text are where it goes.
macro_rules! timed {
    ($name:literal, $first:expr $(, $rest:expr)+ $(,)?) => {
        mainstay_store::Sql::pair(
            $name,
            concat!($first $(, "$1", $rest)+),
            concat!(
                $first
                $(, "(SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint + $1)", $rest)+
            ),
        )
    };
}
pub(crate) use timed;

/// The database with its clock.
#[derive(Debug, Clone)]
pub(crate) struct Book {
    pub(crate) db: Db,
    clock: ClockOf,
}

#[derive(Clone)]
struct ClockOf(Arc<dyn Clock>);

impl std::fmt::Debug for ClockOf {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Clock")
    }
}

impl Book {
    pub(crate) fn new(db: Db, clock: Arc<dyn Clock>) -> Self {
        Self { db, clock: ClockOf(clock) }
    }

    /// What `$1` of a timed statement is: the time itself, or by how much tests have moved the
    /// database's clock.
    pub(crate) fn tick(&self) -> i64 {
        match self.db.dialect() {
            Dialect::Sqlite => self.clock.0.now().as_millis(),
            Dialect::Postgres => self.db.clock_shift(),
        }
    }
}

/// A duration as it travels.
pub(crate) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// A count as it is read.
pub(crate) fn count(raw: i64) -> u32 {
    u32::try_from(raw).unwrap_or(if raw < 0 { 0 } else { u32::MAX })
}
