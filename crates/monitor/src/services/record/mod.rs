//! All SQL of services: each edit in one transaction, under one number.

mod named;
mod remove;
mod states;
mod stored;
mod watched;
mod write;

pub(super) use named::named;
pub(super) use remove::{remove, unlink};
pub(super) use states::{forget_status, reschedule, reset_guards};
pub(crate) use stored::Stored;
pub(super) use stored::{Sealed, hold, list, lock, lock_all};
pub(super) use watched::{WatchedRow, watched};
pub(super) use write::{Kept, count, insert, update};
