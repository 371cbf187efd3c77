//! Makes a report: read the original → have it written → keep the artefact → finalise.
//!
//! What an attempt stores has keys of its own, so two of them never touch the same object. The one whose
//! lease holds points the file at its own; a loser removes only what it has stored itself.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use mainstay_base::{Id, replace_nul};
use mainstay_events::Outbox;
use mainstay_jobs::{
    Change, Claimed, Context, DEFAULT_MAX_RUN, Handler, JobError, JobsError, Kind, Lease,
};
use mainstay_store::{StoreError, Tx};
use serde_json::{Value, json};

use crate::artefacts;
use crate::decide;
use crate::follow;
use crate::keys::{self, Artefact};
use crate::model::{File, MAX_FILE_BYTES, MadeWith};
use crate::name::FileName;
use crate::prompt::RecordedTimeline;
use crate::record::files;
use crate::record::steps::{self, Made};
use crate::reports::{REPORT, Reports};
use crate::timelines::Timelines;
use crate::writer::{Draft, Source, Writer};

/// For how long a job is put off that came to a runner without a language model.
const UNTIL_CONFIGURED: Duration = Duration::from_mins(5);
/// What a report may take beside its writing.
const BESIDE_WRITING: Duration = Duration::from_mins(2);

/// Makes reports, as a job. Its hook lets files follow their jobs, also where no reports are made.
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

    fn run<'a>(
        &'a self,
        job: &'a Claimed,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<(), JobError>> {
        Box::pin(async move {
            let Some(pen) = &self.pen else {
                return Err(JobError::PutOff { wait: UNTIL_CONFIGURED });
            };
            let Some((user, id)) = follow::subject(&job.payload) else {
                return Err(JobError::fatal("bad_payload", "the job names no file"));
            };
            let (reports, lease) = (&self.reports, job.lease());
            let attempt = Attempt { reports, user, id, lease, stored: Mutex::default() };
            attempt.run(pen, context).await
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
    /// The keys of what it has stored, or has begun to.
    stored: Mutex<Vec<String>>,
}

/// What an attempt has stored and is to be written down.
enum Stored {
    Report { report: String, timeline: Option<String>, title: Option<String>, with: MadeWith },
    Unfit { code: &'static str, raw: String, summary: String },
}

impl Attempt<'_> {
    async fn run(&self, pen: &Pen, context: &Context) -> Result<(), JobError> {
        let cancelled = context.cancelled();
        let Some(written) = cancelled.run_until_cancelled(self.write(pen)).await else {
            return Err(unwanted());
        };
        let (draft, recorded) = written?;
        // From here on nothing is given up half-way: a put that nobody waits for may end after the
        // delete that was to undo it, and a commit may point at what was removed.
        let stored = self.keep(draft, recorded.as_ref()).await;
        let stored = match stored {
            Ok(stored) if !cancelled.is_cancelled() => stored,
            unstored => {
                self.undo().await;
                return Err(unstored.err().unwrap_or_else(unwanted));
            }
        };
        match stored {
            Stored::Report { report, timeline, title, with } => {
                let (timeline, title) = (timeline.as_deref(), title.as_deref());
                let made = Made { report: &report, timeline, title, with: &with };
                self.finalise(context, &made).await
            }
            Stored::Unfit { code, raw, summary } => {
                self.keep_raw(context, &raw).await?;
                Err(JobError::fatal(code, summary))
            }
        }
    }

    /// Has the report written, of what there is.
    async fn write(&self, pen: &Pen) -> Result<(Draft, Option<RecordedTimeline>), JobError> {
        let file = self.file().await?;
        let source = self.source(pen, &file).await?;
        let draft = pen.writer.write(&source).await?;
        Ok((draft, source.recorded))
    }

    /// Stores what was written.
    async fn keep(
        &self,
        draft: Draft,
        recorded: Option<&RecordedTimeline>,
    ) -> Result<Stored, JobError> {
        match draft {
            Draft::Report { report, with, not_found } => {
                let timeline = match recorded {
                    Some(recorded) => Some(self.store(Artefact::Timeline, told(recorded)).await?),
                    None => None,
                };
                if !not_found.is_empty() {
                    tracing::warn!(event = "quotes_not_found", file_id = %self.id, count = not_found.len(),
                        "a report quotes what was neither said nor recorded; it is marked");
                }
                let title = report.get("title").and_then(Value::as_str);
                let title = title.map(|title| replace_nul(title).into_owned());
                let report = artefacts::marked(report, not_found).to_string();
                let report = self.store(Artefact::Report, report).await?;
                Ok(Stored::Report { report, timeline, title, with })
            }
            Draft::Unfit { code, raw, summary } => {
                let raw = self.store(Artefact::Raw, raw).await?;
                Ok(Stored::Unfit { code, raw, summary })
            }
        }
    }

    async fn file(&self) -> Result<File, JobError> {
        let found = files::find(self.reports.db(), self.user, self.id).await;
        let found =
            found.map_err(|error| JobError::retriable("database_failed", error.to_string()))?;
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
        let recorded =
            match file.window {
                Some(window) => Some(pen.timelines.recorded(window).await.map_err(|error| {
                    JobError::retriable("timeline_read_failed", error.to_string())
                })?),
                None => None,
            };
        Ok(Source { original, extension: extension.extension(), recorded })
    }

    /// Stores one thing under a key that no other attempt has.
    async fn store(&self, artefact: Artefact, text: String) -> Result<String, JobError> {
        let key = keys::artefact(self.user, self.id, self.lease, artefact);
        // Before: one that fails may be there all the same.
        self.stored.lock().unwrap_or_else(PoisonError::into_inner).push(key.clone());
        let put = self.reports.shared.objects.put(&key, Bytes::from(text)).await;
        put.map(|()| key).map_err(|error| decide::after_write(&error))
    }

    /// Points the file at its report and marks the job as done, if the lease still holds.
    async fn finalise(&self, context: &Context, made: &Made<'_>) -> Result<(), JobError> {
        let file = (self.user, self.id);
        let finished = context
            .finish(async |tx, _| Ok::<_, JobsError>(steps::point(tx, file, made).await?))
            .await;
        self.settled(finished).await.map_err(JobError::from)
    }

    /// Keeps an answer that is no report before the file is given up: another try would cost the same
    /// and bring no better.
    async fn keep_raw(&self, context: &Context, raw: &str) -> Result<(), JobError> {
        let file = (self.user, self.id);
        let kept = context
            .write(async |tx, _| Ok::<_, JobsError>(steps::keep_raw(tx, file, raw).await?))
            .await;
        self.settled(kept).await.map_err(JobError::from)
    }

    /// What was stored goes unless it was written down, or may have been.
    async fn settled(&self, written: Result<(), JobsError>) -> Result<(), JobsError> {
        match &written {
            Ok(()) => {}
            Err(JobsError::Store(StoreError::CommitUnknown { .. })) => {
                for key in self.keys() {
                    self.orphaned(&key, "whether the report was written down is not known");
                }
            }
            Err(_) => self.undo().await,
        }
        written
    }

    /// Removes what this attempt has stored: nobody else refers to it.
    async fn undo(&self) {
        for key in self.keys() {
            if let Err(error) = self.reports.shared.objects.delete(&key).await {
                self.orphaned(&key, &error.to_string());
            }
        }
    }

    fn keys(&self) -> Vec<String> {
        std::mem::take(&mut self.stored.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn orphaned(&self, key: &str, error: &str) {
        tracing::warn!(event = "orphan_report_object", file_id = %self.id, key, error,
            "an object of an attempt may be referred to by nothing; the sweeper looks at it");
    }
}

/// The job was cancelled, or its lease was lost.
fn unwanted() -> JobError {
    JobError::retriable("cancelled", "the report is not wanted any more")
}

/// What was recorded, as it is kept and shown.
fn told(recorded: &RecordedTimeline) -> String {
    let entry = |entry: &crate::prompt::RecordedEntry| json!({"at": entry.at, "what": entry.what});
    let entries: Vec<_> = recorded.entries.iter().map(entry).collect();
    json!({"from": recorded.from, "to": recorded.to, "entries": entries}).to_string()
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
