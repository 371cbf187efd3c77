//! All SQL of what is shown: nothing here writes.

pub(super) mod activity;
pub(super) mod board;
pub(crate) mod changes;
pub(super) mod dependencies;
pub(super) mod histories;
pub(super) mod now;
#[cfg(test)]
mod plans;
pub(super) mod services;
pub(super) mod strips;
pub(super) mod version;
pub(super) mod wallboard;
pub(super) mod words;

/// A statement whose `$1` is the time itself on SQLite, and on PostgreSQL what tests add to the
/// database's own: between the parts stands the time.
macro_rules! timed {
    ($name:literal, $text:ident $(, $argument:tt)*) => {
        mainstay_store::Sql::pair(
            $name,
            $text!("$1" $(, $argument)*),
            $text!("((extract(epoch FROM statement_timestamp()) * 1000)::bigint + $1)" $(, $argument)*),
        )
    };
}
use timed;

/// Whether nobody polled a service when it should have been, as the recorder will note too.
macro_rules! overdue {
    ($now:literal) => {
        concat!("s.is_active = 1 AND st.status <> 'unknown' AND st.next_poll_at + 2 * s.poll_interval_ms < ", $now)
    };
}
use overdue;
