//! A file follows its job: every change of the job's status is one of the file, in the same transaction.

use mainstay_base::Id;
use mainstay_events::Outbox;
use mainstay_jobs::{Cause, Change, Failure, JobsError, Status};
use mainstay_store::Tx;
use serde_json::Value;

use crate::announce::{self, News};
use crate::decide;
use crate::error::ReportsError;
use crate::measure::{self, Outcome};
use crate::model::{FileError, FileStatus, Step};
use crate::record::steps::{self, Followed, Told};

/// Whose file a job is about.
pub(crate) fn subject(payload: &Value) -> Option<(Id, Id)> {
    let id = |name: &str| payload.get(name)?.as_str()?.parse().ok();
    id("user_id").zip(id("file_id"))
}

/// Lets the file of a job follow it. A file that was deleted, or has another job by now, does not.
pub(crate) async fn follow(
    tx: &mut Tx,
    out: &mut Outbox,
    change: &Change,
) -> Result<(), JobsError> {
    let Some(file) = subject(&change.payload) else { return Ok(()) };
    let locked = steps::lock(tx, file, change.id).await.map_err(refusal)?;
    let Some(before) = locked else { return Ok(()) };
    let status = status_of(change.status);
    debug_assert_eq!(before.status.after(Step::of_job(change.cause)), Some(status), "{change:?}");
    let error = change.failure.as_ref().map(|failure| file_error(failure, status));
    let error = told(change.cause, error.as_ref());
    let next_run_at = (status == FileStatus::Queued).then_some(change.next_run_at);
    let (user, id) = file;
    let attempts = change.attempts;
    steps::follow(tx, &Followed { user, id, status, attempts, next_run_at, error }).await?;
    let error_code = match error {
        Told::Now(error) => Some(error.code.as_str()),
        Told::AsBefore => before.error_code.as_deref(),
        Told::Nothing => None,
    };
    let news = News { user, file: id, status, attempts, next_run_at, error_code };
    announce::state_changed(out, &news).map_err(|error| refusal(error.into()))?;
    if let Some(outcome) = Outcome::of_job(change.status, change.cause) {
        tx.after_commit(move || measure::reported(outcome));
    }
    Ok(())
}

/// What a file says went wrong with its job: the finer word while that is tried again.
fn file_error(failure: &Failure, status: FileStatus) -> FileError {
    let code = match status {
        FileStatus::Failed => decide::file_code(&failure.code),
        FileStatus::Processing | FileStatus::Queued | FileStatus::Succeeded => &failure.code,
    };
    FileError { code: code.to_owned(), message: failure.message.clone() }
}

const fn told<'a>(cause: Cause, error: Option<&'a FileError>) -> Told<'a> {
    match (cause, error) {
        (Cause::Succeeded | Cause::Requeued, _) => Told::Nothing,
        (Cause::Claimed | Cause::PutOff | Cause::Released, _) | (_, None) => Told::AsBefore,
        (_, Some(error)) => Told::Now(error),
    }
}

/// The status of a file whose job stands so.
const fn status_of(job: Status) -> FileStatus {
    match job {
        Status::Queued => FileStatus::Queued,
        Status::Processing => FileStatus::Processing,
        Status::Succeeded => FileStatus::Succeeded,
        Status::Failed => FileStatus::Failed,
    }
}

fn refusal(error: ReportsError) -> JobsError {
    match error {
        ReportsError::Store(error) => JobsError::Store(error),
        ReportsError::Jobs(error) => error,
        other => JobsError::Hook(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_file_has_one_word_for_all_failures_of_the_model() {
        let failure = |code: &str| Failure { code: code.to_owned(), message: "m".to_owned() };
        for (job, waiting, failed) in [
            ("llm_provider_4xx", "llm_provider_4xx", "llm_call_failed"),
            ("llm_timeout", "llm_timeout", "llm_call_failed"),
            ("s3_read_failed", "s3_read_failed", "s3_read_failed"),
            ("crash_loop", "crash_loop", "crash_loop"),
        ] {
            assert_eq!(file_error(&failure(job), FileStatus::Queued).code, waiting);
            assert_eq!(file_error(&failure(job), FileStatus::Failed).code, failed);
        }
    }

    #[test]
    fn a_file_stands_where_its_job_does() {
        for status in Status::ALL {
            assert_eq!(status_of(status).name(), status.name());
        }
    }
}
