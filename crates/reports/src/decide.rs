//! What becomes of a job and its file when a step fails. Pure.
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
//! | write | transient | retried, `s3_write_failed` | `s3_write_failed` |
//! | write | refused | fails, `s3_write_failed` | `s3_write_failed` |
//! | any | left alone by its breaker | put off, no attempt used | – |

use mainstay_jobs::JobError;

use crate::llm::LlmError;
use crate::objects::ObjectError;
use crate::transcript::TranscriptError;

/// The original could not be read.
pub const READ_FAILED: &str = "s3_read_failed";

/// An artefact could not be written.
pub const WRITE_FAILED: &str = "s3_write_failed";

/// The model gave no report; why stands on the job.
pub const LLM_CALL_FAILED: &str = "llm_call_failed";

/// How the codes of the model begin.
const LLM_PREFIX: &str = "llm_";

/// After the model gave no answer.
#[must_use]
pub fn after_llm(error: &LlmError) -> JobError {
    match error {
        LlmError::Open { wait } => JobError::PutOff { wait: *wait },
        error if error.is_retriable() => JobError::Retriable {
            code: error.code().to_owned(),
            message: error.to_string(),
            retry_after: error.retry_after(),
        },
        error => JobError::fatal(error.code(), error.to_string()),
    }
}

/// After the original could not be read.
#[must_use]
pub fn after_read(error: &ObjectError) -> JobError {
    after_blob(READ_FAILED, error)
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
    match error.retry_after {
        Some(wait) => JobError::PutOff { wait },
        None if error.is_transient() => JobError::retriable(code, error.to_string()),
        None => JobError::fatal(code, error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

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
    fn an_open_breaker_puts_off_and_uses_no_attempt() {
        let open = LlmError::Open { wait: SECOND };
        assert_eq!(after_llm(&open), JobError::PutOff { wait: SECOND });
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
