//! What people do to the reference.

use std::time::Duration;

use mainstay_breaker::{Cause, MAX_SAVED_GENERATION, RestoreError, Saved, State};

use super::super::operation::Operation;
use super::super::picture::Answer;
use super::{HalfOpen, Phase, Reference};

impl Reference {
    /// An operator's call: while open it is the one probe.
    pub(super) fn enter_probe(&mut self) -> Answer {
        self.sweep();
        self.write_down_what_time_changed();
        if let Phase::Open { until } = self.phase {
            let half_open = HalfOpen { operator_until: Some(until), ..HalfOpen::default() };
            self.turn(Phase::HalfOpen(half_open), Cause::OperatorProbe);
        }
        self.enter(None)
    }

    pub(super) fn steer(&mut self, operation: Operation) -> Answer {
        match operation {
            Operation::ForceOpen => self.turn(Phase::ForcedOpen, Cause::Forced),
            Operation::ForceClosed => self.close(Phase::ForcedClosed, Cause::Forced),
            Operation::Reset => self.close(Phase::Closed, Cause::Reset),
            Operation::Export => {
                self.sweep();
                let saved = self.export();
                self.kept = Some(saved);
                return Answer::Saved(saved);
            }
            Operation::Restore => {
                if let Some(saved) = self.kept {
                    return self.restore(&saved);
                }
            }
            Operation::RestoreMade { state, forced, failures, remaining, generation } => {
                let open_remaining = self.setup.duration(remaining);
                let saved = Saved { state, forced, failures, open_remaining, generation };
                return self.restore(&saved);
            }
            _ => {}
        }
        Answer::Nothing
    }

    /// As long as it refuses by time, that time is what remains.
    fn export(&self) -> Saved {
        let state = self.state();
        let refuses_for = self.would_reject().and_then(|rejected| rejected.retry_after);
        let failures = if self.counts_consecutive() { self.consecutive() } else { 0 };
        Saved {
            state,
            forced: self.is_forced(),
            failures,
            open_remaining: refuses_for.filter(|_| state == State::Open).unwrap_or(Duration::ZERO),
            generation: self.generation.min(MAX_SAVED_GENERATION),
        }
    }

    fn restore(&mut self, saved: &Saved) -> Answer {
        if saved.generation > MAX_SAVED_GENERATION {
            return Answer::Restored(Err(RestoreError { generation: saved.generation }));
        }
        let remaining = self.setup.ticks(saved.open_remaining).min(self.setup.open_for);
        let phase = match (saved.state, saved.forced) {
            (State::Closed, true) => Phase::ForcedClosed,
            (State::Closed, false) => Phase::Closed,
            (State::Open, true) => Phase::ForcedOpen,
            (State::Open, false) => Phase::Open { until: self.now + remaining },
            (State::HalfOpen, _) => Phase::Open { until: self.now },
        };
        self.generation = self.generation.max(saved.generation);
        self.results.clear();
        self.failures_before = saved.failures;
        self.turn(phase, Cause::Restored);
        Answer::Restored(Ok(()))
    }
}
