//! Rolls single polls up to rows of five minutes, and those to rows of hours.
//!
//! What is to be done is read from what is stored: a span is rolled up when it is over and those who
//! write late had time to, service after service in portions, each a transaction of its own, and is
//! then marked as complete. Whoever is broken off, or meets another at the same work, changes nothing
//! by doing a portion again.

use std::collections::BTreeMap;
use std::time::Duration;

use mainstay_base::Timestamp;
use mainstay_store::{Db, StoreError};

use super::budget::Budget;
use super::packed::{self, Summaries};
use super::points::{self, Damaged};
use super::record::old::{self, Old};
use super::record::points::{self as polls, PointsRow};
use super::record::rollups::{self, RollupRow};
use super::span::{FIVE_MINUTES_MS, HOUR_MS, Span, floor};
use super::summary::Summary;

/// How long after its span a poll may be written and still count.
pub const GRACE: Duration = Duration::from_mins(2);

/// How much is done at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// Services of one portion.
    pub(crate) services: i64,
    /// Rows that are read at once.
    pub(crate) rows: usize,
    /// A portion ends early, with a whole service, when so many packed bytes were read for it.
    pub(crate) bytes: usize,
    /// Portions after which a run begins no further span of a layer.
    pub(crate) steps: u32,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { services: 200, rows: 2_000, bytes: 4 << 20, steps: 2_000 }
    }
}

/// One way of rolling up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layer {
    /// Single polls to five minutes.
    FiveMinutes,
    /// Five minutes to hours.
    Hours,
}

/// Services with their summaries, and the last service that was looked at.
#[derive(Debug, Default)]
struct Portion {
    services: BTreeMap<i64, Summaries>,
    last: i64,
}

impl Layer {
    /// The length of its spans.
    pub(crate) const fn length(self) -> i64 {
        match self {
            Self::FiveMinutes => FIVE_MINUTES_MS,
            Self::Hours => HOUR_MS,
        }
    }

    /// Until when it is complete.
    pub(crate) async fn complete_until(self, db: &Db) -> Result<Option<i64>, StoreError> {
        db.snapshot(async |snapshot| rollups::complete_until(snapshot, self.length()).await).await
    }

    /// Rolls up what is due, as far as the budget goes, and tells how many rows were made.
    pub(crate) async fn roll_up(
        self,
        db: &Db,
        now: Timestamp,
        sizes: Sizes,
        budget: &mut Budget<'_>,
    ) -> Result<u64, StoreError> {
        self.take_back(db, now, budget).await?;
        let Some(until) = self.due_until(db, now).await? else { return Ok(0) };
        let mut made = 0_u64;
        let mut marked = self.complete_until(db).await?.unwrap_or(0);
        let mut from = marked;
        while budget.has_any()
            && let Some(span) = self.next(db, from, until).await?
        {
            let Some(rows) = self.roll_up_span(db, span, sizes, budget).await? else { break };
            made = made.saturating_add(rows);
            from = span.end;
            // Spans without any row are marked together: each mark waits for the disk.
            if rows > 0 {
                self.mark(db, from).await?;
                marked = from;
            }
        }
        if from > marked {
            self.mark(db, from).await?;
        }
        Ok(made)
    }

    /// Takes back what was rolled up before it was over, while the clock was wrong. Otherwise nothing
    /// would be rolled up until the time of the last mark, and what was cut short would stay so.
    async fn take_back(
        self,
        db: &Db,
        now: Timestamp,
        budget: &mut Budget<'_>,
    ) -> Result<(), StoreError> {
        let (length, until) = (self.length(), over_until(now));
        if self.complete_until(db).await?.is_some_and(|complete| complete > until) {
            let early = Old::EarlyRollups { length, start: until.saturating_sub(length) };
            let removed = old::remove_all(db, early, budget).await?;
            tracing::warn!(removed, "latencies were rolled up too early: the clock was set back");
        }
        Ok(())
    }

    /// Until when everything that it is made of is there.
    async fn due_until(self, db: &Db, now: Timestamp) -> Result<Option<i64>, StoreError> {
        let until = match self {
            Self::FiveMinutes => Some(over_until(now)),
            Self::Hours => Self::FiveMinutes.complete_until(db).await?,
        };
        Ok(until.map(|until| floor(until, self.length())))
    }

    /// The first span from `from` to `until` that anything may be kept of; without any, the last one.
    async fn next(self, db: &Db, from: i64, until: i64) -> Result<Option<Span>, StoreError> {
        let last = until.saturating_sub(self.length());
        if from > last {
            return Ok(None);
        }
        let kept = match self {
            Self::FiveMinutes => polls::first_from(db, from).await?,
            Self::Hours => rollups::first_from(db, FIVE_MINUTES_MS, from).await?,
        };
        let start = floor(kept.unwrap_or(last).clamp(from, last), self.length());
        Ok(Some(Span::new(start, self.length())))
    }

