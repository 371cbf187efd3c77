//! How a dependency was over a span of time: the state at its start, and each change once. Pure.

use mainstay_base::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::report::DependencyStatus;

/// The most changes of one timeline; of more, the oldest are left out and it begins later.
pub const MAX_TRANSITIONS: usize = 2_000;

/// How a dependency was over a span of time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Timeline {
    /// When it begins.
    #[schema(value_type = String, format = DateTime)]
    pub from: Timestamp,
    /// When it ends.
    #[schema(value_type = String, format = DateTime)]
    pub to: Timestamp,
    /// How the dependency was when it begins.
    pub initial: DependencyStatus,
    /// What changed since, oldest first.
    pub transitions: Vec<Transition>,
}

/// A change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Transition {
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// How the dependency was from then on.
    pub status: DependencyStatus,
}

/// What a row says from its moment on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    /// What its service says of it.
    Status(DependencyStatus),
    /// Whether its service reports it.
    Present(bool),
    /// Whether its service can be polled.
    Fresh(bool),
}

/// What is known at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    status: DependencyStatus,
    present: bool,
    fresh: bool,
}

impl Known {
    /// Before anything was said.
    pub(crate) const NOTHING: Self =
        Self { status: DependencyStatus::Unknown, present: true, fresh: true };

    pub(crate) fn hear(&mut self, said: Said) {
        match said {
            Said::Status(status) => self.status = status,
            Said::Present(present) => self.present = present,
            Said::Fresh(fresh) => self.fresh = fresh,
        }
    }

    const fn shown(self) -> DependencyStatus {
        if self.present && self.fresh { self.status } else { DependencyStatus::Unknown }
    }
}

/// The timeline of what was said since `from`, oldest first, by what was known then.
pub(crate) fn timeline(
    mut known: Known,
    from: Timestamp,
    to: Timestamp,
    said: &[(Timestamp, Said)],
) -> Timeline {
    let initial = known.shown();
    let mut transitions: Vec<Transition> = Vec::new();
    let mut shown = initial;
    for (index, (at, what)) in said.iter().enumerate() {
        known.hear(*what);
        // What is said at one moment is one change.
        let goes_on = said.get(index.saturating_add(1)).is_some_and(|(next, _)| next == at);
        if goes_on || known.shown() == shown {
            continue;
        }
        shown = known.shown();
        transitions.push(Transition { at: *at, status: shown });
    }
    Timeline { from, to, initial, transitions }
}

#[cfg(test)]
mod tests {
    use super::*;
    use DependencyStatus::{Degraded, Down, Healthy, Unknown};

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn told(
        known: Known,
        said: &[(i64, Said)],
    ) -> (DependencyStatus, Vec<(i64, DependencyStatus)>) {
        let said: Vec<_> = said.iter().map(|(when, what)| (at(*when), *what)).collect();
        let timeline = timeline(known, at(0), at(100), &said);
        let turns = timeline.transitions.iter().map(|turn| (turn.at.as_millis(), turn.status));
        (timeline.initial, turns.collect())
    }

    #[test]
    fn a_service_that_can_not_be_polled_hides_what_it_last_said() {
        let known = Known { status: Healthy, ..Known::NOTHING };
        let said = [
            (10, Said::Fresh(false)),
            (20, Said::Fresh(true)),
            (20, Said::Status(Down)),
            (30, Said::Present(false)),
            (40, Said::Fresh(false)),
            (50, Said::Fresh(true)),
            (60, Said::Present(true)),
            (60, Said::Status(Degraded)),
        ];
        let turns = vec![(10, Unknown), (20, Down), (30, Unknown), (60, Degraded)];
        assert_eq!(told(known, &said), (Healthy, turns));
    }

    #[test]
    fn what_stays_the_same_is_no_change() {
        let known = Known { status: Healthy, fresh: false, ..Known::NOTHING };
        let said = [(10, Said::Status(Down)), (20, Said::Fresh(true)), (30, Said::Status(Down))];
        assert_eq!(told(known, &said), (Unknown, vec![(20, Down)]));
        assert_eq!(told(Known::NOTHING, &[]), (Unknown, vec![]));
    }
}
