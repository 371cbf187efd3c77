//! What becomes of a job and its file when a step fails. Pure, but for the log.
//!
//! | step | error | job | file, once the job has failed |
//! |---|---|---|---|
//! | read | transient | retried, `s3_read_failed` | `s3_read_failed` |
//! | read | missing, too large, refused | fails, `s3_read_failed` | `s3_read_failed` |
//! | parse | nothing was said | fails, `empty_original_transcript` | the same |
//! | parse | the file is no text | fails, `original_not_text` | the same |
//! | model | time, network, 429, 5xx | retried, the finer code | `llm_call_failed` |
//! | model | 4xx, no JSON, anything else | fails, the finer code | `llm_call_failed` |
//! | check | no report | fails, `schema_validation_failed` | the same |
//! | write | transient, or left alone by its breaker | retried, `s3_write_failed` | `s3_write_failed` |
//! | write | refused | fails, `s3_write_failed` | `s3_write_failed` |
//! | model | left alone by its breaker | put off, no attempt used | says `llm_left_alone` while it waits |
//! | read | left alone by its breaker | put off, no attempt used | says `s3_left_alone` while it waits |
//!
//! A write is never put off: the model was paid by then, and is paid again with the next try, so tries count.

use std::time::Duration;

use mainstay_jobs::JobError;

use crate::error::ReportsError;
use crate::llm::LlmError;
use crate::model::FileError;
use crate::objects::ObjectError;
use crate::timelines::TimelineError;
use crate::transcript::TranscriptError;

/// The original could not be read.
pub const READ_FAILED: &str = "s3_read_failed";

/// An artefact could not be written.
pub const WRITE_FAILED: &str = "s3_write_failed";

/// The model gave no report; why stands on the job.
pub const LLM_CALL_FAILED: &str = "llm_call_failed";

/// The longest that a provider can have a report wait: nobody can bring it forward.
pub const MAX_PROVIDER_WAIT: Duration = Duration::from_hours(1);

/// How the codes of the model begin.
const LLM_PREFIX: &str = "llm_";

/// What a job that is put off waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// The model, which failed so often that it is left alone.
    Model,
    /// The storage, likewise.
    Storage,
}

impl Waiting {
    /// What the file says meanwhile.
    #[must_use]
    pub fn told(self) -> FileError {
        let (code, message) = match self {
            Self::Model => (
                "llm_left_alone",
                "the language model failed so often of late that it is left alone for a while; the report waits, and loses no attempt",
            ),
            Self::Storage => (
                "s3_left_alone",
                "the storage failed so often of late that it is left alone for a while; the report waits, and loses no attempt",
            ),
        };
        FileError { code: code.to_owned(), message: message.to_owned() }
    }
}

/// After the model gave no answer.
#[must_use]
pub fn after_llm(error: &LlmError) -> JobError {
    match error {
        LlmError::Open { wait } => JobError::PutOff { wait: (*wait).min(MAX_PROVIDER_WAIT) },
        error if error.is_retriable() => JobError::Retriable {
            code: error.code().to_owned(),
            message: error.to_string(),
            retry_after: error.retry_after().map(|wait| wait.min(MAX_PROVIDER_WAIT)),
        },
        error => JobError::fatal(error.code(), error.to_string()),
    }
}

/// After the file could not be found in the database.
#[must_use]
pub fn after_find(error: ReportsError) -> JobError {
    match error {
        ReportsError::Store(error) => error.into(),
        ReportsError::Jobs(error) => error.into(),
        other => JobError::retriable("database_failed", other.to_string()),
    }
}

/// After what was recorded could not be read. Why is for the log alone: the database's driver names hosts and
/// users, and the file's owner is shown the message.
#[must_use]
pub fn after_timeline(error: &TimelineError) -> JobError {
    tracing::warn!(%error, "what was recorded in the time of an incident could not be read");
    let message = "what was recorded in the time of the incident could not be read; it is tried again by itself";
    JobError::retriable("timeline_read_failed", message)
}

/// After the original could not be read.
#[must_use]
pub fn after_read(error: &ObjectError) -> JobError {
    match error.retry_after {
        Some(wait) => JobError::PutOff { wait },
        None => after_blob(READ_FAILED, error),
    }
}

/// After an artefact could not be written.
#[must_use]
pub fn after_write(error: &ObjectError) -> JobError {
    after_blob(WRITE_FAILED, error)
}

/// After the original held nothing.
#[must_use]
pub fn after_parse(error: TranscriptError) -> JobError {
    JobError::fatal(error.code(), error.to_string())
}

/// The code on the file whose job has failed with this one.
#[must_use]
pub fn file_code(job_code: &str) -> &str {
    if job_code.starts_with(LLM_PREFIX) { LLM_CALL_FAILED } else { job_code }
}

