//! Who writes the report: [`error`] (why nobody does) → [`openai`] (by HTTP: `question`, `reply`) or
//! [`fake`] (without a model) → [`measure`].

pub mod error;
pub mod fake;
pub mod measure;
pub mod openai;
mod question;
mod reply;

use std::fmt;

use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::prompt::Prompt;
use crate::schema;

pub use error::LlmError;
pub use fake::FakeLlm;
pub use openai::{OpenAi, OpenAiSettings, SetUpError};

/// Writes a report. One call is one try: whoever calls keeps what is to be tried again.
pub trait Llm: Send + Sync {
    /// Answers with JSON, as the schema asks for as far as that can be had; whether it is a report, the
    /// caller checks. Dropping the future ends the call.
    fn answer<'a>(&'a self, request: &'a LlmRequest) -> BoxFuture<'a, Result<LlmAnswer, LlmError>>;
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LlmRequest {
    /// In words.
    pub prompt: Prompt,
    /// The JSON Schema of the answer, as text.
    pub schema: &'static str,
}

/// What was answered.
#[derive(Clone, PartialEq)]
pub struct LlmAnswer {
    /// The answer, read.
    pub json: Value,
    /// As the model wrote it.
    pub raw: String,
    /// Which model wrote it, by its own word.
    pub model: String,
}

impl LlmRequest {
    /// Asks for a report in its present form.
    #[must_use]
    pub const fn new(prompt: Prompt) -> Self {
        Self { prompt, schema: schema::TEXT }
    }
}

/// Without its texts: they belong into no log.
impl fmt::Debug for LlmAnswer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("LlmAnswer");
        shown.field("model", &self.model).field("raw_bytes", &self.raw.len()).finish()
    }
}
