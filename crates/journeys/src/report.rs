//! What came of a run, to be shown, sent and stored. Nothing in it holds a secret: see `mask`.

use std::collections::BTreeMap;

use mainstay_base::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::model::Mode;

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunRecord {
    /// The journey's name.
    pub journey: String,
    /// What failures meant.
    pub mode: Mode,
    /// How it ended. In the modes `log` and `disabled` only one that was cut off has failed.
    pub outcome: RunOutcome,
    /// When it began.
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Timestamp,
    /// How long it took.
    pub duration_ms: f64,
    /// The values that it began with.
    pub vars: BTreeMap<String, Value>,
    /// Every step, in the order of the file, those that were not reached included.
    pub steps: Vec<StepRecord>,
    /// Every event, in the order of arrival.
    pub events: Vec<EventRecord>,
    /// Every poller, in the order in which they ended.
    pub pollers: Vec<PollerRecord>,
    /// What failed, in the order of time: at most one in the mode `halt`, none in `disabled`.
    pub failures: Vec<FailureRecord>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    /// As it should.
    Passed,
    /// Something failed.
    Failed,
}

/// One step of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StepRecord {
    /// Its name.
    pub id: String,
    /// How it ended.
    pub state: StepState,
    /// When it began, since the beginning of the run.
    pub offset_ms: f64,
    /// How long it took, without what its poller did afterwards.
    pub duration_ms: f64,
    /// What was sent.
    #[schema(required)]
    pub request: Option<RequestRecord>,
    /// What came back.
    #[schema(required)]
    pub answer: Option<AnswerRecord>,
    /// What was checked.
    pub checks: Vec<CheckRecord>,
    /// What was kept of the answer.
    pub captures: BTreeMap<String, Value>,
    /// Why it failed or was not done.
    #[schema(required)]
    pub error: Option<String>,
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    /// All was as expected.
    Passed,
    /// Something was not.
    Failed,
    /// It was not done.
    Skipped,
}

/// What was sent. Secrets stand in it as `$NAME`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RequestRecord {
    /// How it was asked.
    pub method: String,
    /// Whom and for what.
    pub url: String,
    /// The journey's own headers.
    pub headers: Vec<HeaderRecord>,
    /// What was sent, shortened.
    #[schema(required)]
    pub body: Option<String>,
    /// The same as a command of the shell, whole, with secrets as variables of it; empty where it would be too long.
    pub curl: String,
}

/// A header that was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HeaderRecord {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AnswerRecord {
    /// Its status.
    pub status: u16,
    /// The time to its last byte.
    pub latency_ms: f64,
    /// Its content type, if it has one.
    #[schema(required)]
    pub content_type: Option<String>,
    /// The body, shortened.
    pub body: String,
    /// How long the body was.
    pub body_bytes: usize,
}

/// One thing that was checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CheckRecord {
    /// What: `status`, a JSONPath, `header NAME`, `body_contains` or `within`.
    pub what: String,
    /// Whether it was as expected.
    pub is_fine: bool,
    /// What was expected.
    pub expected: Value,
    /// What there was; absent where there was nothing.
    #[schema(required)]
    pub got: Option<Value>,
}

/// One event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EventRecord {
    /// Its number, from 0 without gaps.
    pub sequence: u64,
    /// Its name.
    pub name: String,
    /// The step that told it, or whose poller did.
    pub step: String,
    /// The poller that told it, if it was one.
    #[schema(required)]
    pub poller: Option<u64>,
    /// When, since the beginning of the run.
    pub offset_ms: f64,
}

/// One poller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PollerRecord {
    /// Its number within the run, from 1.
    pub id: u64,
    /// The step that started it.
    pub step: String,
    /// How it ended.
    pub state: PollerState,
    /// When it began, since the beginning of the run.
    pub offset_ms: f64,
    /// How long it polled.
    pub duration_ms: f64,
    /// How many polls it started.
    pub poll_count: u64,
    /// How many polls the breaker of the host did not let through.
    pub skipped_count: u64,
    /// How many events it told.
    pub event_count: u64,
    /// What it was asking.
    #[schema(required)]
    pub request: Option<RequestRecord>,
    /// What the last poll that completed brought: JSON, or text, shortened.
    #[schema(required)]
    pub last_value: Option<Value>,
    /// Why it failed.
    #[schema(required)]
    pub error: Option<String>,
}

/// How a poller ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PollerState {
    /// The resource settled.
    Done,
    /// It did not, and that was to be ignored.
    TimedOut,
    /// The run ended before.
    Stopped,
    /// It failed.
    Failed,
}

/// What failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FailureRecord {
    /// The step that it belongs to; absent where it is the whole run.
    #[schema(required)]
    pub step: Option<String>,
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// What happened.
    pub message: String,
    /// The check that failed, where it is one.
    #[schema(required)]
    pub check: Option<CheckRecord>,
}

/// What kind of failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// An answer was not as expected.
    Assertion,
    /// No answer came.
    Request,
    /// The host fails too often and is not asked.
    BreakerOpen,
    /// A value to capture was not there.
    Capture,
    /// A template could not be filled in.
    Template,
    /// A poller's rule said so, or no rule fitted an answer.
    Poller,
    /// A resource did not settle in time.
    Timeout,
    /// An event that a step needs never came.
    NeverReady,
    /// The whole run took too long.
    RunTimeout,
    /// Somebody ended the run.
    Cancelled,
    /// A bound was reached.
    Bound,
}

impl FailureKind {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Assertion => "assertion",
            Self::Request => "request",
            Self::BreakerOpen => "breaker_open",
            Self::Capture => "capture",
            Self::Template => "template",
            Self::Poller => "poller",
            Self::Timeout => "timeout",
            Self::NeverReady => "never_ready",
            Self::RunTimeout => "run_timeout",
            Self::Cancelled => "cancelled",
            Self::Bound => "bound",
        }
    }
}

impl RunRecord {
    /// Whether it ended as it should.
    #[must_use]
    pub fn is_passed(&self) -> bool {
        self.outcome == RunOutcome::Passed
    }
}
