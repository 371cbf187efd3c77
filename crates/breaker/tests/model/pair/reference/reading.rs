//! What the reference reads from its lists.

use std::time::Duration;

use mainstay_breaker::{LatencyOf, Rejected, State};

use super::super::picture::Picture;
use super::super::setup::Part;
use super::time::Due;
use super::{Phase, Reference, Seen, number};

impl Reference {
    pub(crate) fn picture(&self) -> Picture {
        let first = |read: &dyn Fn(Part) -> Option<(u64, u64, f64)>| {
            self.setup.detectors.iter().find_map(|part| read(*part))
        };
        Picture {
            state: self.state(),
            would_reject: self.would_reject(),
            forced: self.is_forced(),
            generation: self.generation,
            counts: self.counts,
            in_flight: self.calls.len() as u64,
            consecutive_failures: self.counts_consecutive().then(|| self.consecutive()),
            rolling: first(&|part| matches!(part, Part::Rolling { .. }).then(|| self.share(part))),
            ring: first(&|part| matches!(part, Part::Ring { .. }).then(|| self.share(part))),
            latency: self.latency(),
            in_state_for: self.setup.duration(self.now - self.seen_changed_at()),
            last_state_change_at: self.moment(self.seen_changed_at()),
        }
    }

    /// Open that is over became half-open when it was over.
    fn seen_changed_at(&self) -> u64 {
        match (self.due(), &self.phase) {
            (Due::HalfOpen, Phase::Open { until }) => *until,
            (Due::OpenAgain { .. }, _) => self.lost_at().unwrap(),
            _ => self.changed_at,
        }
    }

    pub(super) fn state(&self) -> State {
        match self.due() {
            Due::Nothing => self.phase.state(),
            Due::HalfOpen | Due::LostProbes => State::HalfOpen,
            Due::OpenAgain { .. } => State::Open,
        }
    }

    pub(super) fn would_reject(&self) -> Option<Rejected> {
        let rejected = |until: u64| Rejected {
            state: self.state(),
            retry_after: Some(self.setup.duration(until - self.now)),
        };
        match (self.due(), &self.phase) {
            (Due::HalfOpen | Due::LostProbes, _) => None,
            (Due::OpenAgain { until }, _) => Some(rejected(until)),
            (Due::Nothing, Phase::Open { until }) => Some(rejected(*until)),
            (Due::Nothing, Phase::Closed | Phase::ForcedClosed) => None,
            (Due::Nothing, Phase::ForcedOpen) => {
                Some(Rejected { state: State::Open, retry_after: None })
            }
            (Due::Nothing, Phase::HalfOpen(half_open)) => {
                let most = match half_open.operator_until {
                    Some(_) => 1,
                    None => self.setup.at_once.unwrap_or(self.setup.max_trials),
                };
                let is_full = self.probes().count() >= most as usize;
                let until = half_open.operator_until.max(self.lost_at());
                is_full.then(|| rejected(until.unwrap()))
            }
        }
    }

    pub(super) fn is_forced(&self) -> bool {
        matches!(self.phase, Phase::ForcedOpen | Phase::ForcedClosed)
    }

    pub(super) fn is_tripped(&self) -> bool {
        self.setup.detectors.iter().any(|part| match *part {
            Part::Consecutive(limit) => self.consecutive() >= limit,
            Part::Rolling { min_samples, quarters, .. }
            | Part::Ring { min_samples, quarters, .. } => {
                let (samples, failures) = self.window(*part);
                samples >= min_samples && failures > 0 && failures * 4 >= quarters * samples
            }
        })
    }

    pub(super) fn counts_consecutive(&self) -> bool {
        self.setup.detectors.iter().any(|part| matches!(part, Part::Consecutive(_)))
    }

    /// The failures since the last success. Those from before a restart count on.
    pub(super) fn consecutive(&self) -> u32 {
        let since = self.results.iter().rev().take_while(|seen| seen.failed).count();
        let before = if since == self.results.len() { self.failures_before } else { 0 };
        number(since) + before
    }

    /// Whether the next call has its latency measured. Where slow calls count, each has.
    pub(super) fn measures_next(&self) -> bool {
        let number = self.counts.allowed;
        self.setup.slow_after().is_some()
            || match self.setup.latency {
                LatencyOf::Every => true,
                LatencyOf::Sample => number < 64 || number.is_multiple_of(256),
                _ => false,
            }
    }

    fn latency(&self) -> (u32, Duration, Duration) {
        let measured = number(self.latencies.len());
        let sum = self.setup.duration(self.latencies.iter().sum());
        let max = self.latencies.iter().max().map(|took| self.setup.duration(*took));
        let mean = sum.as_micros().checked_div(measured.into()).unwrap_or(0);
        let mean = Duration::from_micros(u64::try_from(mean).unwrap());
        (measured, mean, max.unwrap_or_default())
    }

    fn share(&self, part: Part) -> (u64, u64, f64) {
        let (samples, failures) = self.window(part);
        let rate = if samples == 0 { 0.0 } else { f64::from(failures) / f64::from(samples) };
        (samples.into(), failures.into(), rate)
    }

    /// How many results a window holds, and how many of them are failures.
    fn window(&self, part: Part) -> (u32, u32) {
        let within: Vec<&Seen> = match part {
            Part::Consecutive(_) => Vec::new(),
            Part::Rolling { window, .. } => {
                self.results.iter().filter(|seen| self.now - seen.at < window).collect()
            }
            Part::Ring { size, .. } => self.results.iter().rev().take(size as usize).collect(),
        };
        let failures = within.iter().filter(|seen| seen.failed).count();
        (number(within.len()), number(failures))
    }
}
