//! Makes a report: read the original → have it written → keep the artefact → finalise.
//!
//! What an attempt stores has keys of its own, so two of them never touch the same object. The one whose
//! lease holds points the file at its own; a loser removes only what it has stored itself.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use mainstay_base::Id;
use mainstay_events::Outbox;
use mainstay_jobs::{
    Change, Claimed, Context, DEFAULT_MAX_RUN, Handler, JobError, JobsError, Kind, Lease,
};
use mainstay_store::{StoreError, Tx};

use crate::decide::{self, Waiting};
use crate::follow;
use crate::keeping::{Own, Stored, unwanted};
use crate::model::{File, MAX_FILE_BYTES};
use crate::name::FileName;
use crate::prompt::RecordedTimeline;
use crate::record::files;
use crate::record::steps::{self, Made};
use crate::reports::{REPORT, Reports};
use crate::timelines::Timelines;
use crate::writer::{Draft, Source, Writer};

/// For how long a job is left to other runners by one without a pen, should one be given to it.
const UNTIL_ANOTHER: Duration = Duration::from_secs(30);
/// What a report may take beside its writing.
const BESIDE_WRITING: Duration = Duration::from_mins(2);

/// Makes reports, as a job. Without a pen it is for its hook alone, which lets files follow their jobs also
/// where no reports are made: no runner is given it, so that their jobs are left to runners that make them.
pub struct ReportMaker {
    kind: Kind,
    reports: Reports,
    pen: Option<Pen>,
}

/// What reports are made with.
#[derive(Clone)]
pub struct Pen {
    /// Who writes them.
    pub writer: Arc<dyn Writer>,
    /// Who knows what was recorded.
    pub timelines: Arc<dyn Timelines>,
    /// How long writing one may take.
    pub time: Duration,
}

impl ReportMaker {
    /// Makes the reports of `reports`, where there is a `pen`.
    ///
    /// # Errors
    /// Never: the name of the kind is fit.
    pub fn new(reports: Reports, pen: Option<Pen>) -> Result<Self, JobsError> {
        Ok(Self { kind: Kind::new(REPORT)?, reports, pen })
    }
}

impl Handler for ReportMaker {
    fn kind(&self) -> Kind {
        self.kind.clone()
    }

    fn max_run(&self) -> Duration {
        let time = self.pen.as_ref().map_or(Duration::ZERO, |pen| pen.time);
        time.saturating_add(BESIDE_WRITING).max(DEFAULT_MAX_RUN)
    }

    /// For a language model.
    fn waits_long(&self) -> bool {
        true
    }

    fn run<'a>(
        &'a self,
        job: &'a Claimed,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<(), JobError>> {
        Box::pin(async move {
            let Some((user, id)) = follow::subject(&job.payload) else {
                return Err(JobError::fatal("bad_payload", "the job names no file"));
            };
            let Some(pen) = &self.pen else {
                return Err(JobError::PutOff { wait: UNTIL_ANOTHER });
            };
            let (reports, lease) = (&self.reports, job.lease());
            Attempt { reports, user, id, lease }.run(pen, context).await
        })
    }

    fn hooks(&self) -> bool {
        true
    }

    fn changed<'a>(
        &'a self,
        tx: &'a mut Tx,
        out: &'a mut Outbox,
        change: &'a Change,
    ) -> BoxFuture<'a, Result<(), JobsError>> {
        Box::pin(follow::follow(tx, out, change))
    }
}

/// One attempt at the report of a file.
struct Attempt<'a> {
    reports: &'a Reports,
    user: Id,
    id: Id,
    lease: Lease,
}

