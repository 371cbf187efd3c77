//! Half-open: a bounded number of probes, and a tally that does not expire.

use super::rules::{CloseRule, Rules};
use crate::moment::Moment;

/// One spell of half-open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HalfOpen {
    /// Probes that have been admitted and have not ended.
    in_flight: u32,
    tally: Tally,
    /// When the first of the probes in flight was admitted.
    first_at: Moment,
    /// When the probes in flight are lost.
    lost_at: Moment,
    /// While the one probe is the operator's: how long the breaker would have been open without it.
    open_until: Option<Moment>,
}

/// How the probes ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Tally {
    successes: u32,
    failures: u32,
}

/// What a probe's end means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judgement {
    Wait,
    Close,
    Reopen,
}

impl HalfOpen {
    pub(crate) fn new() -> Self {
        let (first_at, lost_at) = (Moment::default(), Moment::default());
        Self { in_flight: 0, tally: Tally::default(), first_at, lost_at, open_until: None }
    }

    /// With the operator's probe, ahead of the time. Nobody else is admitted beside it.
    pub(crate) fn for_operator(open_until: Moment) -> Self {
        Self { open_until: Some(open_until), ..Self::new() }
    }

    /// The same spell, without the probes that are lost.
    pub(crate) fn without_lost(self) -> Self {
        Self { in_flight: 0, open_until: None, ..self }
    }

    pub(crate) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    pub(crate) fn lost_at(&self) -> Moment {
        self.lost_at
    }

    pub(crate) fn are_lost(&self, now: Moment) -> bool {
        self.in_flight > 0 && now >= self.lost_at
    }

    pub(crate) fn open_until(&self) -> Option<Moment> {
        self.open_until
    }

    pub(crate) fn is_full(&self, rules: &Rules) -> bool {
        let limit = if self.open_until.is_some() { 1 } else { rules.at_once };
        self.in_flight >= limit
    }

    /// Reserves a slot. The time to be lost runs from the last of those in flight, so that each has
    /// its own time; but one that hangs is lost after twice that time, whoever comes beside it.
    pub(crate) fn admit(&mut self, now: Moment, rules: &Rules) {
        if self.in_flight == 0 {
            self.first_at = now;
        }
        let at_the_latest = self.first_at.plus(rules.half_open_for.saturating_mul(2));
        self.lost_at = now.plus(rules.half_open_for).min(at_the_latest);
        self.in_flight = self.in_flight.saturating_add(1);
    }

    /// A probe has a result and goes on: its slot stays taken.
    pub(crate) fn hold(&mut self) {
        self.in_flight = self.in_flight.saturating_add(1);
    }

    /// A probe ends without a result: its slot is free again.
    pub(crate) fn release(&mut self) {
        debug_assert!(self.in_flight > 0, "a slot is released once");
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// A probe ends with a result.
    pub(crate) fn settle(&mut self, failed: bool, close: CloseRule) -> Judgement {
        self.release();
        self.open_until = None;
        self.tally.add(failed);
        self.tally.verdict(close)
    }
}

impl Tally {
    fn add(&mut self, failed: bool) {
        let counter = if failed { &mut self.failures } else { &mut self.successes };
        *counter = counter.saturating_add(1);
    }

    fn verdict(self, close: CloseRule) -> Judgement {
        if self.failures >= close.failures {
            Judgement::Reopen
        } else if self.successes >= close.successes {
            Judgement::Close
        } else {
            Judgement::Wait
        }
    }
}
