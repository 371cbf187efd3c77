//! How something is, seen from a worker: what a check of a net found there.

use std::str::FromStr;
use std::time::Duration;

use mainstay_base::{Id, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::status::UnknownWord;

/// The most characters of the name of a check.
pub const MAX_CHECK_NAME: usize = 200;
/// The most characters of an error that is kept.
pub const MAX_ERROR: usize = 500;

/// How something is, seen from somewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LocationStatus {
    /// Nothing was found yet, or not lately.
    Unknown,
    /// It answers, and so does everything it leans on; the journey arrived.
    Healthy,
    /// It answers, and something it leans on does not; a journey across it failed.
    Degraded,
    /// It does not answer.
    Down,
}

/// What a check does.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum CheckKind {
    /// It polls a service.
    Service,
    /// It runs a journey.
    Journey,
}

/// A check that a net has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedCheck {
    /// What it does.
    pub kind: CheckKind,
    /// What it is called: no other of its kind in the net is, in any case.
    pub name: String,
    /// Where a service is asked, in its one spelling.
    pub url: Option<String>,
    /// The names of the services that it is about, as they are [`compared`].
    pub about: Vec<String>,
    /// From one run to the next.
    pub every: Duration,
}

/// What is recorded of a check on a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The check.
    pub check: PlannedCheck,
    /// The worker that it runs on.
    pub worker_id: Id,
    /// The generation of the net that it was found under.
    pub generation: i64,
    /// How it was when it was last found.
    pub status: LocationStatus,
    /// Since when.
    pub status_since: Timestamp,
    /// When it was last found, by the database's clock.
    pub checked_at: Option<Timestamp>,
    /// How long that took.
    pub latency: Option<Duration>,
    /// What was wrong.
    pub error: Option<String>,
    /// How many findings there were.
    pub findings: i64,
}

/// A location as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenLocation {
    /// The worker.
    pub worker_id: Id,
    /// What its owner calls it.
    pub worker: String,
    /// Where it stands.
    pub region: Option<String>,
    /// The net.
    pub net_id: Id,
    /// What its owner calls it.
    pub net: String,
    /// What the check does.
    pub kind: CheckKind,
    /// What it is called.
    pub check: String,
    /// How it is.
    pub status: LocationStatus,
    /// Since when.
    pub since: Timestamp,
    /// When it was last found.
    pub checked_at: Option<Timestamp>,
    /// How long that took.
    pub latency: Option<Duration>,
    /// What is wrong, or why nobody knows.
    pub error: Option<String>,
}

/// A time at which a check turned out otherwise than before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocationChange {
    /// Counts the changes of all.
    pub number: i64,
    /// When it was found.
    pub at: Timestamp,
    /// The worker that found it.
    pub worker_id: Id,
    /// What its owner calls it.
    pub worker: String,
    /// The net.
    pub net_id: Id,
    /// What its owner calls it.
    pub net: String,
    /// What the check does.
    pub kind: CheckKind,
    /// What it is called.
    pub check: String,
    /// How it is from then on.
    pub status: LocationStatus,
    /// What was wrong.
    pub error: Option<String>,
}

/// A name as it is compared with others: trimmed, in lower case, on one line.
#[must_use]
pub fn compared(name: &str) -> String {
    name.trim().to_lowercase().replace('\n', " ")
}

impl LocationStatus {
    /// Each of them.
    pub const ALL: [Self; 4] = [Self::Unknown, Self::Healthy, Self::Degraded, Self::Down];

    /// The word for it, in the API and in the database.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Healthy => "healthy",
            Self::Degraded => "degraded",
            Self::Down => "down",
        }
    }
}

impl FromStr for LocationStatus {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        let found = Self::ALL.into_iter().find(|one| one.name() == word);
        found.ok_or(UnknownWord("status of a location"))
    }
}

impl CheckKind {
    /// Each of them.
    pub const ALL: [Self; 2] = [Self::Service, Self::Journey];

    /// The word for it, in the API and in the database.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Service => "service",
            Self::Journey => "journey",
        }
    }
}

impl FromStr for CheckKind {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        Self::ALL.into_iter().find(|one| one.name() == word).ok_or(UnknownWord("kind of check"))
    }
}

impl PlannedCheck {
    /// What tells it from the others of its net.
    #[must_use]
    pub fn key(&self) -> (CheckKind, String) {
        (self.kind, compared(&self.name))
    }
}
