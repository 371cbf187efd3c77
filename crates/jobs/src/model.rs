//! What the queue holds: jobs, their kinds and where each stands.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Id, Timestamp};
use serde::{Deserialize, Serialize, Serializer};
use utoipa::ToSchema;

use crate::text::{Traceparent, is_word};

/// The longest name of a kind, and of an error code, in bytes.
pub const MAX_WORD_BYTES: usize = 64;
/// The longest subject, in bytes.
pub const MAX_SUBJECT_BYTES: usize = 256;
/// The largest payload, in bytes of its JSON text.
pub const MAX_PAYLOAD_BYTES: usize = 64 * 1024;
/// How often a job is tried when nothing else is said.
pub const DEFAULT_MAX_ATTEMPTS: u32 = 4;
/// The most attempts that can be asked for.
pub const MAX_ATTEMPTS: u32 = 1_000;
/// The furthest priority from 0 that can be asked for, either way.
pub const MAX_PRIORITY: i32 = 100;
/// The longest delay that can be asked for: ten years.
pub const MAX_DELAY: Duration = Duration::from_hours(10 * 365 * 24);
/// A job whose runner died this often while it ran is not tried again.
pub const MAX_CRASHES: i64 = 3;

/// The name of a kind of job: `[a-z0-9_]{1,64}`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind(Arc<str>);

/// A text that is no kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a kind of job; a kind has 1 to {MAX_WORD_BYTES} lower-case letters, digits and underscores"
)]
pub struct KindError;

impl Kind {
    /// Checks a name.
    ///
    /// # Errors
    /// [`KindError`].
    pub fn new(name: &str) -> Result<Self, KindError> {
        if is_word(name) { Ok(Self(name.into())) } else { Err(KindError) }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Kind {
    type Err = KindError;

    fn from_str(name: &str) -> Result<Self, KindError> {
        Self::new(name)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// Where a job stands.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Waits for its time or for a runner.
    Queued,
    /// A runner has it.
    Processing,
    /// Done.
    Succeeded,
    /// Given up, or cancelled.
    Failed,
}

impl Status {
    /// Each of them.
    pub const ALL: [Self; 4] = [Self::Queued, Self::Processing, Self::Succeeded, Self::Failed];

    /// The word for it, in the API and in the database.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Processing => "processing",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
        }
    }

    /// Whether nothing more happens to it by itself.
    #[must_use]
    pub const fn is_finished(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed)
    }
}

/// The database or a caller names a status that there is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a status of a job; there are queued, processing, succeeded and failed")]
pub struct StatusError;

impl FromStr for Status {
    type Err = StatusError;

    fn from_str(word: &str) -> Result<Self, StatusError> {
        Self::ALL.into_iter().find(|status| status.name() == word).ok_or(StatusError)
    }
}

/// A job to be enqueued.
#[derive(Debug, Clone, PartialEq)]
pub struct NewJob {
    /// What kind of work.
    pub kind: Kind,
    /// What it is about; among unfinished jobs of a kind there is one for each subject.
    pub subject: Option<String>,
    /// What the handler is given.
    pub payload: serde_json::Value,
    /// The smaller comes first; 0 is usual.
    pub priority: i32,
    /// When it is due.
    pub due: Due,
    /// How often it is tried.
    pub max_attempts: u32,
    /// The trace of whoever asked for it; what is not in the W3C form is dropped. Without one it is that
    /// of the request or the job that is worked on.
    pub traceparent: Option<String>,
}

/// When a job is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// At once.
    Now,
    /// After a time, by the database's clock.
    After(Duration),
    /// At a time.
    At(Timestamp),
}

impl NewJob {
    /// A job that is due at once, with the usual bounds.
    #[must_use]
    pub fn new(kind: Kind, payload: serde_json::Value) -> Self {
        Self {
            kind,
            subject: None,
            payload,
            priority: 0,
            due: Due::Now,
            max_attempts: DEFAULT_MAX_ATTEMPTS,
            traceparent: None,
        }
    }

    /// The same, about `subject`.
    #[must_use]
    pub fn about(mut self, subject: impl Into<String>) -> Self {
        self.subject = Some(subject.into());
        self
    }

    /// The same, due later.
    #[must_use]
    pub const fn due(mut self, due: Due) -> Self {
        self.due = due;
        self
    }
}

/// The answer to an enqueueing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Enqueued {
    /// The job that is there now.
    pub id: Id,
    /// Whether this call made it; otherwise one about the same subject was unfinished already.
    pub is_new: bool,
}

