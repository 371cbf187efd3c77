//! How services are, seen from the workers of a user; and what is removed when it is too old.

use std::time::Duration;

use futures_util::future::BoxFuture;
use mainstay_base::{Id, Timestamp};
use mainstay_jobs::{
    Claimed, Context, CronJob, Handler, JobError, JobsError, Kind, KindError, NewJob,
};
use mainstay_store::{Db, StoreError};
use serde_json::json;

use crate::decide::shown::{Shown, shown};
use crate::error::FleetError;
use crate::fleet::Fleet;
use crate::model::location::{LocationChange, SeenLocation};
use crate::record::locations::{self, PORTION, Placed};

/// The most locations of a service that are shown.
pub const MAX_SHOWN: i64 = 200;
/// The most changes of a service that are shown.
pub const MAX_CHANGES_SHOWN: i64 = 50;
/// How far back changes are shown.
pub const CHANGES_SHOWN: Duration = Duration::from_hours(24);
/// How long changes are kept.
pub const CHANGES_KEPT: Duration = Duration::from_hours(30 * 24);
/// How many changes are kept at most, of all users.
pub const MAX_CHANGES: i64 = 1_000_000;

/// The kind of the job that removes what is too old.
pub const CLEAN_UP: &str = "clean_up_locations";
/// Every ten minutes.
const CLEAN_UP_AT: &str = "*/10 * * * *";
/// Portions that one run removes at most; the rest waits for the next.
const PORTIONS: u32 = 200;

impl Fleet {
    /// How a service is, seen from each worker of this user that has a net about it: by its name, or by
    /// where it is asked.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn locations_of(
        &self,
        user: Id,
        name: &str,
        url: &str,
    ) -> Result<Vec<SeenLocation>, FleetError> {
        let now = self.db().now().await?;
        let placed = locations::of_service(self.db(), user, (name, url), MAX_SHOWN).await?;
        let sweep = self.shared.pace.sweep;
        Ok(placed.into_iter().map(|placed| seen(placed, sweep, now)).collect())
    }

    /// When it turned out otherwise than before on one of those workers within [`CHANGES_SHOWN`], newest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn location_changes_of(
        &self,
        user: Id,
        name: &str,
        url: &str,
    ) -> Result<Vec<LocationChange>, FleetError> {
        let since = before(self.db().now().await?, CHANGES_SHOWN);
        let most = MAX_CHANGES_SHOWN;
        locations::changes_of_service(self.db(), user, (name, url), since, most).await
    }
}

fn before(now: Timestamp, span: Duration) -> Timestamp {
    let span = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millis(now.as_millis().saturating_sub(span))
}

fn seen(placed: Placed, sweep: Duration, now: Timestamp) -> SeenLocation {
    let Placed { location, net_id, net, worker, region, standing } = placed;
    let Shown { status, since, error } = shown(&location, standing, sweep, now);
    SeenLocation {
        worker_id: location.worker_id,
        worker,
        region,
        net_id,
        net,
        kind: location.check.kind,
        check: location.check.name,
        status,
        since,
        checked_at: location.checked_at,
        latency: location.latency,
        error,
    }
}

/// Removes changes that are too old or too many.
#[derive(Debug)]
pub struct CleanUpLocations {
    db: Db,
    kind: Kind,
}

impl CleanUpLocations {
    /// Of the fleet.
    ///
    /// # Errors
    /// Never as it stands: [`CLEAN_UP`] is a kind.
    pub fn new(fleet: &Fleet) -> Result<Self, KindError> {
        Ok(Self { db: fleet.db().clone(), kind: Kind::new(CLEAN_UP)? })
    }

    /// When the job comes.
    ///
    /// # Errors
    /// Never as it stands: the schedule can be read.
    pub fn cron() -> Result<CronJob, JobsError> {
        CronJob::new(CLEAN_UP, CLEAN_UP_AT, NewJob::new(Kind::new(CLEAN_UP)?, json!({})))
    }

    /// Keeps changes for `kept`, and the newest `most` of them; tells how many it removed.
    ///
    /// # Errors
    /// When the database fails. What was removed until then stays so.
    pub async fn run_once(&self, kept: Duration, most: i64) -> Result<u64, StoreError> {
        let before = before(self.db.now().await?, kept);
        let mut removed = 0_u64;
        for _ in 0..PORTIONS {
            let portion = self.db.write(async |tx| {
                let old = locations::remove_old(tx, before).await?;
                Ok::<_, StoreError>(old.saturating_add(locations::remove_many(tx, most).await?))
            });
            let portion = portion.await?;
            removed = removed.saturating_add(portion);
            if portion < PORTION.unsigned_abs() {
                break;
            }
        }
        Ok(removed)
    }
}

impl Handler for CleanUpLocations {
    fn kind(&self) -> Kind {
        self.kind.clone()
    }

    fn concurrency(&self) -> Option<u32> {
        Some(1)
    }

    fn run<'a>(&'a self, _: &'a Claimed, _: &'a Context) -> BoxFuture<'a, Result<(), JobError>> {
        Box::pin(async {
            let removed = self.run_once(CHANGES_KEPT, MAX_CHANGES).await;
            let failed =
                |error: StoreError| JobError::retriable("database_failed", error.to_string());
            tracing::debug!(removed = removed.map_err(failed)?, "old changes of locations removed");
            Ok(())
        })
    }
}
