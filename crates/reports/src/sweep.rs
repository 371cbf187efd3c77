//! What nobody else ends: uploads whose server died, and objects that nothing refers to.

use std::collections::HashSet;
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use mainstay_base::{Id, Timestamp};
use mainstay_jobs::{Claimed, Context, CronJob, Handler, JobError, JobsError, Kind, NewJob};
use mainstay_store::Tx;
use serde_json::json;

use crate::announce::{self, News};
use crate::error::ReportsError;
use crate::keys;
use crate::measure;
use crate::model::{FileError, FileStatus};
use crate::objects::{ObjectEntry, ObjectError};
use crate::orphans::{self, Verdict};
use crate::record::{shares, sweep};
use crate::reports::Reports;

/// The kind of job that sweeps.
pub const SWEEP: &str = "sweep_reports";
/// A file that is uploaded for longer has lost its server: no request lasts so long.
pub const UPLOAD_LIMIT: Duration = Duration::from_mins(10);
/// An object that nothing refers to for so long is nobody's: no attempt lasts so long.
pub const ORPHAN_AGE: Duration = Duration::from_hours(24);
/// How long an expired share is remembered, so that its owner still sees it.
const SHARE_REMEMBERED: Duration = Duration::from_hours(30 * 24);
/// How long it is known that a file was deleted here: for less long than that no storage is away.
const DELETION_REMEMBERED: Duration = Duration::from_hours(90 * 24);
/// Rows that are changed in one transaction.
const TOGETHER: i64 = 200;
/// Transactions of each sort in one run; the rest waits for the next.
const MOST_PORTIONS: usize = 50;
/// Objects that are listed at once.
const LISTED: usize = 500;
/// Lists in one run: a million objects. The next run of this process goes on where it ended.
const MOST_LISTS: usize = 2_000;
/// Uploads are looked at every minute.
const UPLOADS_AT: &str = "* * * * *";
/// Objects are looked at every hour.
const OBJECTS_AT: &str = "17 * * * *";

/// What one run has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Uploads that were ended.
    pub uploads: u64,
    /// Shares that were forgotten.
    pub shares: u64,
    /// Rests of uploads that were removed.
    pub abandoned: u64,
    /// Objects that were removed.
    pub objects: u64,
    /// Objects that could not be removed.
    pub left: u64,
    /// Objects of files that this database knows nothing of; they stay.
    pub unknown: u64,
    /// Objects that their files do not refer to and may yet: they stay.
    pub undecided: u64,
}

/// Where the sweeper is in the storage, while it has not come to the end.
#[derive(Debug, Default)]
pub(crate) struct Pass {
    /// The last object that it looked at.
    after: Option<String>,
    /// Objects of unknown files so far.
    unknown: Tally,
    /// Objects of which nobody knows whether they are over.
    undecided: Tally,
}

/// Objects that stay, so far.
#[derive(Debug, Default)]
struct Tally {
    objects: u64,
    /// The first of them.
    example: Option<String>,
}

/// Sweeps, as a job.
#[derive(Debug)]
pub struct Sweeper {
    kind: Kind,
    reports: Reports,
}

impl Sweeper {
    /// Sweeps what `reports` leaves.
    ///
    /// # Errors
    /// Never: the name of the kind is fit.
    pub fn new(reports: Reports) -> Result<Self, JobsError> {
        Ok(Self { kind: Kind::new(SWEEP)?, reports })
    }

    /// When it sweeps.
    ///
    /// # Errors
    /// Never: the times can be read.
    pub fn cron() -> Result<Vec<CronJob>, JobsError> {
        let job = |objects: bool| {
            Ok::<_, JobsError>(NewJob::new(Kind::new(SWEEP)?, json!({"objects": objects})))
        };
        Ok(vec![
            CronJob::new("sweep_uploads", UPLOADS_AT, job(false)?)?,
            CronJob::new("sweep_report_objects", OBJECTS_AT, job(true)?)?,
        ])
    }
}

