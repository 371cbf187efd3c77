//! How anything is, in one word, and how one word is made of many.

/// How a service, a thing or a report is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// It is left out of the judgement.
    Skipped,
    /// Nobody knows. Never green, and never a cause.
    Unknown,
    /// It works.
    Healthy,
    /// It works, badly.
    Degraded,
    /// It does not work.
    Down,
}

/// How many reports have each status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Tally {
    skipped: u32,
    unknown: u32,
    healthy: u32,
    degraded: u32,
    down: u32,
}

impl Status {
    /// Every status, from the one that counts least to the one that counts most.
    pub const ALL: [Self; 5] =
        [Self::Skipped, Self::Unknown, Self::Healthy, Self::Degraded, Self::Down];

    /// Whether something is wrong.
    #[must_use]
    pub const fn is_unhealthy(self) -> bool {
        matches!(self, Self::Degraded | Self::Down)
    }

    /// The word on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Skipped => "skipped",
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

impl Tally {
    pub(crate) const fn add(&mut self, status: Status) {
        let count = self.count(status);
        *count = count.saturating_add(1);
    }

    pub(crate) const fn remove(&mut self, status: Status) {
        let count = self.count(status);
        *count = count.saturating_sub(1);
    }

    /// What all of them say together; `None` when there is none. One report that is known to be fine
    /// counts more than any number that tell nothing.
    pub(crate) const fn together(&self) -> Option<Status> {
        Some(if self.down > 0 {
            Status::Down
        } else if self.degraded > 0 {
            Status::Degraded
        } else if self.healthy > 0 {
            Status::Healthy
        } else if self.unknown > 0 {
            Status::Unknown
        } else if self.skipped > 0 {
            Status::Skipped
        } else {
            return None;
        })
    }

    const fn count(&mut self, status: Status) -> &mut u32 {
        match status {
            Status::Skipped => &mut self.skipped,
            Status::Unknown => &mut self.unknown,
            Status::Healthy => &mut self.healthy,
            Status::Degraded => &mut self.degraded,
            Status::Down => &mut self.down,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Status::{Degraded, Down, Healthy, Skipped, Unknown};

    #[test]
    fn the_worst_that_is_known_counts() {
        for (reports, together) in [
            (&[] as &[_], None),
            (&[Skipped], Some(Skipped)),
            (&[Skipped, Unknown], Some(Unknown)),
            (&[Unknown, Unknown, Healthy, Skipped], Some(Healthy)),
            (&[Healthy, Degraded, Unknown], Some(Degraded)),
            (&[Degraded, Down, Healthy], Some(Down)),
        ] {
            let mut tally = Tally::default();
            reports.iter().for_each(|&status| tally.add(status));
            assert_eq!(tally.together(), together, "{reports:?}");
            assert_eq!(reports.iter().copied().max(), together, "{reports:?}");
            reports.iter().for_each(|&status| tally.remove(status));
            assert_eq!(tally, Tally::default());
        }
    }

    #[test]
    fn only_what_is_known_to_fail_is_unhealthy() {
        let unhealthy: Vec<_> = Status::ALL.into_iter().filter(|one| one.is_unhealthy()).collect();
        assert_eq!(unhealthy, [Degraded, Down]);
    }

    #[test]
    fn every_name_is_read_back() {
        for status in Status::ALL {
            assert_eq!(Status::from_name(status.name()), Some(status));
        }
        assert_eq!(Status::from_name("Down"), None);
    }
}
