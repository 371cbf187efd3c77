//! How long something worked, over spans that end now. Pure.

use std::time::Duration;

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Snapshot, StoreError};
use serde::Serialize;
use utoipa::ToSchema;

use super::handle::{Past, earlier};
use super::keyframes::EVERY;
use super::record::{changes, turns};
use crate::report::DependencyStatus;

/// The spans, as people write them, and their length.
pub const WINDOWS: [(&str, Duration); 4] =
    [("24h", days(1)), ("7d", days(7)), ("30d", days(30)), ("90d", days(90))];

/// The most changes that are looked at: of more, the oldest are left out, and what was before is not
/// known.
pub const MAX_TURNS: usize = 50_000;

/// How long something worked.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Uptime {
    /// From when on it is known what happened: what was before is not.
    #[schema(value_type = String, format = DateTime)]
    pub known_since: Timestamp,
    /// One for each span: 24 hours, 7, 30 and 90 days.
    pub windows: Vec<UptimeWindow>,
}

/// How long something worked in a span.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct UptimeWindow {
    /// The span.
    #[schema(example = "24h")]
    pub window: &'static str,
    /// When it begins.
    #[schema(value_type = String, format = DateTime)]
    pub from: Timestamp,
    /// When it ends.
    #[schema(value_type = String, format = DateTime)]
    pub to: Timestamp,
    /// How long it was healthy.
    pub healthy_ms: i64,
    /// How long it worked badly.
    pub degraded_ms: i64,
    /// How long it did not work.
    pub down_ms: i64,
    /// How long nobody knew: it was not polled, could not be, or Mainstay itself was off.
    pub unknown_ms: i64,
    /// How long its service left it out of its judgement.
    pub skipped_ms: i64,
    /// How long it was not there yet.
    pub absent_ms: i64,
    /// The part of the known time in which it was healthy: of healthy, degraded and down together.
    /// `null` when nothing is known.
    #[schema(required, example = 0.9991)]
    pub uptime: Option<f64>,
    /// The part of the time since it is there of which nobody knows.
    #[schema(required, example = 0.002)]
    pub unknown: Option<f64>,
}

/// What became of something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Story {
    /// When it came to be.
    pub(crate) born: Timestamp,
    /// From when on its story is known.
    pub(crate) known_since: Timestamp,
    /// How it was then.
    pub(crate) initial: DependencyStatus,
    /// What it became, oldest first.
    pub(crate) turns: Vec<(Timestamp, DependencyStatus)>,
}

impl Past {
    /// How long a service worked. `None` without such a service.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn uptime_of_service(&self, id: Id) -> Result<Option<Uptime>, StoreError> {
        let reading = self.db().snapshot(async |snapshot| {
            let now = snapshot.now().await?;
            let known_since = self.known_since(snapshot, now).await?;
            let story = turns::of_service(snapshot, id, now, known_since, MAX_TURNS).await?;
            Ok::<_, StoreError>(story.map(|story| Uptime::of(&story, now)))
        });
        reading.await
    }

    /// How long a dependency worked, as far as its service said. `None` without such a dependency.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn uptime_of_dependency(&self, id: Id) -> Result<Option<Uptime>, StoreError> {
        let reading = self.db().snapshot(async |snapshot| {
            let now = snapshot.now().await?;
            let known_since = self.known_since(snapshot, now).await?;
            let story = turns::of_dependency(snapshot, id, now, known_since, MAX_TURNS).await?;
            Ok::<_, StoreError>(story.map(|story| Uptime::of(&story, now)))
        });
        reading.await
    }

    /// From when on changes are there: what was kept for a shorter time before stays unknown.
    async fn known_since(
        &self,
        snapshot: &mut Snapshot,
        now: Timestamp,
    ) -> Result<Timestamp, StoreError> {
        let asked = earlier(now, self.longest());
        let recorded = self.since(snapshot, now).await?;
        let changed = changes::first_at(snapshot).await?;
        let Some(recorded) = recorded.into_iter().chain(changed).min() else { return Ok(asked) };
        // Changes are kept right to the horizon; the oldest keyframe is up to a day younger.
        let is_all = recorded <= self.horizon(now).plus(2 * EVERY);
        Ok(if is_all { asked } else { asked.max(recorded) })
    }

    /// How far back is looked: no further than changes are kept.
    fn longest(&self) -> Duration {
        let asked = WINDOWS.iter().map(|(_, length)| *length).max().unwrap_or_default();
        asked.min(self.kept_for())
    }
}

impl Uptime {
    /// By what became of something until `now`.
    pub(crate) fn of(story: &Story, now: Timestamp) -> Self {
        let windows = WINDOWS
            .iter()
            .map(|(window, length)| UptimeWindow::of(window, (earlier(now, *length), now), story));
        Self { known_since: story.known_since.max(story.born), windows: windows.collect() }
    }
}

impl UptimeWindow {
    fn of(window: &'static str, (from, to): (Timestamp, Timestamp), story: &Story) -> Self {
        let mut told = Self {
            window,
            from,
            to,
            healthy_ms: 0,
            degraded_ms: 0,
            down_ms: 0,
            unknown_ms: 0,
            skipped_ms: 0,
            absent_ms: overlap((from, to), (from, story.born)),
            uptime: None,
            unknown: None,
        };
        told.add((story.born, story.known_since), DependencyStatus::Unknown);
        let (mut status, mut since) = (story.initial, story.known_since.max(story.born));
        for (at, next) in &story.turns {
            told.add((since, *at), status);
            (status, since) = (*next, since.max(*at));
        }
        told.add((since, to), status);
        told.shares();
        told
    }

    /// Counts a span in which it was so, as far as it is in the window.
    fn add(&mut self, span: (Timestamp, Timestamp), status: DependencyStatus) {
        let millis = overlap((self.from, self.to), span);
        let sum = match status {
            DependencyStatus::Healthy => &mut self.healthy_ms,
            DependencyStatus::Degraded => &mut self.degraded_ms,
            DependencyStatus::Down => &mut self.down_ms,
            DependencyStatus::Unknown => &mut self.unknown_ms,
            DependencyStatus::Skipped => &mut self.skipped_ms,
        };
        *sum = sum.saturating_add(millis);
    }

    fn shares(&mut self) {
        let known = self.healthy_ms.saturating_add(self.degraded_ms).saturating_add(self.down_ms);
        let there = known.saturating_add(self.unknown_ms).saturating_add(self.skipped_ms);
        self.uptime = share(self.healthy_ms, known);
        self.unknown = share(self.unknown_ms, there);
    }
}

/// How many milliseconds two spans have in common.
fn overlap(one: (Timestamp, Timestamp), other: (Timestamp, Timestamp)) -> i64 {
    let (from, to) = (one.0.max(other.0), one.1.min(other.1));
    to.as_millis().saturating_sub(from.as_millis()).max(0)
}

fn share(part: i64, whole: i64) -> Option<f64> {
    // Exact far beyond any span.
    #[expect(clippy::cast_precision_loss, reason = "spans are below 2^53 ms")]
    let share = part as f64 / whole as f64;
    (whole > 0).then_some(share)
}

const fn days(count: u64) -> Duration {
    Duration::from_hours(24 * count)
}

#[cfg(test)]
#[path = "uptime_tests.rs"]
mod tests;
