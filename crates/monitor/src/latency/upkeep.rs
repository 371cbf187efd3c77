//! The job that rolls latencies up, closes what is long missing and removes what is too old, every
//! minute.

use std::time::Duration;

use futures_util::future::BoxFuture;
use mainstay_base::Timestamp;
use mainstay_jobs::{
    Claimed, Context, CronJob, Handler, JobError, JobsError, Kind, KindError, NewJob,
};
use mainstay_store::{Db, StoreError};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::budget::Budget;
use super::record::closing::{self, Step};
use super::record::old::{self, Old};
use super::retention::Retention;
use super::rollup::{Layer, Sizes};
use super::span::{DAY_MS, FIVE_MINUTES_MS, HOUR_MS};

/// The kind of the job.
pub const KIND: &str = "monitor_latency_rollups";

/// Every minute: a span of five minutes is rolled up within a minute of its grace.
const AT: &str = "* * * * *";

/// Days after today that are made room for.
const DAYS_AHEAD: i64 = 2;

/// So long after each hour began, runs look for what has to be closed: that reads all dependencies
/// there are, and nobody waits for it.
const CLOSING_WITHIN_MS: i64 = FIVE_MINUTES_MS;

/// Portions that one run removes at most, of each table.
const REMOVE_STEPS: u32 = 500;

/// Rolls latencies up and removes what is too old.
#[derive(Debug)]
pub struct Upkeep {
    db: Db,
    retention: Retention,
    sizes: Sizes,
    kind: Kind,
}

/// What a run has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Done {
    /// Rows of five minutes that were made.
    pub five_minutes: u64,
    /// Hourly rows that were made.
    pub hours: u64,
    /// Dependencies that were closed.
    pub closed: u64,
    /// Rows that were removed one by one.
    pub removed: u64,
}

impl Upkeep {
    /// On `db`, which keeps what `retention` says.
    ///
    /// # Errors
    /// Never as it stands: [`KIND`] is a kind.
    pub fn new(db: Db, retention: Retention) -> Result<Self, KindError> {
        Ok(Self { db, retention, sizes: Sizes::default(), kind: Kind::new(KIND)? })
    }

    /// The same in portions of other sizes.
    #[cfg(test)]
    pub(crate) fn with_sizes(self, sizes: Sizes) -> Self {
        Self { sizes, ..self }
    }

    /// When the job comes.
    ///
    /// # Errors
    /// Never as it stands: the schedule can be read.
    pub fn cron() -> Result<CronJob, JobsError> {
        CronJob::new(KIND, AT, NewJob::new(Kind::new(KIND)?, json!({})))
    }

    /// Makes room for the points of today and the next days. Called at start too, before the first
    /// poll: on PostgreSQL a day that has begun without a partition of its own gets none.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn open_days(&self) -> Result<(), StoreError> {
        let today = self.db.now().await?.as_millis().div_euclid(DAY_MS);
        for day in today..=today.saturating_add(DAYS_AHEAD) {
            old::open_day(&self.db, day).await?;
        }
        Ok(())
    }

    /// Does what is due, in small steps, until it is done, `stop` fires or the run has done enough.
    ///
    /// # Errors
    /// When the database fails. What was done until then stays done.
    pub async fn run_once(&self, stop: &CancellationToken) -> Result<Done, StoreError> {
        self.open_days().await?;
        let now = self.db.now().await?;
        let roll_up = async |layer: Layer| {
            let mut budget = Budget::new(self.sizes.steps, stop);
            layer.roll_up(&self.db, now, self.sizes, &mut budget).await
        };
        let five_minutes = roll_up(Layer::FiveMinutes).await?;
        let hours = roll_up(Layer::Hours).await?;
        let mut removed = 0_u64;
        for old in self.too_old(now).await? {
            removed = removed.saturating_add(self.remove(old, stop).await?);
        }
        let mut counts = [0_u64; 3];
        let is_due = now.as_millis().rem_euclid(HOUR_MS) < CLOSING_WITHIN_MS;
        for (step, count) in self.closing(now).into_iter().zip(&mut counts).filter(|_| is_due) {
            let mut budget = Budget::new(REMOVE_STEPS, stop);
            *count = closing::take(&self.db, step, &mut budget).await?;
        }
        let [closed, dependencies, services] = counts;
        let removed = removed.saturating_add(dependencies).saturating_add(services);
        Ok(Done { five_minutes, hours, closed, removed })
    }

    /// What is done to what nobody reports or watches any more. A dependency goes before its service.
    fn closing(&self, now: Timestamp) -> [Step; 3] {
        let removed_at = before(now, self.retention.hours());
        [
            Step::Close { missing_since: before(now, self.retention.missing()), now },
            Step::Dependencies { removed_at },
            Step::Services { removed_at },
        ]
    }

    /// What is too old. What was not rolled up yet never is.
    async fn too_old(&self, now: Timestamp) -> Result<Vec<Old>, StoreError> {
        let before = |kept| before(now, kept);
        let at = before(self.retention.hours());
        let (five_minutes, hours) = (Layer::FiveMinutes.length(), Layer::Hours.length());
        let mut found = vec![
            Old::Rollups { length: hours, start: begun_before(at, hours) },
            Old::Changes { at },
            Old::Errors { at },
            Old::Polls { at },
        ];
        if let Some(complete) = Layer::FiveMinutes.complete_until(&self.db).await? {
            let end = before(self.retention.raw()).min(complete);
            found.push(Old::Points { day: end.div_euclid(DAY_MS) });
        }
        if let Some(complete) = Layer::Hours.complete_until(&self.db).await? {
            let end = before(self.retention.five_minutes()).min(complete);
            found.push(Old::Rollups {
                length: five_minutes,
                start: begun_before(end, five_minutes),
            });
        }
        Ok(found)
    }

    async fn remove(&self, old: Old, stop: &CancellationToken) -> Result<u64, StoreError> {
        let mut budget = Budget::new(REMOVE_STEPS, stop);
        if let Old::Points { day } = old {
            for day in old::days_before(&self.db, day).await? {
                if budget.take() {
                    old::drop_day(&self.db, day).await?;
                }
            }
        }
        old::remove_all(&self.db, old, &mut budget).await
    }
}

/// The moment so long before `now`.
fn before(now: Timestamp, kept: Duration) -> i64 {
    now.as_millis().saturating_sub(i64::try_from(kept.as_millis()).unwrap_or(i64::MAX))
}

/// Where spans begin from that end after `end`.
const fn begun_before(end: i64, length: i64) -> i64 {
    end.saturating_sub(length).saturating_add(1)
}

impl Handler for Upkeep {
    fn kind(&self) -> Kind {
        self.kind.clone()
    }

    fn concurrency(&self) -> Option<u32> {
        Some(1)
    }

    fn run<'a>(
        &'a self,
        _: &'a Claimed,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<(), JobError>> {
        Box::pin(async {
            let done = self.run_once(context.cancelled()).await;
            let done =
                done.map_err(|error| JobError::retriable("database_failed", error.to_string()))?;
            tracing::debug!(?done, "latencies were rolled up");
            Ok(())
        })
    }
}
