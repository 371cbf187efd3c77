//! What an attempt stores, and what becomes of that where nobody wants it any more.
//!
//! A runner drops a handler that goes on after it was cancelled, and a put that is dropped half-way may be done
//! all the same. So objects are stored and removed on tasks of the room: they end by themselves, and its stop
//! waits for them.

use bytes::Bytes;
use mainstay_base::{Id, replace_nul};
use mainstay_jobs::{JobError, Lease};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::artefacts;
use crate::decide;
use crate::keys::{self, Artefact};
use crate::model::MadeWith;
use crate::name::has_words;
use crate::prompt::{RecordedEntry, RecordedTimeline};
use crate::reports::Reports;
use crate::writer::Draft;

/// The objects of one attempt, those that it may have stored too. They are removed, settled, or told to the
/// log.
pub(crate) struct Own {
    reports: Reports,
    user: Id,
    id: Id,
    lease: Lease,
    keys: Vec<String>,
}

/// What an attempt has stored and is to be written down.
pub(crate) enum Stored {
    Report { report: String, timeline: Option<String>, title: Option<String>, with: MadeWith },
    Unfit { code: &'static str, raw: String, summary: String },
}

impl Own {
    /// Nothing as yet.
    pub(crate) const fn new(reports: Reports, (user, id): (Id, Id), lease: Lease) -> Self {
        Self { reports, user, id, lease, keys: Vec::new() }
    }

    /// Stores what was written. What is not wanted any more when it is stored goes again.
    pub(crate) async fn keep(
        mut self,
        draft: Draft,
        recorded: Option<RecordedTimeline>,
        cancelled: CancellationToken,
    ) -> Result<(Stored, Self), JobError> {
        let reports = self.reports.clone();
        let keeping = reports.spawn(async move {
            match self.store_all(draft, recorded.as_ref()).await {
                Ok(stored) if !cancelled.is_cancelled() => Ok((stored, self)),
                unstored => {
                    self.remove().await;
                    Err(unstored.err().unwrap_or_else(unwanted))
                }
            }
        });
        keeping.await.unwrap_or_else(|lost| match lost.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(unwanted()),
        })
    }

    /// A file refers to all of them from now on.
    pub(crate) fn settle(mut self) {
        self.keys.clear();
    }

    /// Removes all of them: nobody refers to them.
    pub(crate) async fn undo(self) {
        let reports = self.reports.clone();
        // One that panicked has told the log of what it had left.
        let _ = reports.spawn(self.remove()).await;
    }

    async fn store_all(
        &mut self,
        draft: Draft,
        recorded: Option<&RecordedTimeline>,
    ) -> Result<Stored, JobError> {
        match draft {
            Draft::Report { report, with, not_found, lines_left_out } => {
                let timeline = match recorded {
                    Some(recorded) => Some(self.store(Artefact::Timeline, told(recorded)).await?),
                    None => None,
                };
                if !not_found.is_empty() {
                    tracing::warn!(event = "quotes_not_found", file_id = %self.id, count = not_found.len(),
                        "a report quotes what was neither said nor recorded; it is marked");
                }
                let title = report.get("title").and_then(Value::as_str);
                let title = title.filter(|title| has_words(title));
                let title = title.map(|title| replace_nul(title).into_owned());
                let report = artefacts::marked(report, not_found, lines_left_out).to_string();
                let report = self.store(Artefact::Report, report).await?;
                Ok(Stored::Report { report, timeline, title, with })
            }
            Draft::Unfit { code, raw, summary } => {
                let raw = self.store(Artefact::Raw, raw).await?;
                Ok(Stored::Unfit { code, raw, summary })
            }
        }
    }

    /// Stores one thing under a key that no other attempt has.
    async fn store(&mut self, artefact: Artefact, text: String) -> Result<String, JobError> {
        let key = keys::artefact(self.user, self.id, self.lease, artefact);
        // Before: one that fails, or is dropped, may be there all the same.
        self.keys.push(key.clone());
        match self.reports.shared.objects.put(&key, Bytes::from(text)).await {
            Ok(()) => Ok(key),
            Err(error) => {
                if error.was_not_asked() {
                    self.keys.pop();
                }
                Err(decide::after_write(&error))
            }
        }
    }

    async fn remove(mut self) {
        while let Some(key) = self.keys.last().cloned() {
            if let Err(error) = self.reports.shared.objects.delete(&key).await {
                self.orphaned(&key, &error.to_string());
            }
            self.keys.pop();
        }
    }

    fn orphaned(&self, key: &str, error: &str) {
        tracing::warn!(event = "orphan_report_object", file_id = %self.id, key, error,
            "an object of an attempt may be referred to by nothing; the sweeper looks at it");
    }
}

/// Nothing is removed here: a put may still be under way, or a commit that points at it.
impl Drop for Own {
    fn drop(&mut self) {
        for key in &self.keys {
            self.orphaned(key, "the attempt ended before anybody knew whether it is wanted");
        }
    }
}

/// The job was cancelled, or its lease was lost.
pub(crate) fn unwanted() -> JobError {
    JobError::retriable("cancelled", "the report is not wanted any more")
}

/// What was recorded, as it is kept and shown.
fn told(recorded: &RecordedTimeline) -> String {
    let entry = |entry: &RecordedEntry| json!({"at": entry.at, "what": entry.what});
    let entries: Vec<_> = recorded.entries.iter().map(entry).collect();
    let RecordedTimeline { window, covered, .. } = recorded;
    json!({"from": window.from, "to": window.to, "covered": covered, "entries": entries})
        .to_string()
}
