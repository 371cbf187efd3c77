//! The last moments at which something changed, each with its cause and who followed: `record` reads
//! changes back to where enough moments are whole, `around` (pure) takes from the graph who leans on whom,
//! `facts`, `runs` and `tell` (pure) make moments of them.

mod around;
mod facts;
mod item;
mod runs;
mod tell;

use std::cmp::Reverse;
use std::sync::Arc;

use mainstay_base::{Clock, Timestamp};
use mainstay_store::{Db, StoreError};

pub use self::item::{Moment, MomentNode, Moments};
use self::tell::Told;
use super::activity::{Activity, ActivityFilter, ActivityItem, LOOKED_THROUGH};
use super::board::kept::{Kept, Version};
use super::board::{BoardError, heard, seen};
use super::list::MAX_PAGE;
use super::record::activity;
use crate::answer::Answer;
use crate::graph::{Graphs, GraphsError, Picture, blocking};

/// How many moments are told.
pub const MOST_MOMENTS: usize = 10;
/// Changes that are read at most: what began before them is not told.
const MOST_CHANGES: usize = 5_000;

/// The answer that holds now.
pub(super) async fn read(
    kept: &Kept,
    db: &Db,
    clock: &dyn Clock,
    graphs: &Graphs,
) -> Result<Arc<Answer>, BoardError> {
    // How long things take is not shown.
    let asked = async { Ok(Version { summed: 0, ..heard(db, Some(graphs)).await? }) };
    let seen = async { Ok(Version { summed: 0, ..seen(db, Some(graphs)).await? }) };
    kept.get(asked, seen, clock, async |_| build(db, graphs).await).await
}

async fn build(db: &Db, graphs: &Graphs) -> Result<Moments, StoreError> {
    let picture = graphs.picture().await.map_err(store_error)?;
    let mut changes: Vec<ActivityItem> = Vec::new();
    let mut told_of = 0;
    loop {
        let before = changes.last().map(|oldest| oldest.id);
        let mut ask =
            Activity { before, limit: MAX_PAGE, after: None, filter: ActivityFilter::default() };
        // Nobody waits until all that ever changed was looked through.
        let left = activity::first_left(db, &ask, LOOKED_THROUGH).await?;
        ask.after = left;
        let page = activity::recent(db, &ask).await?;
        // One more than asked for tells that there are more.
        let is_last = page.len() <= usize::try_from(MAX_PAGE).unwrap_or(usize::MAX);
        changes.extend(page.into_iter().map(|(_, change)| change));
        let end = if is_last && left.is_none() {
            End::All
        } else if is_last || changes.len() >= MOST_CHANGES {
            End::Bound
        } else {
            End::More
        };
        if end == End::More && !is_worth_telling(changes.len(), told_of) {
            continue;
        }
        told_of = changes.len();
        let (held, picture) = (std::mem::take(&mut changes), Arc::clone(&picture));
        let told = blocking(move || (moments(&held, &picture, end), held)).await;
        let (found, held) = told.map_err(store_error)?;
        match found {
            Some(moments) => return Ok(moments),
            None => changes = held,
        }
    }
}

/// Each telling looks at all that was read, so the next one waits for twice as much: all of them together
/// cost less than three times the last one.
fn is_worth_telling(held: usize, told_of: usize) -> bool {
    held >= told_of.saturating_mul(2)
}

/// Where reading stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// There are older changes.
    More,
    /// There are older changes, and they are not read.
    Bound,
    /// There is no older change.
    All,
}

/// What is told of these changes, newest first; `None` when older ones are needed for that.
fn moments(changes: &[ActivityItem], picture: &Picture, end: End) -> Option<Moments> {
    let around = around::of(picture, &facts::keys(changes));
    let told = tell::tell(changes, &around);
    let oldest = changes.iter().map(|change| change.at).min();
    let oldest = oldest.unwrap_or(Timestamp::from_millis(i64::MIN));
    let is_whole = |one: &&Told| end == End::All || one.is_whole(oldest);
    let whole = told.iter().take_while(is_whole).count();
    if end == End::More && whole < MOST_MOMENTS {
        return None;
    }
    let is_cut = end == End::Bound && whole < MOST_MOMENTS;
    let mut items: Vec<Moment> =
        told.into_iter().take(MOST_MOMENTS).map(|one| one.moment).collect();
    items.sort_by_key(|moment| Reverse((moment.settled_at, moment.id)));
    Some(Moments { items, is_cut })
}

fn store_error(error: GraphsError) -> StoreError {
    match error {
        GraphsError::Store(error) => error,
        // It was read: only a process that stops has none.
        _ => StoreError::Closed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn telling_again_and_again_costs_less_than_three_times_the_last_time() {
        let page = usize::try_from(MAX_PAGE).unwrap();
        let (mut told_of, mut looked_at) = (0, 0);
        for held in (page..=MOST_CHANGES).step_by(page) {
            if held == MOST_CHANGES || is_worth_telling(held, told_of) {
                (told_of, looked_at) = (held, looked_at + held);
            }
        }
        assert!(looked_at < 3 * MOST_CHANGES, "{looked_at}");
    }
}
