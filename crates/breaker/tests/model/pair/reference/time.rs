//! How the reference changes its state: by results and by time.

use mainstay_breaker::{Cause, Event, Moment, State};

use super::super::setup::Close;
use super::{Call, HalfOpen, Outcome, Phase, Reference, Seen, number};

/// What time alone has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    Nothing,
    HalfOpen,
    LostProbes,
    OpenAgain { until: u64 },
}

enum Verdict {
    Wait,
    Close,
    Reopen,
}

impl Reference {
    pub(super) fn judge(&mut self, outcome: Outcome) {
        let failed = match outcome {
            Outcome::Success => false,
            Outcome::Failure(_) => true,
            Outcome::Ignored | Outcome::Cancelled => return self.operator_went_away(),
        };
        match &mut self.phase {
            Phase::Closed => {
                self.results.push(Seen { at: self.now, failed });
                if self.is_tripped() {
                    self.open(Cause::Tripped);
                }
            }
            Phase::HalfOpen(half_open) => {
                half_open.operator_until = None;
                half_open.results.push(failed);
                match self.verdict() {
                    Verdict::Wait => {}
                    Verdict::Close => self.close(Phase::Closed, Cause::ProbesSucceeded),
                    Verdict::Reopen => self.open(Cause::ProbesFailed),
                }
            }
            Phase::Open { .. } | Phase::ForcedOpen | Phase::ForcedClosed => {}
        }
    }

    pub(super) fn due(&self) -> Due {
        match &self.phase {
            Phase::Open { until } if self.now >= *until => Due::HalfOpen,
            Phase::HalfOpen(half_open) if self.lost_at().is_some_and(|at| self.now >= at) => {
                match half_open.operator_until {
                    Some(until) if self.now < until => Due::OpenAgain { until },
                    _ => Due::LostProbes,
                }
            }
            _ => Due::Nothing,
        }
    }

    pub(super) fn write_down_what_time_changed(&mut self) {
        match self.due() {
            Due::Nothing => {}
            Due::HalfOpen => self.turn(Phase::HalfOpen(HalfOpen::default()), Cause::Waited),
            Due::LostProbes => {
                self.lose_probes();
                if let Phase::HalfOpen(half_open) = &mut self.phase {
                    half_open.operator_until = None;
                }
            }
            Due::OpenAgain { until } => {
                self.lose_probes();
                self.turn(Phase::Open { until }, Cause::OperatorProbeGone);
            }
        }
    }

    /// Those that are in flight for as long as half-open may last are given up.
    fn lose_probes(&mut self) {
        let (now, longest, generation) = (self.now, self.setup.half_open_for, self.generation);
        for call in &mut self.calls {
            let is_over = now - call.began.1 >= longest;
            if call.generation == generation && is_over && !call.is_lost {
                call.is_lost = true;
                self.counts.probe_lost += 1;
            }
        }
    }

    /// When the next probe is lost.
    pub(super) fn lost_at(&self) -> Option<u64> {
        self.probes().map(|call| call.began.1 + self.setup.half_open_for).min()
    }

    /// The calls of a half-open breaker that have not ended, also those that were found slow.
    pub(super) fn probes(&self) -> impl Iterator<Item = &Call> {
        let is_half_open = matches!(self.phase, Phase::HalfOpen(_));
        self.calls.iter().filter(move |call| is_half_open && self.is_current(call))
    }

    pub(super) fn close(&mut self, closed: Phase, cause: Cause) {
        self.results.clear();
        self.failures_before = 0;
        self.turn(closed, cause);
    }

    pub(super) fn turn(&mut self, phase: Phase, cause: Cause) {
        let (from, to) = (self.phase.state(), phase.state());
        let was_forced = self.is_forced();
        self.phase = phase;
        self.generation += 1;
        if from == to && was_forced == self.is_forced() {
            return;
        }
        self.changed_at = self.now;
        if from != to && !matches!(cause, Cause::Restored | Cause::OperatorProbeGone) {
            match to {
                State::Closed => self.counts.closed += 1,
                State::Open => self.counts.opened += 1,
                State::HalfOpen => self.counts.half_opened += 1,
            }
        }
        let (generation, at) = (self.generation, self.moment(self.now));
        self.told.push(Event::StateChange { from, to, cause, generation, at });
    }

    pub(super) fn moment(&self, ticks: u64) -> Moment {
        Moment::default().plus(self.setup.duration(ticks))
    }

    fn open(&mut self, cause: Cause) {
        let until = self.now + self.setup.open_for;
        self.turn(Phase::Open { until }, cause);
    }

    /// A probe ended without a result. If it was the operator's, the breaker is open as before.
    fn operator_went_away(&mut self) {
        let Phase::HalfOpen(half_open) = &mut self.phase else { return };
        if let Some(until) = half_open.operator_until.take()
            && self.now < until
        {
            self.turn(Phase::Open { until }, Cause::OperatorProbeGone);
        }
    }

    /// What the probes say together, as soon as no further probe can change it.
    fn verdict(&self) -> Verdict {
        let Phase::HalfOpen(half_open) = &self.phase else { return Verdict::Wait };
        let count = |failed: bool| half_open.results.iter().filter(|one| **one == failed).count();
        let (successes, failures) = (number(count(false)), number(count(true)));
        let (is_enough, is_hopeless) = match self.setup.close {
            Close::All => (successes == self.setup.max_trials, failures > 0),
            Close::Successes(wanted) => (successes == wanted, failures > 0),
            Close::Rate { trials, quarters } => {
                // One success is the least, whatever the rate says.
                let is_enough = |number: u32| number > 0 && number * 4 >= quarters * trials;
                (is_enough(successes), !is_enough(trials - failures))
            }
        };
        match (is_enough, is_hopeless) {
            (_, true) => Verdict::Reopen,
            (true, false) => Verdict::Close,
            (false, false) => Verdict::Wait,
        }
    }
}