fn after_blob(code: &'static str, error: &ObjectError) -> JobError {
    let message = error.to_string();
    if error.is_transient() {
        let retry_after = error.retry_after;
        JobError::Retriable { code: code.to_owned(), message, retry_after }
    } else {
        JobError::fatal(code, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::ObjectErrorKind;
    use mainstay_jobs::JobsError;
    use mainstay_store::StoreError;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn the_table_of_the_model() {
        let none = None;
        let cases: [(LlmError, &str, bool, Option<Duration>); 9] = [
            (LlmError::Timeout { limit: SECOND }, "llm_timeout", true, none),
            (LlmError::Network("x".to_owned()), "llm_network_error", true, none),
            (
                LlmError::RateLimited { code: None, retry_after: Some(SECOND) },
                "llm_rate_limited",
                true,
                Some(SECOND),
            ),
            (
                LlmError::RateLimited { code: None, retry_after: none },
                "llm_rate_limited",
                true,
                none,
            ),
            (
                LlmError::Provider5xx { status: 503, retry_after: Some(SECOND) },
                "llm_provider_5xx",
                true,
                Some(SECOND),
            ),
            (
                LlmError::Provider5xx { status: 500, retry_after: none },
                "llm_provider_5xx",
                true,
                none,
            ),
            (LlmError::Provider4xx { status: 401, code: None }, "llm_provider_4xx", false, none),
            (
                LlmError::InvalidJson { raw: "hunter2".to_owned() },
                "llm_output_invalid_json",
                false,
                none,
            ),
            (LlmError::Failed("x".to_owned()), "llm_provider_failed", false, none),
        ];
        for (error, wanted, again, floor) in cases {
            match after_llm(&error) {
                JobError::Retriable { code, message, retry_after } => {
                    assert_eq!((code.as_str(), again, retry_after), (wanted, true, floor));
                    assert!(!message.contains("hunter2"), "{message}");
                }
                JobError::Fatal { code, message } => {
                    assert_eq!((code.as_str(), again), (wanted, false));
                    assert!(!message.contains("hunter2"), "{message}");
                }
                JobError::PutOff { .. } => panic!("{error} is put off"),
            }
            assert_eq!(file_code(error.code()), "llm_call_failed");
        }
    }

    #[test]
    fn a_provider_that_asks_for_a_week_has_an_hour() {
        let week = Some(Duration::from_hours(7 * 24));
        for error in [
            LlmError::RateLimited { code: None, retry_after: week },
            LlmError::Provider5xx { status: 503, retry_after: week },
        ] {
            let told = after_llm(&error);
            let hour = Some(Duration::from_hours(1));
            assert!(matches!(told, JobError::Retriable { retry_after, .. } if retry_after == hour));
        }
    }

    #[test]
    fn an_open_breaker_puts_off_and_uses_no_attempt() {
        let open = LlmError::Open { wait: SECOND };
        assert_eq!(after_llm(&open), JobError::PutOff { wait: SECOND });
    }

    #[test]
    fn a_storage_that_is_left_alone_puts_a_read_off_and_costs_a_write_its_attempt() {
        let kind = ObjectErrorKind::Transient;
        let error =
            ObjectError { kind, message: "left alone".to_owned(), retry_after: Some(SECOND) };
        assert_eq!(after_read(&error), JobError::PutOff { wait: SECOND });
        let written = JobError::Retriable {
            code: "s3_write_failed".to_owned(),
            message: "left alone".to_owned(),
            retry_after: Some(SECOND),
        };
        assert_eq!(after_write(&error), written);
        let refused = ObjectError { kind: ObjectErrorKind::Permanent, retry_after: None, ..error };
        assert_eq!(after_read(&refused), JobError::fatal("s3_read_failed", "left alone"));
        assert_eq!(after_write(&refused), JobError::fatal("s3_write_failed", "left alone"));
    }

    #[test]
    fn what_the_database_said_is_not_shown_to_the_owner_of_a_file() {
        let unreachable = || StoreError::Unreachable {
            database: "postgres://db.internal/mainstay".to_owned(),
            reason: "role \"app\" at db.internal".to_owned(),
        };
        for (told, wanted) in [
            (after_find(unreachable().into()), "database_failed"),
            (after_find(JobsError::Store(unreachable()).into()), "database_failed"),
            (after_timeline(&TimelineError(Box::new(unreachable()))), "timeline_read_failed"),
        ] {
            let JobError::Retriable { code, message, .. } = told else { panic!("{told:?}") };
            assert_eq!(code, wanted);
            assert!(!message.contains("db.internal") && !message.contains("app"), "{message}");
        }
    }

    #[test]
    fn what_is_not_of_the_model_keeps_its_code_on_the_file() {
        for code in
            ["s3_read_failed", "schema_validation_failed", "crash_loop", "timed_out", "cancelled"]
        {
            assert_eq!(file_code(code), code);
        }
        let empty = after_parse(TranscriptError::Empty);
        assert!(
            matches!(empty, JobError::Fatal { code, .. } if code == "empty_original_transcript")
        );
    }
}