impl Attempt<'_> {
    async fn run(&self, pen: &Pen, context: &Context) -> Result<(), JobError> {
        let cancelled = context.cancelled();
        let Some(written) = cancelled.run_until_cancelled(self.write(pen, context)).await else {
            return Err(unwanted());
        };
        let (draft, recorded) = written?;
        // From here on nothing is given up half-way: a put that nobody waits for may end after the
        // delete that was to undo it, and a commit may point at what was removed.
        let own = Own::new(self.reports.clone(), (self.user, self.id), self.lease);
        let (stored, own) = own.keep(draft, recorded, cancelled.clone()).await?;
        match stored {
            Stored::Report { report, timeline, title, with } => {
                let (timeline, title) = (timeline.as_deref(), title.as_deref());
                let made = Made { report: &report, timeline, title, with: &with };
                self.finalise(context, own, &made).await
            }
            Stored::Unfit { code, raw, summary } => {
                self.keep_raw(context, own, &raw).await?;
                Err(JobError::fatal(code, summary))
            }
        }
    }

    /// Has the report written, of what there is.
    async fn write(
        &self,
        pen: &Pen,
        context: &Context,
    ) -> Result<(Draft, Option<RecordedTimeline>), JobError> {
        let file = self.file().await?;
        let read = self.source(pen, &file).await;
        let source = self.waiting(context, Waiting::Storage, read).await?;
        let written = pen.writer.write(&source).await;
        let draft = self.waiting(context, Waiting::Model, written).await?;
        Ok((draft, source.recorded))
    }

    /// Has the file say what it waits for, where a step is put off.
    async fn waiting<T>(
        &self,
        context: &Context,
        what: Waiting,
        done: Result<T, JobError>,
    ) -> Result<T, JobError> {
        if matches!(done, Err(JobError::PutOff { .. })) {
            self.tell_waiting(context, what).await;
        }
        done
    }

    async fn tell_waiting(&self, context: &Context, what: Waiting) {
        let (file, why) = ((self.user, self.id), what.told());
        let told = context
            .write(async |tx, _| Ok::<_, JobsError>(steps::tell_waiting(tx, file, &why).await?))
            .await;
        if let Err(error) = told {
            // The job is put off all the same: only its reason is not shown.
            tracing::debug!(file_id = %self.id, %error, "what a file waits for could not be written down");
        }
    }

    async fn file(&self) -> Result<File, JobError> {
        let found = files::find(self.reports.db(), self.user, self.id).await;
        let found = found.map_err(decide::after_find)?;
        found.ok_or_else(|| JobError::fatal("file_missing", "the file was deleted"))
    }

    /// What the report is made of.
    async fn source(&self, pen: &Pen, file: &File) -> Result<Source, JobError> {
        let most = usize::try_from(MAX_FILE_BYTES).unwrap_or(usize::MAX);
        let objects = &self.reports.shared.objects;
        let original = objects
            .get(&file.keys.original, most)
            .await
            .map_err(|error| decide::after_read(&error))?;
        let name = FileName::parse(&file.name);
        let extension = name.map_err(|error| JobError::fatal("bad_name", error.to_string()))?;
        let recorded = match file.window {
            Some(window) => {
                let recorded = pen.timelines.recorded(window).await;
                Some(recorded.map_err(|error| decide::after_timeline(&error))?)
            }
            None => None,
        };
        Ok(Source { original, extension: extension.extension(), recorded })
    }

    /// Points the file at its report and marks the job as done, if the lease still holds.
    async fn finalise(&self, context: &Context, own: Own, made: &Made<'_>) -> Result<(), JobError> {
        let file = (self.user, self.id);
        let finished = context
            .finish(async |tx, _| Ok::<_, JobsError>(steps::point(tx, file, made).await?))
            .await;
        settled(own, finished).await
    }

    /// Keeps an answer that is no report before the file is given up: another try would cost the same
    /// and bring no better.
    async fn keep_raw(&self, context: &Context, own: Own, raw: &str) -> Result<(), JobError> {
        let file = (self.user, self.id);
        let kept = context
            .write(async |tx, _| Ok::<_, JobsError>(steps::keep_raw(tx, file, raw).await?))
            .await;
        settled(own, kept).await
    }
}

/// What was stored goes unless it was written down, or may have been.
async fn settled(own: Own, written: Result<(), JobsError>) -> Result<(), JobError> {
    match &written {
        Ok(()) => own.settle(),
        // Dropped, they are told to the log.
        Err(JobsError::Store(StoreError::CommitUnknown { .. })) => drop(own),
        Err(_) => own.undo().await,
    }
    written.map_err(JobError::from)
}

impl std::fmt::Debug for ReportMaker {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ReportMaker").field("has_pen", &self.pen.is_some()).finish()
    }
}

impl std::fmt::Debug for Pen {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Pen").field("time", &self.time).finish_non_exhaustive()
    }
}
