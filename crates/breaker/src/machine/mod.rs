//! The state machine: pure, single-threaded, and the only judge. `now` is an argument; whoever
//! holds the lock calls it and announces the [`Change`]s afterwards.
//!
//! [`rules`] are the numbers it goes by, [`evidence`] is what it knows while closed
//! ([`time_ring`], [`count_ring`], [`starts`]), [`half_open`] what it knows of its probes,
//! [`attempts`] what it knows of hedged calls, [`totals`] what it has counted. [`admit`] lets calls
//! through, [`settle`] takes in how they ended, [`steer`] is what people do to it.

mod admit;
mod attempts;
mod count_ring;
mod evidence;
mod half_open;
mod rules;
mod settle;
mod starts;
mod steer;
mod time_ring;
mod totals;

pub(crate) use attempts::{Attempt, Attempts};
pub(crate) use evidence::Readings;
pub(crate) use rules::{CloseRule, Rule, Rules, Threshold};
pub(crate) use settle::End;
pub(crate) use totals::{LatencyTally, Totals};

use std::time::Duration;

use crate::moment::Moment;
use crate::state::{Cause, Outcome, Settled, State};
use admit::Due;
use evidence::Evidence;
use half_open::HalfOpen;

/// How many results a window holds, and how many of them are failures. A window of weeks holds more
/// than 32 bits can count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Reading {
    pub(crate) samples: u64,
    pub(crate) failures: u64,
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

/// A call that was let through: what its permit carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Admission {
    pub(crate) generation: u64,
    pub(crate) track: Track,
}

/// How the machine finds a call again that it let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Track {
    /// It need not.
    Nothing,
    /// A call while closed, where slow calls count: by when it began.
    Since(Moment),
    /// A probe: by its number.
    Probe(u64),
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
    /// It did not end in time, also where it was counted before as slow.
    pub(crate) timed_out: bool,
    /// When it began, if it was a probe.
    pub(crate) began: Option<Moment>,
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

    /// When the last change was written down.
    pub(crate) fn written_at(&self) -> Moment {
        self.changed_at
    }

    /// When the state changed that `enter` would find.
    pub(crate) fn changed_at(&self, now: Moment) -> Moment {
        match (&self.phase, self.due(now)) {
            (Phase::Open { until }, Due::HalfOpen) => *until,
            (Phase::HalfOpen(half_open), Due::OpenAgain { .. }) => {
                half_open.lost_at().unwrap_or(self.changed_at)
            }
            _ => self.changed_at,
        }
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation
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
        let is_told = from != to || self.phase.is_forced() != phase.is_forced();
        self.phase = phase;
        self.next_generation();
        if !is_told {
            return;
        }
        let at = self.no_earlier(now);
        self.changed_at = at;
        // What was restored, or goes on as before, was counted when it began.
        if from != to && !matches!(cause, Cause::Restored | Cause::OperatorProbeGone) {
            let totals = self.totals_mut();
            match to {
                State::Closed => totals.closed += 1,
                State::Open => totals.opened += 1,
                State::HalfOpen => totals.half_opened += 1,
            }
        }
        changes.push(Change::State { from, to, cause, generation: self.generation, at });
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

    #[inline]
    fn totals_mut(&mut self) -> &mut Totals {
        self.totals.get_or_insert_with(Box::default)
    }
}

impl Settlement {
    /// Whether the call's latency says something: it had a result, also one that was counted before.
    pub(crate) fn is_measured(&self, outcome: Outcome) -> bool {
        let has_result = |outcome| matches!(outcome, Outcome::Success | Outcome::Failure(_));
        self.settled == Settled::Counted && has_result(self.counted.unwrap_or(outcome))
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

impl Reading {
    /// The share of failures, or zero where there is nothing to speak of.
    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "exact up to nine million billion results")]
    pub(crate) fn error_rate(self) -> f64 {
        if self.samples == 0 { 0.0 } else { self.failures as f64 / self.samples as f64 }
    }

    #[inline]
    fn add(&mut self, failed: bool) {
        // One result in each nanosecond would take centuries to get to the end.
        self.samples += 1;
        self.failures += u64::from(failed);
    }

    #[inline]
    fn take(&mut self, gone: Self) {
        self.samples = self.samples.saturating_sub(gone.samples);
        self.failures = self.failures.saturating_sub(gone.failures);
    }
}
