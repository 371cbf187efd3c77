//! Who writes a report of a transcript.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use mainstay_jobs::JobError;
use serde_json::Value;

use crate::decide;
use crate::llm::{Llm, LlmAnswer, LlmRequest};
use crate::model::MadeWith;
use crate::name::Extension;
use crate::prompt::{self, Prompt, RecordedTimeline};
use crate::schema;
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
    },
    /// Something else.
    Unfit {
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
            let answered = self.0.answer(&request).await;
            let answer = answered.map_err(|error| decide::after_llm(&error))?;
            Ok(checked(answer))
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

fn checked(answer: LlmAnswer) -> Draft {
    let LlmAnswer { json: report, raw, model } = answer;
    match schema::validate(&report) {
        Ok(()) => {
            let with = MadeWith {
                prompt_version: prompt::VERSION.to_owned(),
                schema_version: schema::VERSION.to_owned(),
                model,
            };
            Draft::Report { report, with }
        }
        Err(error) => Draft::Unfit { raw, summary: error.summary },
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
            Self::Unfit { summary, .. } => formatter.debug_tuple("Unfit").field(summary).finish(),
        }
    }
}

impl std::fmt::Debug for LlmWriter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("LlmWriter")
    }
}
