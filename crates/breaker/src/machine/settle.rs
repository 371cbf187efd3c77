//! Takes in how calls ended, and judges.

use super::half_open::Judgement;
use super::starts::Ended;
use super::{Admission, Change, Machine, Phase, Rules, Settlement};
use crate::moment::Moment;
use crate::state::{Cause, FailureKind, Outcome, Settled};

impl Machine {
    /// Takes in how a call ended.
    pub(crate) fn settle(
        &mut self,
        admission: Admission,
        outcome: Outcome,
        now: Moment,
        rules: &Rules,
        changes: &mut Vec<Change>,
    ) -> Settlement {
        self.totals_mut().ended += 1;
        if admission.generation != self.generation {
            self.totals_mut().stale += 1;
            return Settlement { settled: Settled::Stale, counted: None, timed_out: false };
        }
        let counted = self.weigh(admission, outcome, now);
        let timed_out = outcome == Outcome::Failure(FailureKind::Timeout);
        self.totals_mut().timeout += u64::from(timed_out);
        match counted {
            Some(outcome) => {
                self.count(outcome);
                self.judge(outcome, now, rules, changes);
            }
            // Counted in flight: only its slot is left.
            None => self.release_slot(),
        }
        self.sweep(now, rules, changes);
        Settlement { settled: Settled::Counted, counted, timed_out }
    }

    /// The short way of a success while closed, where a window takes it in and nobody tracks when
    /// calls began. `now` is asked only if it matters. False: it has to go the long way.
    #[inline]
    pub(crate) fn succeed_in_window(
        &mut self,
        generation: u64,
        now: impl Fn() -> Moment,
        rules: &Rules,
        changes: &mut Vec<Change>,
    ) -> bool {
        let is_current = generation == self.generation && matches!(self.phase, Phase::Closed);
        let Some(windows) = self.evidence.plain_windows().filter(|_| is_current) else {
            return false;
        };
        let opens = windows.record(false, &now);
        let totals = self.totals_mut();
        totals.ended += 1;
        totals.success += 1;
        if opens {
            self.open(Cause::Tripped, now(), rules, changes);
        }
        true
    }

    /// Counts the calls that are in flight for too long.
    pub(crate) fn sweep(&mut self, now: Moment, rules: &Rules, changes: &mut Vec<Change>) {
        let overdue = self.evidence.starts().map_or(0, |starts| starts.sweep(now));
        let generation = self.generation;
        for _ in 0..overdue {
            // The one that opens the breaker makes the others calls of another generation.
            if self.generation != generation {
                return;
            }
            let slow = Outcome::Failure(FailureKind::Slow);
            changes.push(Change::SlowInFlight);
            self.count(slow);
            // It is still running: a probe keeps its slot.
            self.hold_slot();
            self.judge(slow, now, rules, changes);
        }
    }

    /// How an outcome of this generation counts, with its duration in mind.
    fn weigh(&mut self, admission: Admission, outcome: Outcome, now: Moment) -> Option<Outcome> {
        let (Some(began), Some(starts)) = (admission.began, self.evidence.starts()) else {
            return Some(outcome);
        };
        let ended =
            if admission.is_hedged { starts.judge(began, now) } else { starts.end(began, now) };
        match (ended, outcome) {
            (Ended::AlreadyCounted, _) => None,
            (Ended::InTime, outcome) | (Ended::Slow, outcome @ Outcome::Failure(_)) => {
                Some(outcome)
            }
            // An attempt that was outrun has gone away, however long it took.
            (Ended::Slow, Outcome::Cancelled) if admission.is_hedged => Some(outcome),
            // Whatever it says: it counts as it would have, had somebody asked a moment before.
            (Ended::Slow, _) => Some(Outcome::Failure(FailureKind::Slow)),
        }
    }

    fn count(&mut self, outcome: Outcome) {
        let is_probe = matches!(self.phase, Phase::HalfOpen(_));
        let totals = self.totals_mut();
        match outcome {
            Outcome::Success => {
                totals.success += 1;
                totals.probe_success += u64::from(is_probe);
            }
            Outcome::Failure(kind) => {
                totals.failure += 1;
                totals.probe_failure += u64::from(is_probe);
                totals.slow += u64::from(kind == FailureKind::Slow);
            }
            Outcome::Ignored => totals.ignored += 1,
            Outcome::Cancelled => totals.cancelled += 1,
        }
    }

    fn hold_slot(&mut self) {
        if let Phase::HalfOpen(half_open) = &mut self.phase {
            half_open.hold();
        }
    }

    fn release_slot(&mut self) {
        if let Phase::HalfOpen(half_open) = &mut self.phase {
            half_open.release();
        }
    }

    fn judge(&mut self, outcome: Outcome, now: Moment, rules: &Rules, changes: &mut Vec<Change>) {
        let failed = match outcome {
            Outcome::Success => Some(false),
            Outcome::Failure(_) => Some(true),
            Outcome::Ignored | Outcome::Cancelled => None,
        };
        match (&mut self.phase, failed) {
            (Phase::Closed, Some(failed)) => {
                if self.evidence.record(failed, now) {
                    self.open(Cause::Tripped, now, rules, changes);
                }
            }
            (Phase::HalfOpen(half_open), Some(failed)) => {
                match half_open.settle(failed, rules.close) {
                    Judgement::Wait => {}
                    Judgement::Close => {
                        self.close(Phase::Closed, Cause::ProbesSucceeded, now, changes);
                    }
                    Judgement::Reopen => self.open(Cause::ProbesFailed, now, rules, changes),
                }
            }
            (Phase::HalfOpen(half_open), None) => {
                half_open.release();
                self.without_operator(now, changes);
            }
            (Phase::Closed | Phase::ForcedClosed | Phase::Open { .. } | Phase::ForcedOpen, _) => {}
        }
    }

    /// The operator's probe ended without a result: back to open, if its time is not over.
    fn without_operator(&mut self, now: Moment, changes: &mut Vec<Change>) {
        let Phase::HalfOpen(half_open) = &mut self.phase else { return };
        match half_open.open_until() {
            Some(until) if now < until => {
                self.turn(Phase::Open { until }, Cause::OperatorProbeGone, now, changes);
            }
            Some(_) => **half_open = half_open.without_lost(),
            None => {}
        }
    }
}
