//! From the transcript of an incident call to a checked report: [`transcript`] (what was said) →
//! [`prompt`] → [`llm`] (who writes the report) → [`schema`] (whether it is one) → [`decide`] (what
//! becomes of the job and the file).

pub mod decide;
pub mod llm;
pub mod prompt;
pub mod schema;
pub mod transcript;

pub use llm::{Llm, LlmAnswer, LlmError, LlmRequest};
