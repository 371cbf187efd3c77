//! How long services took lately, over all that they lean on.

use std::collections::HashMap;
use std::time::Duration;

use mainstay_base::Timestamp;
use mainstay_store::{Db, Snapshot, StoreError};

use super::packed;
use super::record::rollups::{self, RollupRow};
use super::span::{FIVE_MINUTES_MS, HOUR_MS, floor};
use super::summary::Summary;
use crate::aside::aside;

/// The hours of a sparkline.
pub const HOURS: usize = 24;

/// Spans of five minutes that "lately" is.
const SPANS: i64 = 3;
/// Rows that are read at once.
const ROWS_AT_ONCE: usize = 500;
const PERCENT: u32 = 95;

/// The p95 of each service by its number, over the last spans up to the one that begins at `newest`.
pub(crate) async fn recent(db: &Db, newest: i64) -> Result<HashMap<i64, Duration>, StoreError> {
    let mut all: HashMap<i64, Summary> = HashMap::new();
    for back in 0..SPANS {
        let start = newest.saturating_sub(FIVE_MINUTES_MS.saturating_mul(back));
        let mut after = 0_i64;
        loop {
            let rows = rollups::of_span(db, FIVE_MINUTES_MS, start, after, ROWS_AT_ONCE).await?;
            let next = rows.last().filter(|_| rows.len() >= ROWS_AT_ONCE).map(|last| last.service);
            all = aside(move || with_rows(all, &rows)).await?;
            match next {
                Some(last) => after = last,
                None => break,
            }
        }
    }
    Ok(all.into_iter().map(|(service, summary)| (service, summary.percentile(PERCENT))).collect())
}

/// The p95 of services in each of the last hours.
#[derive(Debug)]
pub(crate) struct Hours {
    /// When the first hour begins.
    pub(crate) from: Timestamp,
    services: HashMap<(i64, usize), Summary>,
}

/// Reads the last [`HOURS`] up to the one that `now` is in.
pub(crate) async fn hours(
    snapshot: &mut Snapshot,
    services: &[i64],
    now: Timestamp,
) -> Result<Hours, StoreError> {
    let hours = i64::try_from(HOURS).unwrap_or_default();
    let end = floor(now.as_millis(), HOUR_MS).saturating_add(HOUR_MS);
    let from = end.saturating_sub(hours.saturating_mul(HOUR_MS));
    let complete = rollups::complete_until(snapshot, HOUR_MS).await?;
    // Hours that are not summed up yet are made of their five minutes.
    let between = complete.unwrap_or(from).clamp(from, end);
    let mut all = HashMap::new();
    for row in rollups::of_services(snapshot, services, (from, between, end)).await? {
        let hour = row.start.as_millis().saturating_sub(from).div_euclid(HOUR_MS);
        let (Ok(hour), Some(summary)) = (usize::try_from(hour), whole(&row.summaries)) else {
            continue;
        };
        merge(&mut all, (row.service, hour), summary);
    }
    Ok(Hours { from: Timestamp::from_millis(from), services: all })
}

impl Hours {
    /// Those of one service, oldest first, in milliseconds.
    pub(crate) fn take(&mut self, service: i64) -> Vec<Option<f64>> {
        let millis = |hour| {
            let summary = self.services.remove(&(service, hour))?;
            Some(summary.percentile(PERCENT).as_secs_f64() * 1_000.0)
        };
        (0..HOURS).map(millis).collect()
    }
}

fn with_rows(mut all: HashMap<i64, Summary>, rows: &[RollupRow]) -> HashMap<i64, Summary> {
    for row in rows {
        if let Some(summary) = whole(&row.summaries) {
            merge(&mut all, row.service, summary);
        }
    }
    all
}

/// All slots of a row as one. What can't be read is left out, as it is when it is rolled up.
fn whole(summaries: &[u8]) -> Option<Summary> {
    let slots = packed::unpack(summaries).unwrap_or_default();
    slots.into_values().reduce(|mut all, one| {
        all.merge(&one);
        all
    })
}

fn merge<K: std::hash::Hash + Eq>(all: &mut HashMap<K, Summary>, key: K, summary: Summary) {
    match all.get_mut(&key) {
        Some(known) => known.merge(&summary),
        None => drop(all.insert(key, summary)),
    }
}
