//! The state machine: pure, single-threaded, and the only judge. `now` is an argument; whoever
//! holds the lock calls it and announces the [`Change`]s afterwards.
//!
//! [`rules`] are the numbers it goes by, [`evidence`] is what it knows while closed
//! ([`time_ring`], [`count_ring`], [`starts`]), [`half_open`] what it knows of its probes,
//! [`totals`] what it has counted. `steer` is what people do to it.

mod count_ring;
mod evidence;
mod half_open;
mod rules;
mod starts;
mod steer;
mod time_ring;
mod totals;

pub(crate) use evidence::Readings;
pub(crate) use rules::{CloseRule, Rule, Rules, Threshold};
pub(crate) use totals::{LatencyTally, Totals};

use std::time::Duration;

use crate::moment::Moment;
use crate::state::{Cause, FailureKind, Outcome, Settled, State};
use evidence::Evidence;
use half_open::{HalfOpen, Verdict};
use starts::Ended;

/// How many results a window holds, and how many of them are failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Reading {
    pub(crate) samples: u32,
    pub(crate) failures: u32,
}

/// A breaker's whole state but for what is counted without a lock.
#[derive(Debug)]
pub(crate) struct Machine {
    phase: Phase,
    generation: u64,
    changed_at: Moment,
    evidence: Evidence,
    totals: Option<Box<Totals>>,
    latency: LatencyTally,
}

#[derive(Debug, Clone)]
enum Phase {
    Closed,
    Open { until: Moment },
    HalfOpen(Box<HalfOpen>),
    ForcedClosed,
    ForcedOpen,
}

/// What time alone has changed and nobody has written down yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    Nothing,
    HalfOpen,
    LostProbes,
    /// The operator's probe is lost, and the breaker would still be open without it.
    OpenAgain {
        until: Moment,
    },
}

/// A call that was let through: what its permit carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Admission {
    pub(crate) generation: u64,
    /// When it began, where slow calls count.
    pub(crate) began: Option<Moment>,
}

/// Why a call is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) state: State,
    /// Absent where only a person can change it.
    pub(crate) retry_after: Option<Duration>,
}

/// What others are told, in the order in which it happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    State {
        from: State,
        to: State,
        cause: Cause,
        generation: u64,
        at: Moment,
    },
    /// A call that is still in flight was counted as slow.
    SlowInFlight,
}

/// How a call counted in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Settlement {
    pub(crate) settled: Settled,
    /// A success that took too long is a failure; a call that was counted in flight is nothing more.
    pub(crate) counted: Option<Outcome>,
}

/// What the gate must know to answer without the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Door {
    pub(crate) generation: u64,
    pub(crate) state: State,
    /// Open for ever, or closed whatever comes.
    pub(crate) is_forced: bool,
    /// A success changes nothing.
    pub(crate) ignores_success: bool,
    /// Every admission must be written down.
    pub(crate) tracks_starts: bool,
    /// When open ends.
    pub(crate) until: Option<Moment>,
}

impl Machine {
    pub(crate) fn new(rules: &Rules, now: Moment) -> Self {
        Self {
            phase: Phase::Closed,
            generation: 0,
            changed_at: now,
            evidence: Evidence::new(rules),
            totals: None,
            latency: LatencyTally::default(),
        }
    }

    /// Asks for a call.
    pub(crate) fn enter(
        &mut self,
        now: Moment,
        rules: &Rules,
        changes: &mut Vec<Change>,
    ) -> Result<Admission, Refusal> {
        self.sweep(now, rules, changes);
        self.catch_up(now, changes);
        if let Some(refusal) = self.refusal(now, rules) {
            return Err(refusal);
        }
        if let Phase::HalfOpen(half_open) = &mut self.phase {
            half_open.admit(now, rules);
        }
        Ok(self.admission(now))
    }

