//! The handle to the room: what people ask of their files.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use mainstay_base::{Id, IdSource, Rng};
use mainstay_events::{Events, Outbox};
use mainstay_jobs::{Jobs, JobsError, Kind, NewJob, trace};
use mainstay_store::{Db, Tx};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;
use tracing::{Instrument as _, Span};

use crate::announce::{self, News};
use crate::artefacts::{self, Leftovers, Marks, Shelf};
use crate::error::ReportsError;
use crate::model::{File, FileStatus};
use crate::objects::Objects;
use crate::place::{Files, MAX_PAGE, Place};
use crate::record::{files, steps};
use crate::sweep::Pass;
use crate::turns::Turns;

/// The kind of job that makes a report.
pub const REPORT: &str = "report";
/// The largest report that is read back, in bytes.
pub const MAX_REPORT_BYTES: usize = 4 * 1024 * 1024;

/// How long somebody waits for the storage: a report and what was recorded beside it fit into the time of one request.
pub const READ_TIME: Duration = Duration::from_secs(10);

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
    /// How long somebody waits for the storage: [`READ_TIME`].
    pub read_time: Duration,
}

/// Makes of a secret what may be kept of it.
pub trait TokenHash: Send + Sync + 'static {
    /// The same for the same token, and nothing leads back.
    fn hash(&self, token: &str) -> String;
}

/// What is written with a change, in its transaction: a line of the audit log, say.
pub type Beside =
    Box<dyn for<'a> FnOnce(&'a mut Tx) -> BoxFuture<'a, Result<(), BesideError>> + Send>;

/// Why that was not written.
#[derive(Debug, thiserror::Error)]
pub enum BesideError {
    /// Whoever asks may not: the change is not made, and that is no failure.
    #[error("it is refused: {0}")]
    Refused(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// It could not be written.
    #[error("it failed: {0}")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

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
    pub(crate) read_time: Duration,
    pub(crate) turns: Arc<Turns>,
    /// What goes on when whoever asked for it is gone.
    pub(crate) under_way: TaskTracker,
    /// How far the sweeper has come.
    pub(crate) pass: Mutex<Pass>,
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
    /// Lines in the middle of a long transcript that it was not made of; `None` for a report that was made
    /// before they were counted.
    pub lines_left_out: Option<u64>,
    /// What the monitor recorded in the time of the incident, where somebody said when that was.
    pub recorded: Option<Value>,
    /// Whether that was kept and can't be read: the report is told without it.
    pub is_recorded_unreadable: bool,
}

/// A report that is gone from the storage or garbled there, by where it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostReport(String);

/// A file that is deleted once that is committed, and whose objects follow it.
#[derive(Debug)]
pub struct Removal {
    done: oneshot::Receiver<()>,
    time: Duration,
}

impl Removal {
    /// Waits until its objects are removed, or told to the log, but not for a storage that stays silent: the file is
    /// gone all the same. Call it after the commit.
    pub async fn objects_gone(self) {
        // One that never began was not committed.
        let _ = timeout(self.time, self.done).await;
    }
}

impl Reports {
    /// Opens the room.
    #[must_use]
    pub fn new(options: ReportsOptions) -> Self {
        let ReportsOptions { events, jobs, objects, ids, rng, tokens, is_configured, read_time } =
            options;
        Self {
            shared: Arc::new(Shared {
                events,
                jobs,
                objects,
                ids,
                rng,
                tokens,
                is_configured,
                read_time,
                turns: Arc::default(),
                under_way: TaskTracker::new(),
                pass: Mutex::default(),
            }),
        }
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
        let key = made_report(&file).ok_or(ReportsError::NotReady)?;
        let report = artefacts::read_report(self.shelf(), key, MAX_REPORT_BYTES).await;
        let (report, marks) = report.map_err(|unread| unread.of_report(id))?;
        let recorded = match &file.keys.timeline {
            Some(key) => artefacts::read(self.shelf(), key, MAX_REPORT_BYTES).await.map(Some),
            None => Ok(None),
        };
        let recorded = recorded.map_err(|unread| unread.of_timeline(id));
        let is_recorded_unreadable = recorded.is_err();
        let recorded = recorded.unwrap_or_default();
        let Marks { not_found, lines_left_out } = marks;
        Ok(Read { file, report, not_found, lines_left_out, recorded, is_recorded_unreadable })
    }

