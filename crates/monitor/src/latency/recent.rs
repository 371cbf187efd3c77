//! How long services took lately: that of the slowest thing that each leans on, for whoever waits for
//! several waits for the slowest. What is not summed up yet is read poll by poll, so that what slows is
//! seen while it does.

use std::collections::HashMap;
use std::time::Duration;

use mainstay_base::Timestamp;
use mainstay_store::{Db, Snapshot, StoreError};

use super::packed;
use super::points;
use super::record::points::{self as polls, PointsRow};
use super::record::rollups::{self, RollupRow};
use super::span::{DAY_MS, FIVE_MINUTES_MS, HOUR_MS, Span, floor};
use super::summary::Summary;
use crate::aside::aside;

/// The hours of a sparkline.
pub const HOURS: usize = 24;
/// The most polls that are read beside what is summed up. Of more, the services with the highest numbers
/// show what they took when it is summed up.
pub const MOST_POLLS: usize = 20_000;

/// How long "lately" is, beside what is not summed up.
const LATELY_MS: i64 = 3 * FIVE_MINUTES_MS;
/// Services that are read at once.
const SERVICES_AT_ONCE: i64 = 500;
/// Polls that are read at once.
const POLLS_AT_ONCE: usize = 1_000;
const PERCENT: u32 = 95;

/// The p95 of each service by its number: over the last quarter of an hour that is summed up, the last
/// part of which begins at `newest`, and all since.
pub(crate) async fn recent(
    db: &Db,
    newest: i64,
    now: Timestamp,
) -> Result<HashMap<i64, Duration>, StoreError> {
    let summed_until = newest.saturating_add(FIVE_MINUTES_MS);
    let summed = Span::new(summed_until.saturating_sub(LATELY_MS), LATELY_MS);
    let now = now.as_millis();
    let lately = Span::new(now.saturating_sub(LATELY_MS), LATELY_MS.saturating_add(1));
    let fresh = lately.within(summed_until, i64::MAX);
    let (mut found, mut after, mut left) = (HashMap::new(), 0_i64, MOST_POLLS);
    while let Some(last) = rollups::portion_end(db, after, SERVICES_AT_ONCE).await? {
        let rows = rollups::portion(db, FIVE_MINUTES_MS, summed, after, last).await?;
        let polls = polls_of(db, fresh, (after, last), &mut left).await?;
        let portion = aside(move || {
            let mut all = Slots::default();
            rows.iter().for_each(|row| all.add_rollup(row, ()));
            polls.iter().for_each(|row| all.add_poll(row, ()));
            all.slowest()
        });
        found.extend(portion.await?.into_iter().map(|((service, ()), p95)| (service, p95)));
        after = last;
    }
    Ok(found)
}

/// The p95 of services in each of the last hours.
#[derive(Debug)]
pub(crate) struct Hours {
    /// When the first hour begins.
    pub(crate) from: Timestamp,
    services: HashMap<(i64, usize), Duration>,
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
    let hour = |at: Timestamp| {
        let hour = at.as_millis().saturating_sub(from).div_euclid(HOUR_MS);
        usize::try_from(hour).unwrap_or(usize::MAX)
    };
    let complete = rollups::complete_until(snapshot, HOUR_MS).await?;
    // Hours that are not summed up yet are made of their five minutes, and these of their polls.
    let between = complete.unwrap_or(from).clamp(from, end);
    let mut all = Slots::default();
    for row in rollups::of_services(snapshot, services, (from, between, end)).await? {
        all.add_rollup(&row, hour(row.start));
    }
    let summed = rollups::complete_until(snapshot, FIVE_MINUTES_MS).await?.unwrap_or(from);
    let lately = Span::new(now.as_millis().saturating_sub(LATELY_MS), LATELY_MS.saturating_add(1));
    let fresh = lately.within(summed.max(from), end);
    for part in days(fresh) {
        for row in polls::of_services(snapshot, services, part, MOST_POLLS).await? {
            all.add_poll(&row, hour(row.at));
        }
    }
    Ok(Hours { from: Timestamp::from_millis(from), services: all.slowest() })
}