/// What went wrong with a job, fit to be kept and shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Failure {
    /// A stable word.
    #[schema(example = "llm_timeout")]
    pub code: String,
    /// One line for people.
    pub message: String,
}

/// A job as people see it. The payload is not part of it: it may hold what is secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct JobView {
    /// The id.
    #[schema(value_type = String)]
    pub id: Id,
    /// What kind of work.
    #[schema(value_type = String, example = "report")]
    pub kind: Kind,
    /// What it is about.
    #[schema(required)]
    pub subject: Option<String>,
    /// Where it stands.
    pub status: Status,
    /// The smaller comes first.
    pub priority: i64,
    /// How often it was begun.
    pub attempts: i64,
    /// How often it may be begun.
    pub max_attempts: i64,
    /// How often a runner died while it ran.
    pub crashes: i64,
    /// When it was enqueued.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it was or is due.
    #[schema(value_type = String, format = DateTime)]
    pub next_run_at: Timestamp,
    /// When the runner that has it took it.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub locked_at: Option<Timestamp>,
    /// Which runner has it.
    #[schema(required)]
    pub locked_by: Option<String>,
    /// When that runner last said that it is alive.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub heartbeat_at: Option<Timestamp>,
    /// How long after that another runner may take it, in seconds.
    #[schema(required)]
    pub lock_ttl_seconds: Option<i64>,
    /// What went wrong last.
    #[schema(required)]
    pub last_error: Option<Failure>,
    /// When it ended.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub finished_at: Option<Timestamp>,
    /// Whether it has left the queue for the archive.
    pub archived: bool,
}

impl JobView {
    /// Whether its runner has not been heard of for longer than its lease.
    #[must_use]
    pub fn is_stuck(&self, now: Timestamp) -> bool {
        let (Some(heartbeat), Some(seconds)) = (self.heartbeat_at, self.lock_ttl_seconds) else {
            return false;
        };
        let lease = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
        self.status == Status::Processing && heartbeat.plus(lease) < now
    }
}

/// A job that a runner has, under a lease.
#[derive(Debug, Clone, PartialEq)]
pub struct Claimed {
    /// The id.
    pub id: Id,
    /// What kind of work.
    pub kind: Kind,
    /// What it is about.
    pub subject: Option<String>,
    /// What the handler is given.
    pub payload: serde_json::Value,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// How many there may be.
    pub max_attempts: u32,
    /// How often a runner died while it ran.
    pub crashes: u32,
    /// When it was due.
    pub next_run_at: Timestamp,
    /// The trace of whoever asked for it.
    pub traceparent: Option<Traceparent>,
    /// The last runner that had it died while it ran.
    pub(crate) found_crash: bool,
    pub(crate) lease: Lease,
}

impl Claimed {
    /// What fences its writes.
    #[must_use]
    pub const fn lease(&self) -> Lease {
        self.lease
    }
}

/// Names a job and one claim of it: what fences every write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lease {
    pub(crate) key: i64,
    pub(crate) token: i64,
}

impl Lease {
    /// A word for this claim of this job, which no other claim of it has: what an attempt stores
    /// outside the database goes by it.
    #[must_use]
    pub fn attempt(self) -> String {
        format!("{:016x}", self.token)
    }
}

/// One change of a job's status, as its kind's hook is told.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The job.
    pub id: Id,
    /// What kind of work.
    pub kind: Kind,
    /// What it is about.
    pub subject: Option<String>,
    /// What the handler is given.
    pub payload: serde_json::Value,
    /// How often it was begun.
    pub attempts: u32,
    /// What happened.
    pub cause: Cause,
    /// Where it stands now.
    pub status: Status,
    /// When it is due, if it is queued now.
    pub next_run_at: Timestamp,
    /// What went wrong, if something did.
    pub failure: Option<Failure>,
}

/// Why a job's status changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// A runner took it.
    Claimed,
    /// It failed and is tried again later.
    Retried,
    /// Its handler put it off; the attempt does not count.
    PutOff,
    /// Its runner stopped; the attempt does not count.
    Released,
    /// It is done.
    Succeeded,
    /// It failed for good.
    Failed,
    /// Its last attempt died with its runner.
    AttemptsExhausted,
    /// Its runners died too often.
    CrashLoop,
    /// Somebody cancelled it.
    Cancelled,
    /// Somebody asked for it to be tried again.
    Requeued,
}
