//! Who writes a report of a transcript.

use bytes::Bytes;
use futures_util::future::BoxFuture;
use mainstay_jobs::JobError;
use serde_json::Value;

use crate::model::MadeWith;
use crate::name::Extension;
use crate::prompt::RecordedTimeline;

/// Writes reports.
pub trait Writer: Send + Sync + 'static {
    /// Writes a report of a transcript, and of what the monitor recorded where somebody said when.
    fn write<'a>(&'a self, source: &'a Source) -> BoxFuture<'a, Result<Draft, JobError>>;
}

/// What a report is made of.
#[derive(Debug)]
pub struct Source {
    /// The bytes of the transcript.
    pub original: Bytes,
    /// What its name ends with.
    pub extension: Extension,
    /// What the monitor recorded.
    pub recorded: Option<RecordedTimeline>,
}

/// What a writer has written.
#[derive(Debug, Clone, PartialEq)]
pub enum Draft {
    /// A report that keeps its schema.
    Report {
        /// The report.
        report: Value,
        /// What it was made with.
        with: MadeWith,
    },
    /// Something else.
    Unfit {
        /// All of it, for whoever looks into why.
        raw: String,
        /// What is wrong with it, in a line.
        summary: String,
    },
}