    /// The report of a file of which nothing is left to read: [`Reports::remake`] has it made anew.
    ///
    /// # Errors
    /// [`ReportsError::NotFound`], [`ReportsError::Fetch`] when the storage can't tell now, or when the
    /// database fails.
    pub async fn lost_report(&self, user: Id, id: Id) -> Result<Option<LostReport>, ReportsError> {
        let file = self.find(user, id).await?;
        let Some(key) = made_report(&file) else { return Ok(None) };
        match artefacts::read_report(self.shelf(), key, MAX_REPORT_BYTES).await {
            Ok(_) => Ok(None),
            Err(unread) if unread.is_lost => Ok(Some(LostReport(key.to_owned()))),
            Err(unread) => Err(unread.of_report(id)),
        }
    }

    /// Has a report made anew that is lost, of the transcript that is still there.
    ///
    /// # Errors
    /// [`ReportsError::NotConfigured`], [`ReportsError::NotFound`], [`ReportsError::NotFailed`] when the file
    /// has another report by now, or when the database fails.
    pub async fn remake(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        (user, id): (Id, Id),
        lost: &LostReport,
    ) -> Result<(), ReportsError> {
        if !self.is_configured() {
            return Err(ReportsError::NotConfigured);
        }
        let file = files::find_in(tx, user, id).await?.ok_or(ReportsError::NotFound)?;
        if made_report(&file) != Some(lost.0.as_str()) {
            return Err(ReportsError::NotFailed);
        }
        self.renew(tx, out, (user, id), FileStatus::Succeeded).await
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
            Err(JobsError::Archived | JobsError::NotFound) => {
                self.renew(tx, out, (user, id), FileStatus::Failed).await
            }
            Err(JobsError::NotFailed) => Err(ReportsError::NotFailed),
            Err(error) => Err(error.into()),
        }
    }

    /// Deletes a file: its row, its shares and its job now, its objects after the commit, whoever waits for
    /// that. What is left of these is told to the log and swept.
    ///
    /// # Errors
    /// [`ReportsError::NotFound`], or when the database fails.
    pub async fn remove(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        user: Id,
        id: Id,
    ) -> Result<Removal, ReportsError> {
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
        let (tell, done) = oneshot::channel();
        let (reports, span) = (self.clone(), Span::current());
        tx.after_commit(move || {
            let leftovers = Leftovers::new(Arc::clone(&reports.shared.objects), file);
            let _entered = span.enter();
            reports.spawn(async move {
                leftovers.remove().await;
                // Nobody may be waiting for it any more.
                let _ = tell.send(());
            });
        });
        Ok(Removal { done, time: self.shared.read_time })
    }

    /// Waits until all that goes on by itself has ended: each upload is stored or undone, and what is to be
    /// removed from the storage is, or is told to the log.
    pub async fn landed(&self) {
        self.shared.under_way.close();
        self.shared.under_way.wait().await;
    }

    /// Does it on a task of the room: it is not dropped with whoever asks for it, and [`Reports::landed`] waits
    /// for it.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        let work = trace::follow(trace::current(), work);
        self.shared.under_way.spawn(work.in_current_span())
    }

    fn shelf(&self) -> Shelf<'_> {
        Shelf { objects: &self.shared.objects, time: self.shared.read_time }
    }

    pub(crate) fn db(&self) -> &Db {
        self.shared.events.db()
    }

    /// A job that makes the report of a file.
    pub(crate) fn job(user: Id, id: Id) -> Result<NewJob, JobsError> {
        let payload = json!({"user_id": user, "file_id": id});
        Ok(NewJob::new(Kind::new(REPORT)?, payload).about(id.to_string()))
    }

    /// Gives a file that stands so another job.
    async fn renew(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        (user, id): (Id, Id),
        status: FileStatus,
    ) -> Result<(), ReportsError> {
        let job = self.shared.jobs.enqueue(tx, Self::job(user, id)?).await?.id;
        if !steps::renew_job(tx, (user, id), status, job).await? {
            return Err(ReportsError::NotFailed);
        }
        let news = News::of_upload((user, id), FileStatus::Queued, None);
        Ok(announce::state_changed(out, &news)?)
    }
}

/// Where the report of a file is that has one.
fn made_report(file: &File) -> Option<&str> {
    file.keys.report.as_deref().filter(|_| file.status == FileStatus::Succeeded)
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
