//! The handle to the queue: enqueue, look, act.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures_util::FutureExt as _;
use mainstay_base::{Clock, Id, IdSource, Rng};
use mainstay_events::{Events, Outbox, Topic};
use mainstay_store::Tx;

use crate::error::JobsError;
use crate::handler::Handler;
use crate::measure;
use crate::model::{
    Change, Enqueued, JobView, Kind, MAX_ATTEMPTS, MAX_PAYLOAD_BYTES, MAX_PRIORITY,
    MAX_SUBJECT_BYTES, NewJob, Status,
};
use crate::record::{Book, act, archive, enqueue, kinds, list, summary};
use crate::view::{JobFilter, Page, Part, Summary};

/// The most jobs that are enqueued at once.
pub const MAX_ENQUEUED_TOGETHER: usize = 5_000;
/// Portions that one clean-up moves or removes of each sort; the rest waits for the next.
const PORTIONS: u32 = 100;
/// A clean-up that touched so many rows may have left some.
pub(crate) const FULL_CLEAN_UP: u64 = PORTIONS as u64 * archive::PORTION.unsigned_abs();
/// A bell with this in front of a job's id tells its runner that it was cancelled.
pub(crate) const CANCEL_BELL: &str = "cancel:";
/// A bell with this in front of a kind tells runners that it was paused.
pub(crate) const PAUSE_BELL: &str = "pause:";

/// How long finished jobs are kept.
#[derive(Debug, Clone)]
pub struct JobsOptions {
    /// Succeeded ones in the queue, before they move to the archive.
    pub succeeded_kept: Duration,
    /// Failed ones in the queue, where they can be tried again.
    pub failed_kept: Duration,
    /// All of them, in the archive.
    pub archive_kept: Duration,
}

impl Default for JobsOptions {
    fn default() -> Self {
        Self {
            succeeded_kept: Duration::from_hours(1),
            failed_kept: Duration::from_hours(7 * 24),
            archive_kept: Duration::from_hours(30 * 24),
        }
    }
}

/// The queue. A clone is the same handle.
#[derive(Clone)]
pub struct Jobs {
    shared: Arc<Shared>,
}

struct Shared {
    events: Events,
    book: Book,
    clock: Arc<dyn Clock>,
    ids: IdSource,
    rng: Arc<dyn Rng>,
    options: JobsOptions,
    handlers: RwLock<HashMap<Kind, Arc<dyn Handler>>>,
}

impl Jobs {
    /// The queue in the database of `events`.
    #[must_use]
    pub fn new(
        events: Events,
        clock: Arc<dyn Clock>,
        ids: IdSource,
        rng: Arc<dyn Rng>,
        options: JobsOptions,
    ) -> Self {
        let book = Book::new(events.db().clone(), Arc::clone(&clock));
        let handlers = RwLock::default();
        Self { shared: Arc::new(Shared { events, book, clock, ids, rng, options, handlers }) }
    }

    /// Makes the hooks of `handlers` known, for a process that acts on jobs and runs none. A runner
    /// does this by itself.
    pub fn register(&self, handlers: &[Arc<dyn Handler>]) {
        let mut known = self.shared.handlers.write().unwrap_or_else(PoisonError::into_inner);
        for handler in handlers {
            known.insert(handler.kind(), Arc::clone(handler));
        }
    }

    /// Lets go of every handler at the end of a process: they hold rooms, and those hold these jobs.
    pub fn forget_handlers(&self) {
        let mut known = self.shared.handlers.write().unwrap_or_else(PoisonError::into_inner);
        let forgotten = std::mem::take(&mut *known);
        drop(known);
        drop(forgotten);
    }

    /// Enqueues a job in the caller's transaction; runners hear of it after the commit. When an
    /// unfinished job of the kind is about the same subject, that one is the answer.
    ///
    /// # Errors
    /// When the job is out of bounds or the database fails.
    pub async fn enqueue(&self, tx: &mut Tx, new: NewJob) -> Result<Enqueued, JobsError> {
        let kind = new.kind.clone();
        let draft = self.draft(new)?;
        let enqueued = enqueue::one(self.book(), tx, &draft).await?;
        self.ring_after(tx, kind.as_str());
        Ok(enqueued)
    }

