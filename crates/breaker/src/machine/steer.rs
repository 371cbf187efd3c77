//! What people do to a breaker: force it, reset it, carry it over a restart.

use std::time::Duration;

use super::admit::Due;
use super::{Change, Machine, Phase, Rules};
use crate::moment::Moment;
use crate::saved::{MAX_SAVED_GENERATION, Saved};
use crate::state::{Cause, State};

impl Machine {
    /// Refuses every call until somebody resets it.
    pub(crate) fn force_open(&mut self, now: Moment, changes: &mut Vec<Change>) {
        self.turn(Phase::ForcedOpen, Cause::Forced, now, changes);
    }

    /// Lets every call through, whatever comes back, until somebody resets it.
    pub(crate) fn force_closed(&mut self, now: Moment, changes: &mut Vec<Change>) {
        self.close(Phase::ForcedClosed, Cause::Forced, now, changes);
    }

    /// Closes it and forgets what it had against the downstream, but not the totals.
    pub(crate) fn reset(&mut self, now: Moment, changes: &mut Vec<Change>) {
        self.close(Phase::Closed, Cause::Reset, now, changes);
    }

    /// What can be carried over a restart: durations, no moments.
    pub(crate) fn export(&mut self, now: Moment) -> Saved {
        let open_remaining = match (self.due(now), &self.phase) {
            (Due::OpenAgain { until }, _) => until.since(now),
            (Due::Nothing, Phase::Open { until }) => until.since(now),
            _ => Duration::ZERO,
        };
        Saved {
            state: self.state(now),
            forced: self.phase.is_forced(),
            failures: self.readings(now).consecutive.unwrap_or(0),
            open_remaining,
            // Whatever is saved can be restored, and the one who does begins above it in any case.
            generation: self.generation.min(MAX_SAVED_GENERATION),
        }
    }

    /// Goes on where another left off. Half-open comes back as open with nothing remaining: its
    /// probes died with the one who sent them.
    pub(crate) fn restore(
        &mut self,
        saved: &Saved,
        now: Moment,
        rules: &Rules,
        changes: &mut Vec<Change>,
    ) {
        let open_for = |remaining: Duration| Phase::Open { until: now.plus(remaining) };
        let phase = match (saved.state, saved.forced) {
            (State::Closed, true) => Phase::ForcedClosed,
            (State::Closed, false) => Phase::Closed,
            (State::Open, true) => Phase::ForcedOpen,
            // The rules may have become shorter since.
            (State::Open, false) => open_for(saved.open_remaining.min(rules.open_for)),
            (State::HalfOpen, _) => open_for(Duration::ZERO),
        };
        self.generation = self.generation.max(saved.generation);
        self.evidence.reset();
        self.evidence.restore(saved.failures);
        self.turn(phase, Cause::Restored, now, changes);
    }
}
