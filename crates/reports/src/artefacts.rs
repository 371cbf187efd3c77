//! Objects that are read back or removed, and what the log is told when that fails.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use mainstay_base::Id;
use serde_json::Value;
use tokio::time::timeout;
use tracing::Instrument as _;

use crate::error::ReportsError;
use crate::keys;
use crate::model::File;
use crate::objects::{ObjectError, ObjectErrorKind, Objects};
use crate::schema;

/// Objects of a file that are listed at once.
const LISTED: usize = 500;

/// And how often: a file that was tried again more often leaves the rest to the sweeper.
const MOST_LISTS: usize = 20;

/// What stands in a stored report beside what its schema knows: quotes that were not found.
const NOT_FOUND: &str = "$evidence_not_found";

/// And how many lines of the transcript the model was not told.
const LEFT_OUT: &str = "$lines_left_out";

/// What a stored report is marked with; `None` where it was made before that was.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Marks {
    pub(crate) not_found: Option<Vec<String>>,
    pub(crate) lines_left_out: Option<u64>,
}

/// A report as it is stored.
pub(crate) fn marked(mut report: Value, not_found: Vec<String>, lines_left_out: usize) -> Value {
    if let Some(fields) = report.as_object_mut() {
        fields.insert(NOT_FOUND.to_owned(), Value::from(not_found));
        fields.insert(LEFT_OUT.to_owned(), Value::from(lines_left_out));
    }
    report
}

/// A stored report as its schema knows it, and the marks.
pub(crate) fn unmarked(mut report: Value) -> (Value, Marks) {
    let mut take = |name: &str| report.as_object_mut().and_then(|fields| fields.remove(name));
    let not_found = take(NOT_FOUND).and_then(|marks| serde_json::from_value(marks).ok());
    let lines_left_out = take(LEFT_OUT).and_then(|count| count.as_u64());
    (report, Marks { not_found, lines_left_out })
}

/// An object that could not be read.
pub(crate) struct Unread {
    /// It is gone or garbled: asking again does not help.
    pub(crate) is_lost: bool,
    /// Why, without anything that it holds.
    pub(crate) cause: String,
}

/// Where objects are read for somebody who waits, and for how long each of them is waited for.
#[derive(Clone, Copy)]
pub(crate) struct Shelf<'a> {
    pub(crate) objects: &'a Arc<dyn Objects>,
    pub(crate) time: Duration,
}

impl Shelf<'_> {
    /// Reads an object. The storage is asked on a task of its own: when nobody waits for it any more, how it ends
    /// still counts for the breaker in front of it.
    async fn get(self, key: &str, most: usize) -> Result<Bytes, Unread> {
        let (objects, key) = (Arc::clone(self.objects), key.to_owned());
        let asking = async move { objects.get(&key, most).await };
        match timeout(self.time, tokio::spawn(asking.in_current_span())).await {
            Ok(Ok(Ok(bytes))) => Ok(bytes),
            Ok(Ok(Err(error))) => Err(Unread {
                is_lost: matches!(error.kind, ObjectErrorKind::Missing | ObjectErrorKind::TooLarge),
                cause: error.to_string(),
            }),
            Ok(Err(panicked)) => Err(Unread { is_lost: false, cause: panicked.to_string() }),
            Err(_) => {
                let cause = format!("the storage did not answer within {:?}", self.time);
                Err(Unread { is_lost: false, cause })
            }
        }
    }
}

/// Reads an object that holds JSON.
pub(crate) async fn read(shelf: Shelf<'_>, key: &str, most: usize) -> Result<Value, Unread> {
    let bytes = shelf.get(key, most).await?;
    serde_json::from_slice(&bytes).map_err(|error| {
        // Its own words would quote the report.
        let cause = format!("it is no JSON at line {}, column {}", error.line(), error.column());
        Unread { is_lost: true, cause }
    })
}

/// Reads a report and its marks: JSON of another form is none.
pub(crate) async fn read_report(
    shelf: Shelf<'_>,
    key: &str,
    most: usize,
) -> Result<(Value, Marks), Unread> {
    let (report, marks) = unmarked(read(shelf, key, most).await?);
    schema::validate(&report).map_err(|error| {
        let cause = format!("it is no report: {error}");
        Unread { is_lost: true, cause }
    })?;
    Ok((report, marks))
}

impl Unread {
    /// Tells the log that a report can't be read.
    pub(crate) fn of_report(&self, file: Id) -> ReportsError {
        tracing::error!(event = "report_fetch_failed", file_id = %file, error = self.cause,
            "a report can't be read from the storage");
        ReportsError::Fetch
    }

    /// Tells the log that what was recorded beside a report can't be read.
    pub(crate) fn of_timeline(&self, file: Id) {
        tracing::error!(event = "timeline_fetch_failed", file_id = %file, error = self.cause,
            "what was recorded beside a report can't be read from the storage; the report is shown without it");
    }
}

/// Removes an object that nothing refers to any more; one that stays is told to the log.
pub(crate) async fn delete_or_tell(objects: &dyn Objects, file: Id, key: &str) {
    if let Err(error) = objects.delete(key).await {
        tracing::warn!(event = "orphan_s3_object", file_id = %file, key, %error,
            "an object that nothing refers to could not be deleted; the sweeper tries again");
    }
}

/// The objects of a file that is gone, also those of earlier attempts, which it pointed at no more. They are
/// removed, or told to the log.
pub(crate) struct Leftovers {
    objects: Arc<dyn Objects>,
    file: File,
    is_seen_to: bool,
}

impl Leftovers {
    pub(crate) fn new(objects: Arc<dyn Objects>, file: File) -> Self {
        Self { objects, file, is_seen_to: false }
    }

    pub(crate) async fn remove(mut self) {
        let mut keys: BTreeSet<String> = self.file.keys.all().map(str::to_owned).collect();
        if let Err(error) = list(&*self.objects, &self.file, &mut keys).await {
            self.tell(&error.to_string());
        }
        for key in keys {
            delete_or_tell(&*self.objects, self.file.id, &key).await;
        }
        self.is_seen_to = true;
    }

    fn tell(&self, error: &str) {
        let key = keys::folder(self.file.user_id, self.file.id);
        tracing::warn!(event = "orphan_s3_object", file_id = %self.file.id, key, error,
            "what a deleted file has stored could not all be found; the sweeper looks again");
    }
}

impl Drop for Leftovers {
    fn drop(&mut self) {
        if !self.is_seen_to {
            self.tell("the process ended first");
        }
    }
}

async fn list(
    objects: &dyn Objects,
    file: &File,
    keys: &mut BTreeSet<String>,
) -> Result<(), ObjectError> {
    let (owner, folder) = ((file.user_id, file.id), keys::folder(file.user_id, file.id));
    let mut after: Option<String> = None;
    for _ in 0..MOST_LISTS {
        let listed = objects.list(&folder, after.as_deref(), LISTED).await?;
        after = listed.last().filter(|_| listed.len() >= LISTED).map(|last| last.key.clone());
        let listed = listed.into_iter().map(|entry| entry.key);
        // What somebody else keeps there is not this room's to remove.
        keys.extend(listed.filter(|key| keys::owner(key) == Some(owner)));
        if after.is_none() {
            break;
        }
    }
    Ok(())
}