impl Handler for Sweeper {
    fn kind(&self) -> Kind {
        self.kind.clone()
    }

    fn run<'a>(
        &'a self,
        job: &'a Claimed,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<(), JobError>> {
        Box::pin(async move {
            let with_objects = job.payload.get("objects").and_then(serde_json::Value::as_bool);
            let sweeping = async {
                let mut swept = self.reports.sweep_rows().await?;
                if with_objects == Some(true) {
                    let objects = self.reports.sweep_objects().await?;
                    (swept.objects, swept.left) = (objects.objects, objects.left);
                    (swept.abandoned, swept.unknown) = (objects.abandoned, objects.unknown);
                    swept.undecided = objects.undecided;
                }
                Ok::<_, SweepError>(swept)
            };
            let swept = context.cancelled().run_until_cancelled(sweeping).await;
            match swept {
                None => Ok(()),
                Some(Ok(_)) => Ok(()),
                Some(Err(error)) => Err(JobError::retriable("sweep_failed", error.to_string())),
            }
        })
    }
}

/// Why a sweep ended early. What was swept so far is swept.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The database or the queue failed.
    #[error(transparent)]
    Reports(#[from] ReportsError),
    /// The storage could not be looked through.
    #[error("the storage could not be looked through: {0}")]
    List(#[from] ObjectError),
}

impl Reports {
    /// Ends uploads that lost their server, and forgets shares that expired long ago.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn sweep_rows(&self) -> Result<Swept, ReportsError> {
        let now = self.db().now().await?;
        let mut swept = Swept::default();
        for _ in 0..MOST_PORTIONS {
            let ended = self.interrupt(earlier(now, UPLOAD_LIMIT)).await?;
            swept.uploads = swept.uploads.saturating_add(ended);
            if ended < TOGETHER.unsigned_abs() {
                break;
            }
        }
        for _ in 0..MOST_PORTIONS {
            let before = earlier(now, SHARE_REMEMBERED);
            let forgotten =
                self.db().write(async |tx| shares::forget(tx, before, TOGETHER).await).await?;
            swept.shares = swept.shares.saturating_add(forgotten);
            if forgotten < TOGETHER.unsigned_abs() {
                break;
            }
        }
        for _ in 0..MOST_PORTIONS {
            let before = earlier(now, DELETION_REMEMBERED);
            let forgetting = async |tx: &mut Tx| sweep::forget_deleted(tx, before, TOGETHER).await;
            if self.db().write(forgetting).await? < TOGETHER.unsigned_abs() {
                break;
            }
        }
        Ok(swept)
    }

    /// Removes objects that nothing refers to any more and that are old enough that nobody is about to, and
    /// what is left of uploads that nobody finishes. Objects of files that this database does not know stay.
    ///
    /// # Errors
    /// When the storage can't be listed, or the database fails.
    pub async fn sweep_objects(&self) -> Result<Swept, SweepError> {
        let mut swept = self.sweep_lists(MOST_LISTS).await?;
        swept.abandoned = self.shared.objects.clear_abandoned().await?;
        Ok(swept)
    }

    /// The same with so many lists at most: from the beginning, or from where the run before it ended.
    ///
    /// # Errors
    /// As [`Self::sweep_objects`].
    pub async fn sweep_lists(&self, most: usize) -> Result<Swept, SweepError> {
        let mut swept = Swept::default();
        for _ in 0..most {
            let after = self.pass().after.clone();
            let objects = &self.shared.objects;
            let listed = objects.list(keys::PREFIX, after.as_deref(), LISTED).await?;
            let Some(last) = listed.last().map(|last| last.key.clone()) else {
                std::mem::take(&mut *self.pass()).tell();
                break;
            };
            // By the storage's clock the objects are dated: a day leaves room for that of the database.
            let before = earlier(self.db().now().await.map_err(ReportsError::from)?, ORPHAN_AGE);
            self.sweep_listed(listed, before, &mut swept).await?;
            // After each: the run may be cut short at the next.
            self.pass().after = Some(last);
        }
        Ok(swept)
    }

    fn pass(&self) -> MutexGuard<'_, Pass> {
        self.shared.pass.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn sweep_listed(
        &self,
        listed: Vec<ObjectEntry>,
        before: Timestamp,
        swept: &mut Swept,
    ) -> Result<(), ReportsError> {
        // What this room has not stored is not this room's to remove.
        let old: Vec<_> = listed
            .into_iter()
            .filter(|entry| entry.modified < before)
            .filter_map(|entry| keys::owner(&entry.key).map(|owner| (entry, owner)))
            .collect();
        if old.is_empty() {
            return Ok(());
        }
        let owners: HashSet<_> = old.iter().map(|(_, owner)| *owner).collect();
        let known = sweep::known(self.db(), &owners).await?;
        for (entry, owner) in &old {
            match orphans::judge(entry, known.get(owner)) {
                Verdict::Keep => {}
                Verdict::Remove => self.sweep_one(&entry.key, owner.1, swept).await,
                Verdict::Unknown => {
                    swept.unknown = swept.unknown.saturating_add(1);
                    self.pass().unknown.meet(&entry.key);
                }
                Verdict::Undecided => {
                    swept.undecided = swept.undecided.saturating_add(1);
                    self.pass().undecided.meet(&entry.key);
                }
            }
        }
        Ok(())
    }

    async fn sweep_one(&self, key: &str, file: Id, swept: &mut Swept) {
        match self.shared.objects.delete(key).await {
            Ok(()) => {
                tracing::info!(event = "orphan_swept", file_id = %file, key,
                    "an object that nothing referred to was removed");
                measure::swept(1);
                swept.objects = swept.objects.saturating_add(1);
            }
            Err(error) => {
                tracing::warn!(event = "orphan_s3_object", file_id = %file, key, %error,
                    "an object that nothing refers to could not be removed");
                swept.left = swept.left.saturating_add(1);
            }
        }
    }

    async fn interrupt(&self, before: Timestamp) -> Result<u64, ReportsError> {
        let error = FileError {
            code: "upload_interrupted".to_owned(),
            message: "the server stopped while the file was uploaded; upload it again".to_owned(),
        };
        let ended = self.shared.events.write(async |tx, out| {
            let ended = sweep::interrupt(tx, before, TOGETHER, &error).await?;
            for &file in &ended {
                let news = News::of_upload(file, FileStatus::Failed, Some(&error.code));
                announce::state_changed(out, &news)?;
            }
            Ok::<_, ReportsError>(ended)
        });
        let ended = ended.await?;
        for (_, file) in &ended {
            tracing::warn!(event = "upload_interrupted", file_id = %file,
                "an upload lost its server and was given up");
        }
        Ok(u64::try_from(ended.len()).unwrap_or(u64::MAX))
    }
}

impl Tally {
    fn meet(&mut self, key: &str) {
        self.objects = self.objects.saturating_add(1);
        self.example.get_or_insert_with(|| key.to_owned());
    }
}

impl Pass {
    /// All was looked at.
    fn tell(self) {
        let Self { unknown, undecided, .. } = self;
        measure::unknown(unknown.objects);
        measure::undecided(undecided.objects);
        if let Some(key) = undecided.example {
            tracing::warn!(
                event = "undecided_objects",
                objects = undecided.objects,
                key,
                "the storage has objects that were stored after their files last changed, which do not refer to them, and \
                 they stay until the files change or are deleted; docs/runbooks/orphans.md says whose they may be"
            );
        }
        if let Some(key) = unknown.example {
            tracing::warn!(
                event = "unknown_objects",
                objects = unknown.objects,
                key,
                "the storage has objects of files that this database does not know, and they stay: another installation \
                 uses the same storage, or the database was restored from a backup; docs/runbooks/orphans.md says what to do"
            );
        }
    }
}

fn earlier(now: Timestamp, span: Duration) -> Timestamp {
    let millis = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millis(now.as_millis().saturating_sub(millis))
}