impl Hours {
    /// Those of one service, oldest first, in milliseconds.
    pub(crate) fn take(&mut self, service: i64) -> Vec<Option<f64>> {
        let millis = |hour| {
            let p95 = self.services.remove(&(service, hour))?;
            Some(p95.as_secs_f64() * 1_000.0)
        };
        (0..HOURS).map(millis).collect()
    }
}

/// The latencies of each thing that a service leans on, by the service, a part of time, and the slot.
#[derive(Debug)]
struct Slots<P> {
    all: HashMap<(i64, P, u32), Summary>,
}

impl<P> Default for Slots<P> {
    fn default() -> Self {
        Self { all: HashMap::new() }
    }
}

impl<P: Copy + Eq + std::hash::Hash> Slots<P> {
    /// What can't be read is left out, as it is when it is rolled up.
    fn add_rollup(&mut self, row: &RollupRow, part: P) {
        for (slot, summary) in packed::unpack(&row.summaries).unwrap_or_default() {
            match self.all.get_mut(&(row.service, part, slot)) {
                Some(known) => known.merge(&summary),
                None => drop(self.all.insert((row.service, part, slot), summary)),
            }
        }
    }

    fn add_poll(&mut self, row: &PointsRow, part: P) {
        let service = row.service_no.0;
        for (slot, micros) in points::read(&row.points).map_while(Result::ok) {
            self.all
                .entry((service, part, slot))
                .and_modify(|known| known.add_micros(micros))
                .or_insert_with(|| Summary::of_micros(micros));
        }
    }

    /// The p95 of the slowest thing of each service in each part.
    fn slowest(self) -> HashMap<(i64, P), Duration> {
        let mut slowest: HashMap<(i64, P), Duration> = HashMap::new();
        for ((service, part, _), summary) in self.all {
            let p95 = summary.percentile(PERCENT);
            let known = slowest.entry((service, part)).or_insert(p95);
            *known = p95.max(*known);
        }
        slowest
    }
}

/// The polls in a span of the services after one number up to another, as many as are `left` to be read.
async fn polls_of(
    db: &Db,
    span: Span,
    (after, last): (i64, i64),
    left: &mut usize,
) -> Result<Vec<PointsRow>, StoreError> {
    let mut all = Vec::new();
    for part in days(span) {
        let mut cursor = (after.saturating_add(1), i64::MIN);
        while *left > 0 {
            let limit = POLLS_AT_ONCE.min(*left);
            let rows = polls::page(db, part, cursor, last, limit).await?;
            *left = left.saturating_sub(rows.len());
            let is_last = rows.len() < limit;
            if let Some(row) = rows.last() {
                cursor = (row.service_no.0, row.at.as_millis());
            }
            all.extend(rows);
            if is_last {
                break;
            }
        }
    }
    Ok(all)
}

/// The parts of a span that lie in one day each: polls are kept by days.
fn days(span: Span) -> impl Iterator<Item = Span> {
    let midnight = floor(span.end.saturating_sub(1), DAY_MS);
    let parts = [span.within(i64::MIN, midnight), span.within(midnight, i64::MAX)];
    parts.into_iter().filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_over_midnight_is_two_parts() {
        let span = Span::new(DAY_MS - 10, 30);
        let parts: Vec<_> = days(span).map(|part| (part.start, part.end)).collect();
        assert_eq!(parts, [(DAY_MS - 10, DAY_MS), (DAY_MS, DAY_MS + 20)]);
        assert_eq!(days(Span::new(5, 10)).count(), 1);
        assert_eq!(days(Span::new(DAY_MS, 0)).count(), 0);
    }

    #[test]
    fn a_service_takes_as_long_as_the_slowest_that_it_leans_on() {
        let mut all = Slots::default();
        for at in 0..100 {
            let slow = Duration::from_millis(if at < 90 { 4 } else { 900 });
            let taken = [(0, slow), (1, Duration::from_millis(30)), (2, Duration::from_millis(1))];
            let (service_no, at) = (crate::watch::ServiceNumber(7), Timestamp::from_millis(at));
            all.add_poll(&PointsRow { service_no, at, points: points::pack(&taken) }, ());
        }
        let p95 = all.slowest()[&(7, ())].as_secs_f64();
        assert!((0.85..0.95).contains(&p95), "{p95}");
    }
}
