//! Journeys that an installation keeps, and their runs, as people see them.

use std::str::FromStr;

use mainstay_base::{Id, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::progress::RunProgress;
use crate::report::{RunOutcome, RunRecord};

/// The most journeys that are kept.
pub const MAX_JOURNEYS: i64 = 2_000;
/// The most of one page of a list.
pub const MAX_PAGE: u32 = 200;
/// How many of its last runs a journey's strip shows.
pub const STRIP_CELLS: i64 = 60;
/// How many runs of a journey are kept.
pub const RUNS_KEPT: i64 = 300;
/// How many of them keep the record of a run that passed; that of a failed one stays as long as its run.
pub const PASSED_RECORDS_KEPT: i64 = 30;
/// The longest record that is kept, as JSON in bytes.
pub const MAX_RECORD_BYTES: usize = 512 * 1024;

/// Who began a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = RunTrigger)]
pub enum Trigger {
    /// The journey's schedule.
    Schedule,
    /// A person or a program asked for it.
    Manual,
}

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// It waits for a runner.
    Queued,
    /// It is under way.
    Running,
    /// All was as it should be.
    Passed,
    /// Something was not.
    Failed,
    /// It was due while the run before it had not ended.
    Skipped,
    /// It was cancelled, or its runner died or was stopped: nothing is known of the system that it asks.
    Aborted,
}

/// One of the last runs.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RunMark {
    /// The run.
    #[schema(value_type = String)]
    pub id: Id,
    /// Where it stands.
    pub status: RunStatus,
    /// When it was due or asked for.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// How long it took.
    #[schema(required)]
    pub duration_ms: Option<f64>,
}

/// A journey, and how it is.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = Journey)]
pub struct JourneyView {
    /// Its id.
    #[schema(value_type = String)]
    pub id: Id,
    /// Its name, as its source says.
    #[schema(example = "authorise a payment")]
    pub name: String,
    /// Counts its edits.
    pub generation: i64,
    /// Whether it runs on its schedule.
    pub is_enabled: bool,
    /// How often; `null` only when it is asked to.
    #[schema(required, example = 60_000)]
    pub every_ms: Option<i64>,
    /// The services that it crosses, by name.
    pub touches: Vec<String>,
    /// How its last judged run ended; `null` before the first.
    #[schema(required)]
    pub outcome: Option<RunOutcome>,
    /// Since when it is so.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub outcome_since: Option<Timestamp>,
    /// Why it is failing.
    #[schema(required)]
    pub failed_message: Option<String>,
    /// The run that failed last, while it is failing.
    #[schema(value_type = Option<String>, required)]
    pub failed_run_id: Option<Id>,
    /// When it is due next; `null` when it is on no schedule.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub next_run_at: Option<Timestamp>,
    /// Since when nothing is known of it, where it should have run and several runs in a row came to nothing,
    /// or none ended for several intervals: `outcome` is what it was then. `null` while it is run as it should.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub not_run_since: Option<Timestamp>,
    /// Its last runs, the oldest first, at most 60.
    pub strip: Vec<RunMark>,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it was last edited.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

/// A journey with its source.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct JourneyDetail {
    /// The journey.
    #[serde(flatten)]
    pub journey: JourneyView,
    /// Its file, as YAML.
    pub source: String,
}

/// A run, without what came of each step.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = JourneyRun)]
pub struct RunView {
    /// Its id.
    #[schema(value_type = String)]
    pub id: Id,
    /// The journey.
    #[schema(value_type = String)]
    pub journey_id: Id,
    /// The journey's name now.
    pub journey_name: String,
    /// The edit of the journey that it was begun with.
    pub generation: i64,
    /// Who began it.
    pub trigger: Trigger,
    /// Where it stands.
    pub status: RunStatus,
    /// When it was due or asked for.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When a runner took it.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub finished_at: Option<Timestamp>,
    /// How long it took.
    #[schema(required)]
    pub duration_ms: Option<f64>,
    /// Why it failed, was skipped or was not run to its end.
    #[schema(required)]
    pub message: Option<String>,
}

