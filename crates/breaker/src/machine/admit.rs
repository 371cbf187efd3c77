//! Lets calls through, and says what the next one would be told.

use std::time::Duration;

use super::half_open::HalfOpen;
use super::{Admission, Attempts, Change, Machine, Phase, Refusal, Rules, Track};
use crate::moment::Moment;
use crate::state::{Cause, State};

/// What time alone has changed and nobody has written down yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    Nothing,
    HalfOpen,
    LostProbes,
    /// The operator's probe is lost, and the breaker would still be open without it.
    OpenAgain {
        until: Moment,
    },
}

impl Machine {
    /// Asks for a call.
    pub(crate) fn enter(
        &mut self,
        now: Moment,
        rules: &Rules,
        changes: &mut Vec<Change>,
    ) -> Result<Admission, Refusal> {
        self.ask(now, rules, changes)?;
        let track = match (&mut self.phase, self.evidence.starts()) {
            (Phase::HalfOpen(half_open), _) => Track::Probe(half_open.admit(now, rules)),
            (_, Some(starts)) => Track::Since(starts.begin(now)),
            (_, None) => Track::Nothing,
        };
        Ok(Admission { generation: self.generation, track })
    }

    /// Asks for one more of several attempts at a call, where slow calls count.
    pub(crate) fn enter_attempt(
        &mut self,
        attempts: &mut Attempts,
        is_decided: bool,
        now: Moment,
        rules: &Rules,
        changes: &mut Vec<Change>,
    ) -> Result<Admission, Refusal> {
        self.ask(now, rules, changes)?;
        attempts.renew(self.generation);
        let track = match (&mut self.phase, self.evidence.starts()) {
            (Phase::HalfOpen(half_open), _) => {
                Track::Probe(attempts.begin_probe(is_decided, half_open, now, rules))
            }
            (_, Some(starts)) => Track::Since(attempts.begin(is_decided, starts, now)),
            (_, None) => Track::Nothing,
        };
        Ok(Admission { generation: self.generation, track })
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

    /// What time alone has changed.
    pub(super) fn due(&self, now: Moment) -> Due {
        match &self.phase {
            Phase::Open { until } if now >= *until => Due::HalfOpen,
            Phase::HalfOpen(half_open) if half_open.lost_at().is_some_and(|at| now >= at) => {
                match half_open.open_until() {
                    Some(until) if now < until => Due::OpenAgain { until },
                    _ => Due::LostProbes,
                }
            }
            _ => Due::Nothing,
        }
    }

    /// Writes down what has come about, and refuses if the breaker does.
    fn ask(
        &mut self,
        now: Moment,
        rules: &Rules,
        changes: &mut Vec<Change>,
    ) -> Result<(), Refusal> {
        self.sweep(now, rules, changes);
        self.catch_up(now, changes);
        self.refusal(now, rules).map_or(Ok(()), Err)
    }

    /// Writes down what time alone has changed.
    fn catch_up(&mut self, now: Moment, changes: &mut Vec<Change>) {
        let due = self.due(now);
        match due {
            Due::Nothing => {}
            Due::HalfOpen => {
                let fresh = Phase::HalfOpen(Box::default());
                self.turn(fresh, Cause::Waited, now, changes);
            }
            Due::LostProbes => self.lose_probes(now),
            Due::OpenAgain { until } => {
                self.lose_probes(now);
                self.turn(Phase::Open { until }, Cause::OperatorProbeGone, now, changes);
            }
        }
    }

    fn lose_probes(&mut self, now: Moment) {
        let Phase::HalfOpen(half_open) = &mut self.phase else { return };
        let lost = half_open.lose(now);
        self.totals_mut().probe_lost += lost;
    }

    fn refusal(&self, now: Moment, rules: &Rules) -> Option<Refusal> {
        match &self.phase {
            Phase::Closed | Phase::ForcedClosed => None,
            Phase::Open { until } => Some(Refusal::open(until.since(now))),
            Phase::ForcedOpen => Some(Refusal { state: State::Open, retry_after: None }),
            Phase::HalfOpen(half_open) => half_open.is_full(rules).then(|| {
                // Without the operator's probe it would be open for that long at least.
                let until = half_open.open_until().max(half_open.lost_at()).unwrap_or(now);
                Refusal { state: State::HalfOpen, retry_after: Some(until.since(now)) }
            }),
        }
    }
}

impl Refusal {
    fn open(retry_after: Duration) -> Self {
        Self { state: State::Open, retry_after: Some(retry_after) }
    }
}
