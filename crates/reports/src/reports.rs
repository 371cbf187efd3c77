//! The handle to the room: what people ask of their files.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use mainstay_base::{Id, IdSource, Rng};
use mainstay_events::{Events, Outbox};
use mainstay_jobs::{Jobs, JobsError, Kind, NewJob};
use mainstay_store::{Db, Tx};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use crate::announce::{self, News};
use crate::artefacts;
use crate::error::ReportsError;
use crate::model::{File, FileStatus};
use crate::objects::Objects;
use crate::place::{Files, MAX_PAGE, Place};
use crate::record::{files, steps};

/// The kind of job that makes a report.
pub const REPORT: &str = "report";
/// Uploads that are under way at once in one process.
pub const MAX_UPLOADS: usize = 64;
/// The largest report that is read back, in bytes.
pub const MAX_REPORT_BYTES: usize = 4 * 1024 * 1024;

/// What the room works with.
pub struct ReportsOptions {
    /// The streams, with the database.
    pub events: Events,
    /// The queue.
    pub jobs: Jobs,
    /// The storage.
    pub objects: Arc<dyn Objects>,
    /// Where ids come from.
    pub ids: IdSource,
    /// Where tokens come from.
    pub rng: Arc<dyn Rng>,
    /// How a token is kept.
    pub tokens: Arc<dyn TokenHash>,
    /// Whether a language model is configured.
    pub is_configured: bool,
}

/// Makes of a secret what may be kept of it.
pub trait TokenHash: Send + Sync + 'static {
    /// The same for the same token, and nothing leads back.
    fn hash(&self, token: &str) -> String;
}

/// What is written with a change, in its transaction: a line of the audit log, say.
pub type Beside =
    Box<dyn for<'a> FnOnce(&'a mut Tx) -> BoxFuture<'a, Result<(), BesideError>> + Send>;

/// Why that failed.
pub type BesideError = Box<dyn std::error::Error + Send + Sync>;

/// The room. A clone is the same handle.
#[derive(Clone)]
pub struct Reports {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) events: Events,
    pub(crate) jobs: Jobs,
    pub(crate) objects: Arc<dyn Objects>,
    pub(crate) ids: IdSource,
    pub(crate) rng: Arc<dyn Rng>,
    pub(crate) tokens: Arc<dyn TokenHash>,
    pub(crate) is_configured: bool,
    pub(crate) uploads: Arc<Semaphore>,
    pub(crate) uploading: TaskTracker,
}

/// A report with what the monitor recorded beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct Read {
    /// The file it was made of.
    pub file: File,
    /// The report.
    pub report: Value,
    /// Where evidence stands in it that was neither said nor recorded, as JSON pointers; `None` for a
    /// report that was made before this was looked at.
    pub not_found: Option<Vec<String>>,
    /// What the monitor recorded in the time of the incident, where somebody said when that was.
    pub recorded: Option<Value>,
}

impl Reports {
    /// Opens the room.
    #[must_use]
    pub fn new(options: ReportsOptions) -> Self {
        let ReportsOptions { events, jobs, objects, ids, rng, tokens, is_configured } = options;
        let (uploads, uploading) = (Arc::new(Semaphore::new(MAX_UPLOADS)), TaskTracker::new());
        let shared =
            Shared { events, jobs, objects, ids, rng, tokens, is_configured, uploads, uploading };
        Self { shared: Arc::new(shared) }
    }

    /// Whether reports can be made.
    #[must_use]
    pub fn is_configured(&self) -> bool {
        self.shared.is_configured
    }