/// A run with what came of each step.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = JourneyRunDetail)]
pub struct RunDetail {
    /// The run.
    #[serde(flatten)]
    pub run: RunView,
    /// How far it is: written within a second or so of what happens, and `null` before the first second is over.
    /// Where there is a record, that stands in its place; where its Mainstay died, this is how far it came.
    #[schema(value_type = Option<RunProgress>, required)]
    pub progress: Option<Value>,
    /// What came of it. `null` before it has ended, when it was not run, and when it passed and 30 came
    /// after it.
    #[schema(value_type = Option<RunRecord>, required)]
    pub record: Option<Value>,
    /// Whether answers, late events and more were left out of the record because it was too long.
    pub is_shortened: bool,
}

/// A journey that is failing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FailingJourney {
    /// Its id.
    #[schema(value_type = String)]
    pub id: Id,
    /// Its name.
    pub name: String,
    /// Since when.
    #[schema(value_type = String, format = DateTime)]
    pub since: Timestamp,
    /// The run that failed last.
    #[schema(value_type = Option<String>, required)]
    pub run_id: Option<Id>,
    /// Why.
    #[schema(required)]
    pub message: Option<String>,
    /// The services that it crosses, by name.
    pub touches: Vec<String>,
}

impl FailingJourney {
    /// Whether it crosses the service of this name, in any case.
    #[must_use]
    pub fn touches(&self, service: &str) -> bool {
        let service = service.trim().to_lowercase();
        self.touches.iter().any(|touched| touched.trim().to_lowercase() == service)
    }
}

/// The database names something that there is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the database holds a word that this version of Mainstay does not know")]
pub struct UnknownWord;

impl Trigger {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Schedule => "schedule",
            Self::Manual => "manual",
        }
    }
}

impl FromStr for Trigger {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        [Self::Schedule, Self::Manual].into_iter().find(|one| one.name() == word).ok_or(UnknownWord)
    }
}

impl RunStatus {
    const ALL: [Self; 6] =
        [Self::Queued, Self::Running, Self::Passed, Self::Failed, Self::Skipped, Self::Aborted];

    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Aborted => "aborted",
        }
    }

    /// What it says about the journey, if anything.
    #[must_use]
    pub const fn outcome(self) -> Option<RunOutcome> {
        match self {
            Self::Passed => Some(RunOutcome::Passed),
            Self::Failed => Some(RunOutcome::Failed),
            Self::Queued | Self::Running | Self::Skipped | Self::Aborted => None,
        }
    }
}

impl From<RunOutcome> for RunStatus {
    fn from(outcome: RunOutcome) -> Self {
        match outcome {
            RunOutcome::Passed => Self::Passed,
            RunOutcome::Failed => Self::Failed,
        }
    }
}

impl FromStr for RunStatus {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        Self::ALL.into_iter().find(|one| one.name() == word).ok_or(UnknownWord)
    }
}

/// What a source is, found right or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JourneyCheck {
    /// What is wrong, in the order of the file; empty when nothing is.
    pub mistakes: Vec<crate::Mistake>,
    /// What it says, where nothing is wrong.
    #[schema(required)]
    pub journey: Option<CheckedJourney>,
    /// What is no mistake and still makes runs fail, or their failure show nowhere.
    pub warnings: Vec<String>,
}

/// What a source says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CheckedJourney {
    /// The name.
    pub name: String,
    /// How often it runs.
    #[schema(required)]
    pub every_ms: Option<i64>,
    /// The services that it crosses.
    pub touches: Vec<String>,
    /// Its steps, by id.
    pub steps: Vec<String>,
    /// The secrets that it names and this Mainstay does not have: a run would fail.
    pub missing_secrets: Vec<String>,
    /// The variables without a value: a run would fail.
    pub missing_vars: Vec<String>,
}
