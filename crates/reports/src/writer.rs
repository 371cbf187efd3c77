//! Who writes a report of a transcript.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use mainstay_jobs::JobError;
use serde_json::Value;

use crate::decide;
use crate::llm::{Llm, LlmAnswer, LlmError, LlmRequest};
use crate::model::MadeWith;
use crate::name::Extension;
use crate::prompt::{self, Prompt, RecordedTimeline};
use crate::quotes;
use crate::schema::{self, SchemaError};
use crate::transcript::{Transcript, TranscriptForm};

/// Writes reports.
pub trait Writer: Send + Sync + 'static {
    /// Writes a report of a transcript, and of what the monitor recorded where somebody said when.
    fn write<'a>(&'a self, source: &'a Source) -> BoxFuture<'a, Result<Draft, JobError>>;
}

/// What a report is made of.
#[derive(Clone)]
pub struct Source {
    /// The bytes of the transcript.
    pub original: Bytes,
    /// What its name ends with.
    pub extension: Extension,
    /// What the monitor recorded.
    pub recorded: Option<RecordedTimeline>,
}

/// What a writer has written.
#[derive(Clone, PartialEq)]
pub enum Draft {
    /// A report that keeps its schema.
    Report {
        /// The report.
        report: Value,
        /// What it was made with.
        with: MadeWith,
        /// Where evidence stands in it that was neither said nor recorded: see [`crate::quotes`].
        not_found: Vec<String>,
        /// Lines in the middle of a long transcript that it was not made of.
        lines_left_out: usize,
    },
    /// Something else.
    Unfit {
        /// The word for what it is, on the job.
        code: &'static str,
        /// All of it, for whoever looks into why.
        raw: String,
        /// What is wrong with it, in a line.
        summary: String,
    },
}

/// Has reports written by a language model, and checks them.
pub struct LlmWriter(pub Arc<dyn Llm>);

impl Writer for LlmWriter {
    fn write<'a>(&'a self, source: &'a Source) -> BoxFuture<'a, Result<Draft, JobError>> {
        Box::pin(async move {
            let request = request(source.clone()).await?;
            match self.0.answer(&request).await {
                Ok(answer) => checked(answer, request.prompt).await,
                Err(error) => unanswered(error),
            }
        })
    }
}

/// What the model is asked. Reading a long transcript takes a moment, which others need not wait for.
async fn request(source: Source) -> Result<LlmRequest, JobError> {
    let reading = tokio::task::spawn_blocking(move || {
        let form = match source.extension {
            Extension::Txt => TranscriptForm::Text,
            Extension::Vtt => TranscriptForm::WebVtt,
        };
        let transcript = Transcript::parse(&source.original, form).map_err(decide::after_parse)?;
        Ok(LlmRequest::new(Prompt::new(&transcript, source.recorded.as_ref())))
    });
    let lost =
        |error: tokio::task::JoinError| JobError::retriable("transcript_unread", error.to_string());
    reading.await.unwrap_or_else(|error| Err(lost(error)))
}

/// Whether it is a report, and whether its quotes were said: a look at a long transcript for each.
async fn checked(answer: LlmAnswer, prompt: Prompt) -> Result<Draft, JobError> {
    let checking = tokio::task::spawn_blocking(move || judged(answer, &prompt));
    checking.await.map_err(|error| JobError::retriable("report_unchecked", error.to_string()))
}

fn judged(answer: LlmAnswer, prompt: &Prompt) -> Draft {
    let LlmAnswer { json: report, raw, model } = answer;
    match schema::validate(&report) {
        Ok(()) => {
            let with = MadeWith {
                prompt_version: prompt::VERSION.to_owned(),
                schema_version: schema::VERSION.to_owned(),
                model,
            };
            let not_found = quotes::not_found(&report, prompt);
            Draft::Report { report, with, not_found, lines_left_out: prompt.lines_left_out }
        }
        Err(error) => Draft::Unfit { code: SchemaError::CODE, raw, summary: error.summary },
    }
}

/// What was written that is no JSON is kept like what is no report; anything else is only told.
fn unanswered(error: LlmError) -> Result<Draft, JobError> {
    let (code, summary) = (error.code(), error.to_string());
    match error {
        LlmError::InvalidJson { raw } => Ok(Draft::Unfit { code, raw, summary }),
        error => Err(decide::after_llm(&error)),
    }
}

/// Without what was said: that belongs into no log.
impl std::fmt::Debug for Source {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("Source");
        shown
            .field("bytes", &self.original.len())
            .field("extension", &self.extension)
            .finish_non_exhaustive()
    }
}

/// Without what was written, for the same reason.
impl std::fmt::Debug for Draft {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Report { with, .. } => formatter.debug_tuple("Report").field(with).finish(),
            Self::Unfit { code, .. } => formatter.debug_tuple("Unfit").field(code).finish(),
        }
    }
}

impl std::fmt::Debug for LlmWriter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("LlmWriter")
    }
}