    /// The files of a user, newest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn list(
        &self,
        user: Id,
        after: Option<Place>,
        limit: u32,
    ) -> Result<Files, ReportsError> {
        let limit = limit.clamp(1, MAX_PAGE);
        let rows = files::list(self.db(), user, after, i64::from(limit).saturating_add(1)).await?;
        Ok(Files::cut(rows, limit))
    }

    /// A file of a user.
    ///
    /// # Errors
    /// [`ReportsError::NotFound`], also for a file of somebody else, or when the database fails.
    pub async fn find(&self, user: Id, id: Id) -> Result<File, ReportsError> {
        files::find(self.db(), user, id).await?.ok_or(ReportsError::NotFound)
    }

    /// The report of a file. The storage is asked only for a file of the user.
    ///
    /// # Errors
    /// [`ReportsError::NotFound`], [`ReportsError::NotReady`], [`ReportsError::Fetch`], or when the
    /// database fails.
    pub async fn read(&self, user: Id, id: Id) -> Result<Read, ReportsError> {
        let file = self.find(user, id).await?;
        let Some(key) = file.keys.report.as_ref().filter(|_| file.status == FileStatus::Succeeded)
        else {
            return Err(ReportsError::NotReady);
        };
        let objects = &*self.shared.objects;
        let report = artefacts::read(objects, id, key, MAX_REPORT_BYTES).await?;
        let (report, not_found) = artefacts::unmarked(report);
        let recorded = match &file.keys.timeline {
            Some(key) => Some(artefacts::read(objects, id, key, MAX_REPORT_BYTES).await?),
            None => None,
        };
        Ok(Read { file, report, not_found, recorded })
    }

    /// Tries a failed file again.
    ///
    /// # Errors
    /// [`ReportsError::NotConfigured`], [`ReportsError::NotFound`], [`ReportsError::NotFailed`],
    /// [`ReportsError::NeverStored`], or when the database fails.
    pub async fn retry(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        user: Id,
        id: Id,
    ) -> Result<(), ReportsError> {
        if !self.is_configured() {
            return Err(ReportsError::NotConfigured);
        }
        let file = files::find_in(tx, user, id).await?.ok_or(ReportsError::NotFound)?;
        if file.status != FileStatus::Failed {
            return Err(ReportsError::NotFailed);
        }
        let job = file.job_id.ok_or(ReportsError::NeverStored)?;
        match self.shared.jobs.retry(tx, out, job).await {
            Ok(_) => Ok(()),
            // It has left the queue by age, with its payload.
            Err(JobsError::Archived | JobsError::NotFound) => self.renew(tx, out, user, id).await,
            Err(JobsError::NotFailed) => Err(ReportsError::NotFailed),
            Err(error) => Err(error.into()),
        }
    }

    /// Deletes a file: its row, its shares and its job now, its objects with the answer. What is left of
    /// these is told to the log and swept.
    ///
    /// # Errors
    /// [`ReportsError::NotFound`], or when the database fails.
    pub async fn remove(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        user: Id,
        id: Id,
    ) -> Result<File, ReportsError> {
        let file = files::find_in(tx, user, id).await?.ok_or(ReportsError::NotFound)?;
        if let Some(job) = file.job_id {
            // That its report will not be is no news of a file that goes.
            match self.shared.jobs.cancel(tx, &mut Outbox::default(), job).await {
                Ok(_) | Err(JobsError::AlreadyFinished | JobsError::NotFound) => {}
                Err(error) => return Err(error.into()),
            }
        }
        if !files::remove(tx, user, id).await? {
            return Err(ReportsError::NotFound);
        }
        announce::removed(out, user, id)?;
        Ok(file)
    }

    /// Deletes the objects of a file that was removed.
    pub async fn remove_objects(&self, file: &File) {
        for key in file.keys.all() {
            artefacts::delete_or_tell(&*self.shared.objects, file.id, key).await;
        }
    }

    /// Waits until every upload that is under way is stored, or undone.
    pub async fn landed(&self) {
        self.shared.uploading.close();
        self.shared.uploading.wait().await;
    }

    pub(crate) fn db(&self) -> &Db {
        self.shared.events.db()
    }

    /// A job that makes the report of a file.
    pub(crate) fn job(user: Id, id: Id) -> Result<NewJob, JobsError> {
        let payload = json!({"user_id": user, "file_id": id});
        Ok(NewJob::new(Kind::new(REPORT)?, payload).about(id.to_string()))
    }

    async fn renew(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        user: Id,
        id: Id,
    ) -> Result<(), ReportsError> {
        let job = self.shared.jobs.enqueue(tx, Self::job(user, id)?).await?.id;
        if !steps::renew_job(tx, (user, id), job).await? {
            return Err(ReportsError::NotFailed);
        }
        let news = News::of_upload((user, id), FileStatus::Queued, None);
        Ok(announce::state_changed(out, &news)?)
    }
}

impl fmt::Debug for ReportsOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ReportsOptions")
    }
}

impl fmt::Debug for Reports {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Reports")
    }
}
