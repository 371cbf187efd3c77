//! What the storage tells about itself: outcomes and times, by operation.

use std::time::Duration;

use metrics::{Unit, counter, describe_counter, describe_histogram, histogram};

use super::error::{BlobError, BlobErrorKind};

/// The histogram of calls; the recorder needs [`DURATION_BUCKETS`] for it.
pub const CALL_DURATION: &str = "mainstay_blob_call_duration_seconds";
const CALLS: &str = "mainstay_blob_calls_total";

/// The upper ends of the histogram's buckets, in seconds.
pub const DURATION_BUCKETS: &[f64] =
    &[0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

/// What is asked of the storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// A whole blob is stored.
    Put,
    /// A part of one is.
    Part,
    /// The last part is, and the blob appears.
    Finish,
    /// What came of an upload goes.
    Abort,
    /// A blob is read.
    Get,
    /// A blob is removed.
    Delete,
    /// Blobs are listed.
    List,
}

impl Operation {
    const ALL: [Self; 7] =
        [Self::Put, Self::Part, Self::Finish, Self::Abort, Self::Get, Self::Delete, Self::List];

    const fn label(self) -> &'static str {
        match self {
            Self::Put => "put",
            Self::Part => "part",
            Self::Finish => "finish",
            Self::Abort => "abort",
            Self::Get => "get",
            Self::Delete => "delete",
            Self::List => "list",
        }
    }
}

/// Gives each metric its help text and shows every outcome from the start. Call it once, after the
/// recorder is installed.
pub fn describe_metrics() {
    describe_counter!(
        CALLS,
        "Calls to the object storage, by operation and outcome: ok, or the kind of error."
    );
    describe_histogram!(CALL_DURATION, Unit::Seconds, "Time of one call, by operation.");
    for operation in Operation::ALL {
        count(operation, "ok", 0);
        BlobErrorKind::ALL.iter().for_each(|kind| count(operation, kind.name(), 0));
    }
}

/// A call ended.
pub(crate) fn ended<T>(operation: Operation, outcome: &Result<T, BlobError>, took: Duration) {
    count(operation, outcome.as_ref().map_or_else(|error| error.kind().name(), |_| "ok"), 1);
    histogram!(CALL_DURATION, "operation" => operation.label()).record(took.as_secs_f64());
}

fn count(operation: Operation, outcome: &'static str, more: u64) {
    counter!(CALLS, "operation" => operation.label(), "outcome" => outcome).increment(more);
}
