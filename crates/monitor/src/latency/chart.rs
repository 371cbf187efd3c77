//! The latencies of one dependency as a chart shows them.
//!
//! A chart of hours is made of single polls; one of a day or a week of rows of five minutes, and one of
//! a month of hourly rows, each with the finer ones for what is not rolled up yet.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Duration;

use mainstay_base::Timestamp;
use mainstay_store::{Db, Snapshot, StoreError};

use super::packed;
use super::points;
use super::record::points::of_service as points_of;
use super::record::rollups;
use super::span::{DAY_MS, FIVE_MINUTES_MS, HOUR_MS, Span, floor};
use super::summary::Summary;
use crate::watch::ServiceNumber;

/// How far back a chart goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Range {
    /// `1h`
    Hour,
    /// `6h`
    SixHours,
    /// `24h`
    Day,
    /// `7d`
    Week,
    /// `30d`
    Month,
}

/// A word that is no range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the range is none of 1h, 6h, 24h, 7d and 30d; give one of these")]
pub struct RangeError;

/// The latencies of one step of a chart. There is at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    /// When the step begins.
    pub start: Timestamp,
    /// How many latencies.
    pub count: u64,
    /// The least.
    pub min: Duration,
    /// The mean.
    pub avg: Duration,
    /// The greatest.
    pub max: Duration,
    /// What 95 of 100 do not exceed, within [`super::summary::PERCENTILE_ERROR`].
    pub p95: Duration,
}

/// The most single polls that a chart is made of: more than a day at the shortest interval. Of more, the
/// oldest are left out.
pub const MAX_POLLS: usize = 20_000;

const MINUTE_MS: i64 = 60_000;
const PERCENT: u32 = 95;

impl Range {
    /// How many steps its chart has, and how many milliseconds each of them.
    const fn steps(self) -> (i64, i64) {
        match self {
            Self::Hour => (60, MINUTE_MS),
            Self::SixHours => (120, 3 * MINUTE_MS),
            Self::Day => (144, 10 * MINUTE_MS),
            Self::Week => (168, HOUR_MS),
            Self::Month => (120, 6 * HOUR_MS),
        }
    }

    /// The whole steps up to the one that `now` is in.
    const fn span(self, now: Timestamp) -> Span {
        let (count, step) = self.steps();
        let end = floor(now.as_millis(), step).saturating_add(step);
        let length = count.saturating_mul(step);
        Span::new(end.saturating_sub(length), length)
    }

    /// The rows it is made of, the coarsest first.
    const fn layers(self) -> &'static [i64] {
        match self {
            Self::Hour | Self::SixHours => &[],
            Self::Day | Self::Week => &[FIVE_MINUTES_MS],
            Self::Month => &[HOUR_MS, FIVE_MINUTES_MS],
        }
    }
}

impl FromStr for Range {
    type Err = RangeError;

    fn from_str(text: &str) -> Result<Self, RangeError> {
        match text {
            "1h" => Ok(Self::Hour),
            "6h" => Ok(Self::SixHours),
            "24h" => Ok(Self::Day),
            "7d" => Ok(Self::Week),
            "30d" => Ok(Self::Month),
            _ => Err(RangeError),
        }
    }
}

/// The latencies of the dependency in `slot` of a service, oldest first. A step without any is left out.
///
/// # Errors
/// When the database fails.
pub async fn chart(
    db: &Db,
    service: ServiceNumber,
    slot: u32,
    range: Range,
    now: Timestamp,
) -> Result<Vec<Bucket>, StoreError> {
    let span = range.span(now);
    let mut steps = Steps { slot, length: range.steps().1, summaries: BTreeMap::new() };
    // In one snapshot: what is rolled up meanwhile is neither missed nor counted twice.
    db.snapshot(async |snapshot| {
        let mut from = span.start;
        for length in range.layers() {
            let complete = rollups::complete_until(snapshot, *length).await?;
            let part = span.within(from, complete.unwrap_or(from));
            steps.add_rollups(snapshot, service, *length, part).await?;
            from = part.end;
        }
        steps.add_polls(snapshot, service, span.within(from, span.end)).await
    })
    .await?;
    Ok(steps.summaries.iter().map(|(start, summary)| bucket(*start, summary)).collect())
}

/// A summary for each step that has any latency.
struct Steps {
    slot: u32,
    length: i64,
    summaries: BTreeMap<i64, Summary>,
}

impl Steps {
    async fn add_rollups(
        &mut self,
        snapshot: &mut Snapshot,
        service: ServiceNumber,
        length: i64,
        span: Span,
    ) -> Result<(), StoreError> {
        if span.is_empty() {
            return Ok(());
        }
        for row in rollups::of_service(snapshot, service, length, span).await? {
            // What can't be read is left out, as it is when it is rolled up.
            let summaries = packed::unpack(&row.summaries).unwrap_or_default();
            if let Some(summary) = summaries.get(&self.slot) {
                self.add(row.start, summary);
            }
        }
        Ok(())
    }

    async fn add_polls(
        &mut self,
        snapshot: &mut Snapshot,
        service: ServiceNumber,
        span: Span,
    ) -> Result<(), StoreError> {
        let mut left = MAX_POLLS;
        let mut end = span.end;
        while end > span.start && left > 0 {
            let day = end.saturating_sub(1).div_euclid(DAY_MS);
            let rows = points_of(snapshot, service, day, span, left).await?;
            left = left.saturating_sub(rows.len());
            for row in rows {
                let mut points = points::read(&row.points).map_while(Result::ok);
                if let Some((_, micros)) = points.find(|(slot, _)| *slot == self.slot) {
                    self.add(row.at, &Summary::of_micros(micros));
                }
            }
            end = day.saturating_mul(DAY_MS);
        }
        Ok(())
    }

    fn add(&mut self, at: Timestamp, summary: &Summary) {
        self.summaries
            .entry(floor(at.as_millis(), self.length))
            .and_modify(|whole| whole.merge(summary))
            .or_insert_with(|| summary.clone());
    }
}

fn bucket(start: i64, summary: &Summary) -> Bucket {
    Bucket {
        start: Timestamp::from_millis(start),
        count: summary.count(),
        min: summary.min(),
        avg: summary.mean(),
        max: summary.max(),
        p95: summary.percentile(PERCENT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGES: [(&str, Range, i64); 5] = [
        ("1h", Range::Hour, 1),
        ("6h", Range::SixHours, 6),
        ("24h", Range::Day, 24),
        ("7d", Range::Week, 7 * 24),
        ("30d", Range::Month, 30 * 24),
    ];

    #[test]
    fn a_range_is_read_as_people_write_it() {
        for (text, range, _) in RANGES {
            assert_eq!(text.parse(), Ok(range));
        }
        for text in ["", "1H", "2h", "7 d", "30d ", "1h1h"] {
            assert_eq!(text.parse::<Range>(), Err(RangeError), "{text}");
        }
    }

    #[test]
    fn a_chart_has_a_screenful_of_whole_steps_that_end_now() {
        let now = Timestamp::from_millis(1_767_229_999_999);
        for (text, range, hours) in RANGES {
            let ((count, step), span) = (range.steps(), range.span(now));
            assert!((60..=180).contains(&count), "{text}");
            assert_eq!(span.length(), hours * HOUR_MS, "{text}");
            assert!((span.end - step..span.end).contains(&now.as_millis()), "{text}");
            assert_eq!(span.start % step, 0, "{text}");
        }
    }
}