    /// Asks for an operator's call: while open it goes through as the one probe.
    pub(crate) fn enter_probe(
        &mut self,
        now: Moment,
        rules: &Rules,
        changes: &mut Vec<Change>,
    ) -> Result<Admission, Refusal> {
        self.sweep(now, rules, changes);
        self.catch_up(now, changes);
        if let Phase::Open { until } = self.phase {
            let half_open = HalfOpen::for_operator(until);
            self.turn(Phase::HalfOpen(Box::new(half_open)), Cause::OperatorProbe, now, changes);
        }
        self.enter(now, rules, changes)
    }

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
            return Settlement { settled: Settled::Stale, counted: None };
        }
        let counted = self.weigh(admission, outcome, now);
        if let Some(outcome) = counted {
            self.count(outcome);
            self.judge(outcome, now, rules, changes);
        }
        self.sweep(now, rules, changes);
        Settlement { settled: Settled::Counted, counted }
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
            self.judge(slow, now, rules, changes);
        }
    }

    /// The state that `enter` would find.
    pub(crate) fn state(&self, now: Moment) -> State {
        match self.due(now) {
            Due::Nothing => self.phase.state(),
            Due::HalfOpen | Due::LostProbes => State::HalfOpen,
            Due::OpenAgain { .. } => State::Open,
        }
    }

    /// What `enter` would answer, without taking anything.
    pub(crate) fn would_refuse(&self, now: Moment, rules: &Rules) -> Option<Refusal> {
        match self.due(now) {
            Due::Nothing => self.refusal(now, rules),
            Due::HalfOpen | Due::LostProbes => None,
            Due::OpenAgain { until } => Some(Refusal::open(until.since(now))),
        }
    }

    pub(crate) fn door(&self) -> Door {
        Door {
            generation: self.generation,
            state: self.phase.state(),
            is_forced: self.phase.is_forced(),
            ignores_success: self.evidence.ignores_success(),
            tracks_starts: self.evidence.tracks_starts(),
            until: match self.phase {
                Phase::Open { until } => Some(until),
                _ => None,
            },
        }
    }

    pub(crate) fn measure(&mut self, took: Duration) {
        self.latency.add(took);
    }

    pub(crate) fn latency(&self) -> LatencyTally {
        self.latency
    }

    pub(crate) fn totals(&self) -> Totals {
        self.totals.as_deref().copied().unwrap_or_default()
    }

    pub(crate) fn readings(&mut self, now: Moment) -> Readings {
        self.evidence.read(now)
    }

    pub(crate) fn changed_at(&self) -> Moment {
        self.changed_at
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// What time alone has changed.
    fn due(&self, now: Moment) -> Due {
        match &self.phase {
            Phase::Open { until } if now >= *until => Due::HalfOpen,
            Phase::HalfOpen(half_open) if half_open.are_lost(now) => match half_open.open_until() {
                Some(until) if now < until => Due::OpenAgain { until },
                _ => Due::LostProbes,
            },
            _ => Due::Nothing,
        }
    }

    /// Writes down what time alone has changed.
    fn catch_up(&mut self, now: Moment, changes: &mut Vec<Change>) {
        let due = self.due(now);
        if let Phase::HalfOpen(half_open) = &self.phase
            && due != Due::Nothing
        {
            let lost = u64::from(half_open.in_flight());
            self.totals_mut().probe_lost += lost;
        }
        match due {
            Due::Nothing => {}
            Due::HalfOpen => {
                let fresh = Phase::HalfOpen(Box::new(HalfOpen::new()));
                self.turn(fresh, Cause::Waited, now, changes);
            }
            Due::LostProbes => self.go_on_without_lost(),
            Due::OpenAgain { until } => {
                self.turn(Phase::Open { until }, Cause::OperatorProbeGone, now, changes);
            }
        }
    }

    /// A new generation of the same spell: whatever the lost ones still say is stale.
    fn go_on_without_lost(&mut self) {
        if let Phase::HalfOpen(half_open) = &mut self.phase {
            **half_open = half_open.without_lost();
        }
        self.next_generation();
    }

    fn refusal(&self, now: Moment, rules: &Rules) -> Option<Refusal> {
        match &self.phase {
            Phase::Closed | Phase::ForcedClosed => None,
            Phase::Open { until } => Some(Refusal::open(until.since(now))),
            Phase::ForcedOpen => Some(Refusal { state: State::Open, retry_after: None }),
            Phase::HalfOpen(half_open) => half_open.is_full(rules).then(|| Refusal {
                state: State::HalfOpen,
                retry_after: Some(half_open.lost_at().since(now)),
            }),
        }
    }

    fn admission(&mut self, now: Moment) -> Admission {
        let began = self.evidence.starts().map(|starts| starts.begin(now));
        Admission { generation: self.generation, began }
    }

    /// How an outcome of this generation counts, with its duration in mind.
    fn weigh(&mut self, admission: Admission, outcome: Outcome, now: Moment) -> Option<Outcome> {
        let (Some(began), Some(starts)) = (admission.began, self.evidence.starts()) else {
            return Some(outcome);
        };
        match (starts.end(began, now), outcome) {
            (Ended::AlreadyCounted, _) => None,
            (Ended::Slow, Outcome::Success) => Some(Outcome::Failure(FailureKind::Slow)),
            (Ended::Slow | Ended::InTime, outcome) => Some(outcome),
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
                totals.timeout += u64::from(kind == FailureKind::Timeout);
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
                if self.evidence.record(failed, now, rules) {
                    self.open(Cause::Tripped, now, rules, changes);
                }
            }
            (Phase::HalfOpen(half_open), Some(failed)) => {
                match half_open.settle(failed, rules.close) {
                    Verdict::Wait => {}
                    Verdict::Close => {
                        self.close(Phase::Closed, Cause::ProbesSucceeded, now, changes);
                    }
                    Verdict::Reopen => self.open(Cause::ProbesFailed, now, rules, changes),
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

    fn open(&mut self, cause: Cause, now: Moment, rules: &Rules, changes: &mut Vec<Change>) {
        let until = self.no_earlier(now).plus(rules.open_for);
        self.turn(Phase::Open { until }, cause, now, changes);
    }

    fn close(&mut self, closed: Phase, cause: Cause, now: Moment, changes: &mut Vec<Change>) {
        self.evidence.reset();
        self.turn(closed, cause, now, changes);
    }

    /// The one place where a state changes: with its time, its generation and its count.
    fn turn(&mut self, phase: Phase, cause: Cause, now: Moment, changes: &mut Vec<Change>) {
        let (from, to) = (self.phase.state(), phase.state());
        self.phase = phase;
        self.next_generation();
        if from == to {
            return;
        }
        let now = self.no_earlier(now);
        self.changed_at = now;
        // What was restored happened before, and was counted then.
        if cause != Cause::Restored {
            let totals = self.totals_mut();
            match to {
                State::Closed => totals.closed += 1,
                State::Open => totals.opened += 1,
                State::HalfOpen => totals.half_opened += 1,
            }
        }
        changes.push(Change::State { from, to, cause, generation: self.generation, at: now });
    }

    /// Whoever came first to the clock may come second to the lock: changes are dated in order.
    fn no_earlier(&self, now: Moment) -> Moment {
        now.max(self.changed_at)
    }

    fn next_generation(&mut self) {
        self.generation = self.generation.saturating_add(1);
        if let Some(starts) = self.evidence.starts() {
            starts.reset();
        }
    }

    fn totals_mut(&mut self) -> &mut Totals {
        self.totals.get_or_insert_default()
    }
}

impl Phase {
    fn state(&self) -> State {
        match self {
            Self::Closed | Self::ForcedClosed => State::Closed,
            Self::Open { .. } | Self::ForcedOpen => State::Open,
            Self::HalfOpen(_) => State::HalfOpen,
        }
    }

    fn is_forced(&self) -> bool {
        matches!(self, Self::ForcedClosed | Self::ForcedOpen)
    }
}

impl Refusal {
    fn open(retry_after: Duration) -> Self {
        Self { state: State::Open, retry_after: Some(retry_after) }
    }
}

impl Reading {
    /// The share of failures, or zero where there is nothing to speak of.
    #[inline]
    pub(crate) fn error_rate(self) -> f64 {
        if self.samples == 0 { 0.0 } else { f64::from(self.failures) / f64::from(self.samples) }
    }

    #[inline]
    fn add(&mut self, failed: bool) {
        self.samples = self.samples.saturating_add(1);
        self.failures = self.failures.saturating_add(u32::from(failed));
    }

    #[inline]
    fn take(&mut self, gone: Self) {
        self.samples = self.samples.saturating_sub(gone.samples);
        self.failures = self.failures.saturating_sub(gone.failures);
    }
}
