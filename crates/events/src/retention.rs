//! Removes events that are too old or too many, and connections that are over: in portions, now and
//! then, on every instance alike.

use std::time::Duration;

use mainstay_base::Timestamp;
use mainstay_store::{Db, StoreError};
use tokio::time::MissedTickBehavior;

use crate::measure;
use crate::record::connections;
use crate::record::retention::{self, Due, PORTION};
use crate::tools::{Tools, within_limit};
use crate::trouble::Trouble;

/// How often is cleaned up.
const CLEAN_EVERY: Duration = Duration::from_mins(1);

/// Portions that one round removes of each stream; the rest waits for the next.
const PORTIONS: usize = 200;

/// How much of each stream is kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kept {
    pub(crate) duration: Duration,
    pub(crate) count: u64,
}

/// Runs until the stop.
pub(crate) async fn run(tools: Tools, kept: Kept) {
    let mut ticks = tokio::time::interval(CLEAN_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // A start has more urgent things to do.
    ticks.reset();
    let trouble = Trouble::new("removing what is no longer kept");
    let cleaning = async {
        loop {
            ticks.tick().await;
            trouble.ended(&clean_up(&tools, kept).await);
        }
    };
    tools.stop.run_until_cancelled(cleaning).await;
}

/// One round; tells how many events were removed.
pub(crate) async fn clean_up(tools: &Tools, kept: Kept) -> Result<u64, StoreError> {
    let (db, instance) = (&tools.db, tools.instance);
    within_limit(db.write(async |tx| connections::clean(tx, instance).await)).await?;
    let kept_since = before(within_limit(db.now()).await?, kept.duration);
    let count = i64::try_from(kept.count).unwrap_or(i64::MAX);
    let (mut after, mut removed) = (0, 0_u64);
    loop {
        let streams = within_limit(retention::due(db, after, count, kept_since)).await?;
        let Some(last) = streams.last() else { break };
        after = last.number;
        for due in streams {
            removed = removed.saturating_add(clean_stream(db, due, count, kept_since).await?);
        }
    }
    measure::removed(removed);
    Ok(removed)
}

async fn clean_stream(
    db: &Db,
    mut due: Due,
    count: i64,
    kept_since: Timestamp,
) -> Result<u64, StoreError> {
    let mut removed = 0_u64;
    for _ in 0..PORTIONS {
        let old = within_limit(retention::newest_old(db, due, kept_since)).await?;
        let too_many = due.last_seq.saturating_sub(count);
        let floor = old.unwrap_or_default().max(too_many).max(due.floor_seq);
        if floor > due.floor_seq {
            within_limit(retention::raise_floor(db, due.number, floor)).await?;
            due.floor_seq = floor;
        }
        let portion = within_limit(retention::remove(db, due.number, due.floor_seq)).await?;
        removed = removed.saturating_add(portion);
        if portion < PORTION.unsigned_abs() && old.is_none() {
            break;
        }
    }
    Ok(removed)
}

fn before(now: Timestamp, duration: Duration) -> Timestamp {
    let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millis(now.as_millis().saturating_sub(millis))
}
