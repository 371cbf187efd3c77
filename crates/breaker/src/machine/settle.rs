//! Takes in how calls ended, and judges.

use super::half_open::Judgement;
use super::starts::Ended;
use super::{Admission, Attempt, Change, Machine, Phase, Rules, Settlement, Track};
use crate::moment::Moment;
use crate::state::{Cause, FailureKind, Outcome, Settled};

/// How a call ended, and which of several attempts at one it was.
#[derive(Debug)]
pub(crate) struct End<'a> {
    pub(crate) outcome: Outcome,
    pub(crate) attempt: Option<Attempt<'a>>,
}

impl Machine {
    /// Takes in how a call ended.
    pub(crate) fn settle(
        &mut self,
        admission: Admission,
        end: End<'_>,
        now: Moment,
        rules: &Rules,
        changes: &mut Vec<Change>,
    ) -> Settlement {
        let End { outcome, attempt } = end;
        self.totals_mut().ended += 1;
        let Some((ended, began)) = self.take_out(admission, attempt, now, rules) else {
            self.totals_mut().stale += 1;
            return Settlement {
                settled: Settled::Stale,
                counted: None,
                timed_out: false,
                began: None,
            };
        };
        let counted = weigh(ended, outcome);
        let timed_out = outcome == Outcome::Failure(FailureKind::Timeout);
        self.totals_mut().timeout += u64::from(timed_out);
        if let Some(outcome) = counted {
            self.count(outcome);
            self.judge(outcome, now, rules, changes);
        }
        self.sweep(now, rules, changes);
        Settlement { settled: Settled::Counted, counted, timed_out, began }
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

    /// Counts the calls that are in flight for too long. They go on, and probes keep their slots.
    pub(crate) fn sweep(&mut self, now: Moment, rules: &Rules, changes: &mut Vec<Change>) {
        let overdue = match &mut self.phase {
            Phase::HalfOpen(half_open) => half_open.sweep(now, rules.slow_call),
            _ => self.evidence.starts().map_or(0, |starts| starts.sweep(now)),
        };
        let generation = self.generation;
        for _ in 0..overdue {
            // The one that opens the breaker makes the others calls of another generation.
            if self.generation != generation {
                return;
            }
            let slow = Outcome::Failure(FailureKind::Slow);
            changes.push(Change::SlowInFlight);
            self.count(slow);
            self.judge(slow, now, rules, changes);
        }
    }

    /// Takes out a call that has ended. Says whether it was slow, and when it began if it was a probe;
    /// nothing if it belongs to another generation, or is a probe that was lost.
    fn take_out(
        &mut self,
        admission: Admission,
        attempt: Option<Attempt<'_>>,
        now: Moment,
        rules: &Rules,
    ) -> Option<(Ended, Option<Moment>)> {
        let half_open = match &mut self.phase {
            Phase::HalfOpen(half_open) => Some(&mut **half_open),
            _ => None,
        };
        let starts = self.evidence.starts();
        if admission.generation != self.generation {
            if let Some(attempt) = attempt.filter(|attempt| attempt.decides) {
                attempt.attempts.conclude(self.generation, half_open, starts, now);
            }
            return None;
        }
        match (admission.track, half_open, starts, attempt) {
            (Track::Probe(number), Some(half_open), _, mut attempt) => {
                let (ended, began) =
                    half_open.end(number, attempt.as_ref(), now, rules.slow_call)?;
                if let Some(attempt) = &mut attempt {
                    attempt.note(ended);
                }
                Some((ended, Some(began)))
            }
            (Track::Since(_), _, Some(starts), Some(mut attempt)) => {
                Some((attempt.end(starts, now), None))
            }
            (Track::Since(began), _, Some(starts), None) => Some((starts.end(began, now), None)),
            _ => Some((Ended::InTime, None)),
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
            (Phase::HalfOpen(_), None) => self.without_operator(now, changes),
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
            Some(_) => half_open.without_operator(),
            None => {}
        }
    }
}

/// How an outcome counts, with its duration in mind.
fn weigh(ended: Ended, outcome: Outcome) -> Option<Outcome> {
    match (ended, outcome) {
        (Ended::AlreadyCounted, _) => None,
        (Ended::InTime, outcome) | (Ended::Slow, outcome @ Outcome::Failure(_)) => Some(outcome),
        // Whatever it says: it counts as it would have, had somebody asked a moment before.
        (Ended::Slow, _) => Some(Outcome::Failure(FailureKind::Slow)),
    }
}
