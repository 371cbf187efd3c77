//! Everything the room reads and writes, one file for each table.

pub(crate) mod access_requests;
pub(crate) mod alive;
pub(crate) mod audit;
pub(crate) mod buckets;
pub(crate) mod cleanup;
pub(crate) mod invites;
pub(crate) mod pepper;
pub(crate) mod sessions;
pub(crate) mod setup_links;
pub(crate) mod tokens;
pub(crate) mod users;
pub(crate) mod windows;

use mainstay_base::Id;

use crate::model::PageAsk;

/// Sorts after every id, for the first part of a list that begins with the newest.
const AFTER_EVERY_ID: &str = "~";

/// Where a list of the newest first goes on: every id is smaller than this.
fn below(ask: PageAsk) -> String {
    ask.after.map_or_else(|| AFTER_EVERY_ID.to_owned(), |id| id.to_string())
}

/// Where a list of the oldest first goes on: every id is larger than this.
fn above(ask: PageAsk) -> String {
    ask.after.map_or_else(String::new, |id: Id| id.to_string())
}

/// One more than asked for: its presence tells that there is more.
fn one_more(ask: PageAsk) -> i64 {
    i64::from(ask.limit).saturating_add(1)
}