    /// Enqueues many jobs with few statements, each as [`Jobs::enqueue`] does.
    ///
    /// # Errors
    /// When one is out of bounds, there are more than [`MAX_ENQUEUED_TOGETHER`], or the database
    /// fails. Then none is enqueued.
    pub async fn enqueue_many(
        &self,
        tx: &mut Tx,
        new: Vec<NewJob>,
    ) -> Result<Vec<Enqueued>, JobsError> {
        if new.len() > MAX_ENQUEUED_TOGETHER {
            return Err(JobsError::TooMany { given: new.len(), limit: MAX_ENQUEUED_TOGETHER });
        }
        let kinds: std::collections::BTreeSet<Kind> =
            new.iter().map(|job| job.kind.clone()).collect();
        let drafts =
            new.into_iter().map(|job| self.draft(job)).collect::<Result<Vec<_>, JobsError>>()?;
        let enqueued = enqueue::many(self.book(), tx, &drafts).await?;
        for kind in kinds {
            self.ring_after(tx, kind.as_str());
        }
        Ok(enqueued)
    }

    /// Lists jobs, newest first, those in the archive too.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn list(&self, filter: &JobFilter, page: Page) -> Result<Part, JobsError> {
        Ok(Part::cut(list::list(self.book(), filter, page).await?, page))
    }

    /// Lists jobs whose runner has not been heard of for longer than their lease.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn stuck(&self, page: Page) -> Result<Part, JobsError> {
        self.list(&JobFilter { stuck: true, ..JobFilter::default() }, page).await
    }

    /// The job with this id.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn find(&self, id: Id) -> Result<Option<JobView>, JobsError> {
        list::find(self.book(), id).await
    }

    /// The queue at a glance.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn summary(&self) -> Result<Summary, JobsError> {
        summary::summary(self.book()).await
    }

    /// Queues a failed job again, with all its attempts.
    ///
    /// # Errors
    /// [`JobsError::NotFound`], [`JobsError::NotFailed`], [`JobsError::Archived`],
    /// [`JobsError::SubjectTaken`], or when its hook or the database fails.
    pub async fn retry(&self, tx: &mut Tx, out: &mut Outbox, id: Id) -> Result<Change, JobsError> {
        let change = act::requeue(self.book(), tx, id).await?;
        self.tell(tx, out, &change).await?;
        self.ring_after(tx, change.kind.as_str());
        Ok(change)
    }

    /// Cancels a job that has not ended. A handler that runs it is told and can't write any more.
    ///
    /// # Errors
    /// [`JobsError::NotFound`], [`JobsError::AlreadyFinished`], or when its hook or the database
    /// fails.
    pub async fn cancel(&self, tx: &mut Tx, out: &mut Outbox, id: Id) -> Result<Change, JobsError> {
        let change = act::cancel(self.book(), tx, id).await?;
        self.tell(tx, out, &change).await?;
        let ended = change.clone();
        tx.after_commit(move || measure::ended(&ended));
        self.ring_after(tx, &format!("{CANCEL_BELL}{id}"));
        Ok(change)
    }

    /// From the commit on nobody claims jobs of the kind; those that run go on, and what a runner has
    /// and has not begun is given back.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn pause(&self, tx: &mut Tx, kind: &Kind) -> Result<(), JobsError> {
        kinds::pause(self.book(), tx, kind).await?;
        self.ring_after(tx, &format!("{PAUSE_BELL}{kind}"));
        Ok(())
    }

    /// Jobs of the kind are claimed again.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn resume(&self, tx: &mut Tx, kind: &Kind) -> Result<(), JobsError> {
        kinds::resume(tx, kind).await?;
        self.ring_after(tx, kind.as_str());
        Ok(())
    }

    /// Moves a bounded number of old finished jobs to the archive and removes what is too old there;
    /// tells how many rows that were. Runners do this by themselves.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn clean_up(&self) -> Result<u64, JobsError> {
        let options = &self.shared.options;
        let mut touched = 0;
        let sorts = [
            (Status::Succeeded, options.succeeded_kept, self.kinds_with_records()),
            (Status::Failed, options.failed_kept, vec![]),
        ];
        for (status, kept, unarchived) in sorts {
            for _ in 0..PORTIONS {
                let moved = archive::move_old(self.book(), status, kept, &unarchived).await?;
                touched += moved;
                if moved < archive::PORTION.unsigned_abs() {
                    break;
                }
            }
        }
        for _ in 0..PORTIONS {
            let removed = archive::trim(self.book(), options.archive_kept).await?;
            touched += removed;
            if removed < archive::PORTION.unsigned_abs() {
                break;
            }
        }
        Ok(touched)
    }

    pub(crate) fn book(&self) -> &Book {
        &self.shared.book
    }

    pub(crate) fn events(&self) -> &Events {
        &self.shared.events
    }

    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.shared.clock
    }

    /// Any number.
    pub(crate) fn chance(&self) -> u64 {
        let mut bytes = [0_u8; 8];
        self.shared.rng.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    pub(crate) fn handler(&self, kind: &Kind) -> Option<Arc<dyn Handler>> {
        let known = self.shared.handlers.read().unwrap_or_else(PoisonError::into_inner);
        known.get(kind).cloned()
    }

    /// The kinds whose rooms keep records of their own.
    fn kinds_with_records(&self) -> Vec<String> {
        let known = self.shared.handlers.read().unwrap_or_else(PoisonError::into_inner);
        let kept = known.values().filter(|handler| handler.keeps_record());
        kept.map(|handler| handler.kind().as_str().to_owned()).collect()
    }

    /// Tells the hook of the job's kind, if it has one.
    pub(crate) async fn tell(
        &self,
        tx: &mut Tx,
        out: &mut Outbox,
        change: &Change,
    ) -> Result<(), JobsError> {
        match self.handler(&change.kind) {
            Some(handler) if handler.hooks() => {
                let telling = AssertUnwindSafe(async { handler.changed(tx, out, change).await });
                let told = telling.catch_unwind().await;
                told.unwrap_or_else(|_| Err(JobsError::Hook("it panicked".to_owned())))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn ring_after(&self, tx: &mut Tx, key: &str) {
        let (doorbell, key) = (self.shared.events.doorbell().clone(), key.to_owned());
        tx.after_commit(move || doorbell.ring(Topic::Jobs, &key));
    }

    fn draft(&self, new: NewJob) -> Result<enqueue::Draft, JobsError> {
        let payload = checked(&new)?;
        Ok(enqueue::Draft::new(&self.shared.ids, new, payload))
    }
}

/// The payload's text, when the job is within its bounds.
fn checked(new: &NewJob) -> Result<String, JobsError> {
    let is_fit = |subject: &String| {
        (1..=MAX_SUBJECT_BYTES).contains(&subject.len()) && !subject.contains('\0')
    };
    if !new.subject.as_ref().is_none_or(is_fit) {
        return Err(JobsError::BadSubject);
    }
    if new.priority.unsigned_abs() > MAX_PRIORITY.unsigned_abs() {
        return Err(JobsError::BadPriority);
    }
    if !(1..=MAX_ATTEMPTS).contains(&new.max_attempts) {
        return Err(JobsError::BadAttempts);
    }
    // A NUL in a text is written as an escape, so the payload holds none.
    let payload = new.payload.to_string();
    if payload.len() > MAX_PAYLOAD_BYTES {
        return Err(JobsError::PayloadTooLarge { size: payload.len() });
    }
    Ok(payload)
}

impl std::fmt::Debug for Jobs {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Jobs")
    }
}
