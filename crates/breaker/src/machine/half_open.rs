//! Half-open: a bounded number of probes, each with its own time, and a tally that does not expire.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::attempts::Attempt;
use super::rules::{CloseRule, Rules};
use super::starts::Ended;
use crate::moment::Moment;

/// One spell of half-open.
#[derive(Debug, Clone, Default)]
pub(crate) struct HalfOpen {
    /// Probes that have been admitted and have neither ended nor been lost, by their numbers. There
    /// are at most as many as are admitted at once.
    probes: BTreeMap<u64, Probe>,
    /// How many have been admitted.
    admitted: u64,
    /// The latest admission: time does not go back.
    latest: Moment,
    tally: Tally,
    /// While the one probe is the operator's: how long the breaker would have been open without it.
    open_until: Option<Moment>,
}

#[derive(Debug, Clone, Copy)]
struct Probe {
    began: Moment,
    lost_at: Moment,
    call: Call,
}

/// The logical call of a probe, which other attempts may share.
#[derive(Debug, Clone, Copy)]
struct Call {
    /// The number of its first probe.
    number: u64,
    began: Moment,
    /// It has had its result, or was found slow: it is watched no more.
    is_counted: bool,
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
    /// With the operator's probe, ahead of the time. Nobody else is admitted beside it.
    pub(crate) fn for_operator(open_until: Moment) -> Self {
        Self { open_until: Some(open_until), ..Self::default() }
    }

    /// When the oldest of the probes in flight is lost.
    pub(crate) fn lost_at(&self) -> Option<Moment> {
        self.probes.first_key_value().map(|(_, probe)| probe.lost_at)
    }

    pub(crate) fn open_until(&self) -> Option<Moment> {
        self.open_until
    }

    pub(crate) fn is_full(&self, rules: &Rules) -> bool {
        let limit = if self.open_until.is_some() { 1 } else { rules.at_once };
        self.probes.len() as u64 >= u64::from(limit)
    }

    /// Reserves a slot. Says the number of the probe.
    pub(crate) fn admit(&mut self, now: Moment, rules: &Rules) -> u64 {
        let call = Call { number: self.admitted, began: self.no_earlier(now), is_counted: false };
        self.admit_for(call, now, rules)
    }

    /// Reserves a slot for one more attempt at the call whose first probe had this number, or for
    /// the first at another where none of its attempts is in flight. Says the number of the probe, and
    /// that of the call.
    pub(crate) fn admit_attempt(
        &mut self,
        call: Option<u64>,
        is_counted: bool,
        now: Moment,
        rules: &Rules,
    ) -> (u64, u64) {
        let others = call.and_then(|call| self.probes.values().find(|one| one.call.number == call));
        let fresh = Call { number: self.admitted, began: self.no_earlier(now), is_counted };
        let call = others.map_or(fresh, |other| other.call);
        (self.admit_for(call, now, rules), call.number)
    }

    /// A probe ends: its slot is free again. Says whether its call was slow and when the probe itself
    /// began, or nothing if it was lost.
    pub(crate) fn end(
        &mut self,
        number: u64,
        attempt: Option<&Attempt<'_>>,
        now: Moment,
        slow_call: Option<Duration>,
    ) -> Option<(Ended, Moment)> {
        let probe = self.probes.remove(&number);
        if let Some(call) = attempt.filter(|attempt| attempt.decides).and_then(Attempt::call) {
            self.conclude(call);
        }
        let probe = probe?;
        let is_in_flight = || self.probes.values().any(|one| one.call.number == probe.call.number);
        let ended = match attempt {
            Some(attempt) if !attempt.speaks(is_in_flight) => Ended::InTime,
            _ if probe.call.is_counted => Ended::AlreadyCounted,
            _ if probe.call.is_slow(now, slow_call) => Ended::Slow,
            _ => Ended::InTime,
        };
        Some((ended, probe.began))
    }

    /// A call has its result: the probes that go on for it are watched no more.
    pub(crate) fn conclude(&mut self, call: u64) {
        let of_call = self.probes.values_mut().filter(|probe| probe.call.number == call);
        of_call.for_each(|probe| probe.call.is_counted = true);
    }

    /// How many calls are newly found in flight beyond the limit.
    pub(crate) fn sweep(&mut self, now: Moment, slow_call: Option<Duration>) -> u32 {
        let is_overdue =
            |probe: &&mut Probe| !probe.call.is_counted && probe.call.is_slow(now, slow_call);
        let overdue = self.probes.values_mut().filter(is_overdue).map(|probe| {
            probe.call.is_counted = true;
            probe.call.number
        });
        let calls: BTreeSet<u64> = overdue.collect();
        u32::try_from(calls.len()).unwrap_or(u32::MAX)
    }

    /// Gives up the probes whose time is over: whatever they say later is stale. Says how many.
    pub(crate) fn lose(&mut self, now: Moment) -> u64 {
        let before = self.probes.len();
        self.probes.retain(|_, probe| now < probe.lost_at);
        self.open_until = None;
        (before - self.probes.len()) as u64
    }

    /// A probe has a result.
    pub(crate) fn settle(&mut self, failed: bool, close: CloseRule) -> Judgement {
        self.open_until = None;
        self.tally.add(failed);
        self.tally.verdict(close)
    }

    /// The operator's probe ended without a result, and open is over: others may come.
    pub(crate) fn without_operator(&mut self) {
        self.open_until = None;
    }

    fn admit_for(&mut self, call: Call, now: Moment, rules: &Rules) -> u64 {
        let (number, began) = (self.admitted, self.no_earlier(now));
        let lost_at = began.plus(rules.half_open_for);
        self.probes.insert(number, Probe { began, lost_at, call });
        self.admitted += 1;
        self.latest = began;
        number
    }

    fn no_earlier(&self, now: Moment) -> Moment {
        now.max(self.latest)
    }
}

impl Call {
    fn is_slow(&self, now: Moment, slow_call: Option<Duration>) -> bool {
        slow_call.is_some_and(|limit| now.since(self.began) > limit)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_came_first_to_the_clock_and_second_to_the_lock_is_no_older() {
        let at = |seconds| Moment::default().plus(Duration::from_secs(seconds));
        let rules = Rules {
            detectors: Box::default(),
            slow_call: None,
            open_for: Duration::from_secs(1),
            half_open_for: Duration::from_secs(60),
            at_once: 2,
            close: CloseRule::all(2),
        };
        let mut half_open = HalfOpen::default();
        let first = half_open.admit(at(10), &rules);
        let second = half_open.admit(at(9), &rules);
        assert_eq!(half_open.lose(at(69)), 0);
        for probe in [first, second] {
            let ended = half_open.end(probe, None, at(69), None);
            assert_eq!(ended, Some((Ended::InTime, at(10))));
        }
    }
}
