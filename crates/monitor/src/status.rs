//! How a service is, in one word.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::report::DependencyStatus;

/// How a service is, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServiceStatus {
    /// It was never polled, or not for so long that nobody knows.
    Unknown,
    /// It answers, and so does everything it leans on.
    Healthy,
    /// It answers, and something it leans on does not, or badly.
    Degraded,
    /// It does not answer.
    Down,
}

impl ServiceStatus {
    /// Every status.
    pub const ALL: [Self; 4] = [Self::Unknown, Self::Healthy, Self::Degraded, Self::Down];

    /// The status of a service that answered, by what it says of its dependencies.
    #[must_use]
    pub fn of_answer(statuses: impl IntoIterator<Item = DependencyStatus>) -> Self {
        let troubled =
            |status| matches!(status, DependencyStatus::Degraded | DependencyStatus::Down);
        if statuses.into_iter().any(troubled) { Self::Degraded } else { Self::Healthy }
    }

    /// Whether something is wrong.
    #[must_use]
    pub const fn is_unhealthy(self) -> bool {
        matches!(self, Self::Degraded | Self::Down)
    }

    /// The word on the wire and in the database.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Healthy => "healthy",
            Self::Degraded => "degraded",
            Self::Down => "down",
        }
    }

    /// The status of this name, if there is one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

impl fmt::Display for ServiceStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use DependencyStatus::{Degraded, Down, Healthy, Skipped, Unknown};

    #[test]
    fn a_service_that_answers_is_degraded_by_any_dependency_that_counts() {
        for (statuses, expected) in [
            (&[] as &[_], ServiceStatus::Healthy),
            (&[Healthy, Healthy], ServiceStatus::Healthy),
            (&[Skipped], ServiceStatus::Healthy),
            (&[Unknown], ServiceStatus::Healthy),
            (&[Healthy, Degraded], ServiceStatus::Degraded),
            (&[Down, Skipped], ServiceStatus::Degraded),
        ] {
            assert_eq!(
                ServiceStatus::of_answer(statuses.iter().copied()),
                expected,
                "{statuses:?}"
            );
        }
    }

    #[test]
    fn every_name_is_read_back() {
        for status in ServiceStatus::ALL {
            assert_eq!(ServiceStatus::from_name(status.name()), Some(status));
        }
        assert_eq!(ServiceStatus::from_name("Healthy"), None);
    }
}
