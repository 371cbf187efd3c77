//! Objects that are read back or removed, and what the log is told when that fails.

use mainstay_base::Id;
use serde_json::Value;

use crate::error::ReportsError;
use crate::objects::Objects;

/// What stands in a stored report beside what its schema knows: quotes that were not found.
const NOT_FOUND: &str = "$evidence_not_found";

/// A report as it is stored.
pub(crate) fn marked(mut report: Value, not_found: Vec<String>) -> Value {
    if let Some(fields) = report.as_object_mut() {
        fields.insert(NOT_FOUND.to_owned(), Value::from(not_found));
    }
    report
}

/// A stored report as its schema knows it, and the marks; `None` where it has none.
pub(crate) fn unmarked(mut report: Value) -> (Value, Option<Vec<String>>) {
    let marks = report.as_object_mut().and_then(|fields| fields.remove(NOT_FOUND));
    let marks = marks.and_then(|marks| serde_json::from_value(marks).ok());
    (report, marks)
}

/// Reads an object that holds JSON. What went wrong is told to the log only, and never what it holds.
pub(crate) async fn read(
    objects: &dyn Objects,
    file: Id,
    key: &str,
    most: usize,
) -> Result<Value, ReportsError> {
    let failed = |error: String| {
        tracing::error!(event = "report_fetch_failed", file_id = %file, error,
            "a report can't be read from the storage");
        ReportsError::Fetch
    };
    let bytes = objects.get(key, most).await.map_err(|error| failed(error.to_string()))?;
    serde_json::from_slice(&bytes).map_err(|error| {
        // Its own words would quote the report.
        failed(format!("it is no JSON at line {}, column {}", error.line(), error.column()))
    })
}

/// Removes an object that nothing refers to any more; one that stays is told to the log.
pub(crate) async fn delete_or_tell(objects: &dyn Objects, file: Id, key: &str) {
    if let Err(error) = objects.delete(key).await {
        tracing::warn!(event = "orphan_s3_object", file_id = %file, key, %error,
            "an object that nothing refers to could not be deleted; the sweeper tries again");
    }
}
