//! Lets calls through, and says what the next one would be told.

use std::time::Duration;

use super::half_open::HalfOpen;
use super::{Admission, Change, Machine, Phase, Refusal, Rules};
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

    /// Asks for one of several attempts at a call. They count once, when the first has a result: in
    /// flight none of them is slow.
    pub(crate) fn enter_hedged(
        &mut self,
        now: Moment,
        rules: &Rules,
        changes: &mut Vec<Change>,
    ) -> Result<Admission, Refusal> {
        let admission = self.enter(now, rules, changes)?;
        if let (Some(began), Some(starts)) = (admission.began, self.evidence.starts()) {
            starts.end(began, now);
        }
        Ok(Admission { is_hedged: true, ..admission })
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
            Phase::HalfOpen(half_open) => half_open.is_full(rules).then(|| {
                // Without the operator's probe it would be open for that long at least.
                let until = half_open
                    .open_until()
                    .map_or(half_open.lost_at(), |until| until.max(half_open.lost_at()));
                Refusal { state: State::HalfOpen, retry_after: Some(until.since(now)) }
            }),
        }
    }

    fn admission(&mut self, now: Moment) -> Admission {
        let began = self.evidence.starts().map(|starts| starts.begin(now));
        Admission { generation: self.generation, began, is_hedged: false }
    }
}

impl Refusal {
    fn open(retry_after: Duration) -> Self {
        Self { state: State::Open, retry_after: Some(retry_after) }
    }
}
