//! Several attempts at one logical call, where slow calls count: the call is watched from its first
//! attempt on, and found slow once.

use super::half_open::HalfOpen;
use super::rules::Rules;
use super::starts::{Ended, Starts};
use crate::moment::Moment;

/// What is known of the attempts at one call, in the generation of the last that was let through.
/// Whoever touches it has the machine's lock.
#[derive(Debug, Default)]
pub(crate) struct Attempts {
    generation: u64,
    /// Those that were let through while closed and have not ended.
    in_flight: u32,
    /// When the first of those in flight began, as long as the call is among the [`Starts`].
    began: Option<Moment>,
    /// The number of the first probe, while half-open.
    probe: Option<u64>,
    /// The call was found slow: it is watched no more.
    is_counted: bool,
}

/// One of several attempts, as it ends.
#[derive(Debug)]
pub(crate) struct Attempt<'a> {
    pub(crate) attempts: &'a mut Attempts,
    /// It has the first result.
    pub(crate) decides: bool,
    /// It or another has a result.
    pub(crate) is_decided: bool,
}

impl Attempts {
    /// What was in flight in another generation is none of this one's.
    pub(super) fn renew(&mut self, generation: u64) {
        if self.generation != generation {
            *self = Self { generation, ..Self::default() };
        }
    }

    /// One more begins while closed. Says when.
    pub(super) fn begin(&mut self, is_decided: bool, starts: &mut Starts, now: Moment) -> Moment {
        self.in_flight = self.in_flight.saturating_add(1);
        if self.began.is_none() && !self.is_counted && !is_decided {
            self.began = Some(starts.begin(now));
        }
        starts.no_earlier(now)
    }

    /// One more begins as a probe. Says its number.
    pub(super) fn begin_probe(
        &mut self,
        is_decided: bool,
        half_open: &mut HalfOpen,
        now: Moment,
        rules: &Rules,
    ) -> u64 {
        let is_counted = self.is_counted || is_decided;
        let (number, call) = half_open.admit_attempt(self.probe, is_counted, now, rules);
        self.probe = Some(call);
        number
    }

    /// The first result is there, from before this generation: what is in flight in it is watched
    /// no more.
    pub(super) fn conclude(
        &mut self,
        generation: u64,
        half_open: Option<&mut HalfOpen>,
        starts: Option<&mut Starts>,
        now: Moment,
    ) {
        if self.generation != generation {
            return;
        }
        if let (Some(began), Some(starts)) = (self.began.take(), starts) {
            starts.end(began, now);
        }
        if let (Some(probe), Some(half_open)) = (self.probe, half_open) {
            half_open.conclude(probe);
        }
    }
}

impl Attempt<'_> {
    /// It ends, and was let through while closed. Says whether its call was slow.
    pub(super) fn end(&mut self, starts: &mut Starts, now: Moment) -> Ended {
        let attempts = &mut *self.attempts;
        attempts.in_flight = attempts.in_flight.saturating_sub(1);
        let is_in_flight = attempts.in_flight > 0;
        if !self.speaks(|| is_in_flight) {
            return Ended::InTime;
        }
        let began = self.attempts.began.take();
        let ended = began.map_or(Ended::AlreadyCounted, |began| starts.end(began, now));
        self.note(ended);
        ended
    }

    /// Whether its end is that of the whole call: it has the first result, or it is the last and
    /// none has one.
    pub(super) fn speaks(&self, is_another_in_flight: impl FnOnce() -> bool) -> bool {
        self.decides || !self.is_decided && !is_another_in_flight()
    }

    /// The number of the call's first probe.
    pub(super) fn call(&self) -> Option<u64> {
        self.attempts.probe
    }

    /// Remembers that its call was slow, for attempts that are still to come.
    pub(super) fn note(&mut self, ended: Ended) {
        self.attempts.is_counted |= ended != Ended::InTime;
    }
}
