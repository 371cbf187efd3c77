//! What one answer of a health endpoint says, whatever its format.

use std::fmt;
use std::time::Duration;

use mainstay_base::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The answer as it was read: the dependencies it names, and what in it could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// Each name stands in it once.
    pub dependencies: Vec<Reported>,
    /// What was left out and why, each reason once.
    pub warnings: Vec<Warning>,
}

/// One dependency as the service reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reported {
    /// Its name, which is not blank.
    pub name: String,
    /// What kind of thing it is: `database`, `rest`, `other`.
    pub kind: String,
    /// What it is for.
    pub description: Option<String>,
    /// What breaks without it.
    pub impact: Option<String>,
    /// Whom to ask: a JSON object in canonical form.
    pub contact: Option<String>,
    /// What was checked: a JSON object in canonical form.
    pub check_details: Option<String>,
    /// What the service says of it. True for what is skipped.
    pub healthy: bool,
    /// How bad it is.
    pub state: HealthState,
    /// The status code of the check.
    pub code: i64,
    /// How long the check took; zero when the service did not say.
    pub latency: Duration,
    /// Whether the service leaves it out of its judgement.
    pub skipped: bool,
    /// What went wrong: JSON in canonical form.
    pub error: Option<String>,
    /// What went wrong, in words.
    pub error_message: Option<String>,
    /// When the service looked at it.
    pub checked_at: Timestamp,
}

/// How bad a dependency is, as the wire tells it: 0, 1 or 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HealthState {
    /// 0: fine.
    Healthy,
    /// 1: it works, badly.
    Degraded,
    /// 2: it does not work.
    Down,
}

/// How a dependency is shown: one word for what its service says and what is known of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DependencyStatus {
    /// It works.
    Healthy,
    /// It works, badly.
    Degraded,
    /// It does not work.
    Down,
    /// Nobody knows: its service can't be polled.
    Unknown,
    /// Its service leaves it out of its judgement.
    Skipped,
}

/// A reason why items of an answer were left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// What was wrong.
    pub reason: String,
    /// Where it was first seen.
    pub first_index: usize,
    /// In how many items.
    pub count: usize,
}

impl HealthState {
    /// The number on the wire and in the database.
    #[must_use]
    pub const fn number(self) -> i64 {
        match self {
            Self::Healthy => 0,
            Self::Degraded => 1,
            Self::Down => 2,
        }
    }

    /// The state of this number, if there is one.
    #[must_use]
    pub const fn from_number(number: i64) -> Option<Self> {
        match number {
            0 => Some(Self::Healthy),
            1 => Some(Self::Degraded),
            2 => Some(Self::Down),
            _ => None,
        }
    }
}

impl Reported {
    /// How it is shown. The worse of state and `healthy` counts, so that nothing looks better than
    /// its service says.
    #[must_use]
    pub const fn status(&self) -> DependencyStatus {
        DependencyStatus::of(self.skipped, self.state, self.healthy)
    }
}

impl DependencyStatus {
    /// Whether something is wrong.
    #[must_use]
    pub const fn is_unhealthy(self) -> bool {
        matches!(self, Self::Degraded | Self::Down)
    }

    /// The word for what a service says: the worse of state and `healthy` counts.
    #[must_use]
    pub const fn of(skipped: bool, state: HealthState, healthy: bool) -> Self {
        match (skipped, state, healthy) {
            (true, _, _) => Self::Skipped,
            (false, HealthState::Down, _) | (false, HealthState::Healthy, false) => Self::Down,
            (false, HealthState::Degraded, _) => Self::Degraded,
            (false, HealthState::Healthy, true) => Self::Healthy,
        }
    }

    /// Every status.
    pub const ALL: [Self; 5] =
        [Self::Healthy, Self::Degraded, Self::Down, Self::Unknown, Self::Skipped];

    /// The status of this name, if there is one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }

    /// The word on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Degraded => "degraded",
            Self::Down => "down",
            Self::Unknown => "unknown",
            Self::Skipped => "skipped",
        }
    }
}

impl fmt::Display for DependencyStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// `index 3: "name" is missing (and 4 more)`.
impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "index {}: {}", self.first_index, self.reason)?;
        match self.count.saturating_sub(1) {
            0 => Ok(()),
            more => write!(formatter, " (and {more} more)"),
        }
    }
}