    async fn mark(self, db: &Db, until: i64) -> Result<(), StoreError> {
        let span = Span::new(until.saturating_sub(self.length()), self.length());
        db.write(async |tx| rollups::mark(tx, span).await).await
    }

    /// Rolls up a span, and tells how many rows that made; nothing when it was stopped before the end.
    /// A span is finished even when that takes more than the budget: half of one is no progress.
    async fn roll_up_span(
        self,
        db: &Db,
        span: Span,
        sizes: Sizes,
        budget: &mut Budget<'_>,
    ) -> Result<Option<u64>, StoreError> {
        let (mut after, mut made) = (0, 0_u64);
        while budget.overdraw() {
            let Some(last) = rollups::portion_end(db, after, sizes.services).await? else {
                return Ok(Some(made));
            };
            let portion = match self {
                Self::FiveMinutes => gather_points(db, span, sizes, (after, last)).await?,
                Self::Hours => gather_rollups(db, span, (after, last)).await?,
            };
            made = made.saturating_add(write(db, span, &portion).await?);
            after = portion.last;
        }
        Ok(None)
    }
}

/// Until when nobody writes any more.
fn over_until(now: Timestamp) -> i64 {
    now.as_millis().saturating_sub(i64::try_from(GRACE.as_millis()).unwrap_or(i64::MAX))
}

async fn write(db: &Db, span: Span, portion: &Portion) -> Result<u64, StoreError> {
    let rows: Vec<(i64, Vec<u8>)> = portion
        .services
        .iter()
        .map(|(service, summaries)| (*service, packed::pack(summaries)))
        .filter(|(_, packed)| !packed.is_empty())
        .collect();
    if !rows.is_empty() {
        db.write(async |tx| rollups::insert(tx, span, &rows).await).await?;
    }
    Ok(u64::try_from(rows.len()).unwrap_or(u64::MAX))
}

/// The single polls of a span, of the services after `after` up to `last`, or as far as a portion goes.
async fn gather_points(
    db: &Db,
    span: Span,
    sizes: Sizes,
    (after, last): (i64, i64),
) -> Result<Portion, StoreError> {
    let mut portion = Portion { last, ..Portion::default() };
    let mut cursor = (after.saturating_add(1), i64::MIN);
    let mut bytes = 0_usize;
    loop {
        let rows = polls::page(db, span, cursor, last, sizes.rows).await?;
        for row in &rows {
            cursor = (row.service_no.0, row.at.as_millis());
            bytes = bytes.saturating_add(row.points.len());
            add_points(portion.services.entry(row.service_no.0).or_default(), row);
        }
        if rows.len() < sizes.rows {
            return Ok(portion);
        }
        let whole = portion.services.range(..cursor.0).next_back().map(|(service, _)| *service);
        if let Some(whole) = whole.filter(|_| bytes > sizes.bytes) {
            // The last one may have more rows: the next portion begins with it.
            portion.services.remove(&cursor.0);
            portion.last = whole;
            return Ok(portion);
        }
    }
}

async fn gather_rollups(
    db: &Db,
    span: Span,
    (after, last): (i64, i64),
) -> Result<Portion, StoreError> {
    let mut portion = Portion { last, ..Portion::default() };
    for row in rollups::portion(db, FIVE_MINUTES_MS, span, after, last).await? {
        let into = portion.services.entry(row.service).or_default();
        merge_rollup(into, &row);
    }
    Ok(portion)
}

/// Takes the points of one poll in. What can't be read is left out: it would be for ever.
fn add_points(into: &mut Summaries, row: &PointsRow) {
    for point in points::read(&row.points) {
        match point {
            Ok((slot, micros)) => into
                .entry(slot)
                .and_modify(|summary| summary.add_micros(micros))
                .or_insert_with(|| Summary::of_micros(micros)),
            Err(damaged) => return tell(row.service_no.0, row.at, damaged),
        };
    }
}

fn merge_rollup(into: &mut Summaries, row: &RollupRow) {
    match packed::unpack(&row.summaries) {
        Ok(summaries) => merge(into, &summaries),
        Err(damaged) => tell(row.service, row.start, damaged),
    }
}

fn merge(into: &mut Summaries, summaries: &Summaries) {
    for (slot, summary) in summaries {
        into.entry(*slot)
            .and_modify(|whole| whole.merge(summary))
            .or_insert_with(|| summary.clone());
    }
}

fn tell(service: i64, at: Timestamp, damaged: Damaged) {
    tracing::warn!(service, %at, "{damaged}");
}
