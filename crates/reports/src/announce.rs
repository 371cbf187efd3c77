//! What a user's stream is told of the user's files.

use mainstay_base::{Id, Timestamp};
use mainstay_events::{Event, EventError, Outbox, Stream};
use serde_json::{Map, Value, json};

use crate::model::FileStatus;

/// How a file stands now.
#[derive(Debug, Clone, Copy)]
pub(crate) struct News<'a> {
    pub(crate) user: Id,
    pub(crate) file: Id,
    pub(crate) status: FileStatus,
    pub(crate) attempts: u32,
    pub(crate) next_run_at: Option<Timestamp>,
    pub(crate) error_code: Option<&'a str>,
}

impl<'a> News<'a> {
    /// Of a file that no job is about yet.
    pub(crate) const fn of_upload(
        (user, file): (Id, Id),
        status: FileStatus,
        error_code: Option<&'a str>,
    ) -> Self {
        Self { user, file, status, attempts: 0, next_run_at: None, error_code }
    }
}

/// Tells how a file stands, and that its report is ready or will not be.
pub(crate) fn state_changed(out: &mut Outbox, news: &News<'_>) -> Result<(), EventError> {
    let stream = Stream::User(news.user);
    let changed = json!({
        "file_id": news.file,
        "status": news.status.name(),
        "attempts": news.attempts,
        "next_run_at": news.next_run_at,
        "error_code": news.error_code,
    });
    out.add(stream, event("file_state_changed", changed)?)?;
    match news.status {
        FileStatus::Succeeded => {
            out.add(stream, event("report_ready", json!({"file_id": news.file}))?)
        }
        FileStatus::Failed => {
            let failed = json!({"file_id": news.file, "error_code": news.error_code});
            out.add(stream, event("report_failed", failed)?)
        }
        FileStatus::Processing | FileStatus::Queued => Ok(()),
    }
}

/// Tells that a file is not there any more.
pub(crate) fn removed(out: &mut Outbox, user: Id, file: Id) -> Result<(), EventError> {
    out.add(Stream::User(user), event("file_removed", json!({"file_id": file}))?)
}

fn event(kind: &str, fields: Value) -> Result<Event, EventError> {
    match fields {
        Value::Object(fields) => Event::new(kind, &fields),
        _ => Event::new(kind, &Map::new()),
    }
}
