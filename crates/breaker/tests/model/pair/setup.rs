//! A configuration in small numbers. All durations are whole ticks, and so short that a bucket of
//! the breaker's windows is never longer than a tick: what the breaker may forget a little early
//! (1/20 of a window, 1/32 of the limit of slow calls) falls on a tick, and both sides agree to it.

use std::time::Duration;

use mainstay_breaker::{
    Breaker, ClosePolicy, Detector, HalfOpenPolicy, LatencyOf, ManualClock, Rolling,
};

/// How many bytes [`Setup::decode`] wants.
pub(crate) const SETUP_BYTES: usize = 24;

#[derive(Debug, Clone)]
pub(crate) struct Setup {
    pub(crate) tick: Duration,
    /// Any of them opens the breaker.
    pub(crate) detectors: Vec<Part>,
    /// In ticks.
    pub(crate) slow_call: Option<u64>,
    /// In ticks.
    pub(crate) open_for: u64,
    /// In ticks.
    pub(crate) half_open_for: u64,
    pub(crate) max_trials: u32,
    pub(crate) at_once: Option<u32>,
    pub(crate) close: Close,
    pub(crate) latency: LatencyOf,
    pub(crate) listening: Listening,
}

/// Rates are in quarters, so that the reference needs no fractions.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    Consecutive(u32),
    Rolling { window: u64, min_samples: u32, quarters: u32 },
    Ring { size: u32, min_samples: u32, quarters: u32 },
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Close {
    All,
    Successes(u32),
    Rate { trials: u32, quarters: u32 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listening {
    Nobody,
    /// Somebody listened and went away: the breaker is quiet again.
    NoMore,
    Somebody,
}

impl Setup {
    /// Any bytes make a setup that works. Zeroes make the simplest.
    pub(crate) fn decode(bytes: &[u8; SETUP_BYTES]) -> Self {
        let mut bytes = bytes.iter().copied();
        let mut below = |limit: u32| u32::from(bytes.next().unwrap_or(0)) % limit;
        let tick = Duration::from_millis([1_000, 100][below(2) as usize]);
        let open_for = u64::from(below(12)) + 1;
        let half_open_for = u64::from(below(12)) + 1;
        let max_trials = below(4) + 1;
        let at_once = Some(below(max_trials + 1)).filter(|number| *number > 0);
        let close = match below(3) {
            0 => Close::All,
            1 => Close::Successes(below(max_trials) + 1),
            _ => Close::Rate { trials: below(max_trials) + 1, quarters: below(5) },
        };
        let latency = [LatencyOf::Nothing, LatencyOf::Sample, LatencyOf::Every][below(3) as usize];
        let listening =
            [Listening::Nobody, Listening::NoMore, Listening::Somebody][below(3) as usize];
        let slow_call = Some(u64::from(below(16))).filter(|ticks| (1..=10).contains(ticks));
        let parts = [1, 1, 1, 2, 3][below(5) as usize];
        let detectors = (0..parts).map(|_| Part::decode(&mut below)).collect();
        Self {
            tick,
            detectors,
            slow_call,
            open_for,
            half_open_for,
            max_trials,
            at_once,
            close,
            latency,
            listening,
        }
    }

    pub(crate) fn build(&self) -> (Breaker, ManualClock) {
        let clock = ManualClock::new();
        let policy = HalfOpenPolicy {
            max_trials: self.max_trials,
            at_once: self.at_once,
            close: self.close.policy(),
        };
        let breaker = Breaker::builder("model")
            .detector(Detector::any_of(self.detectors.iter().map(|part| self.detector(*part))))
            .open_for(self.duration(self.open_for))
            .half_open_for(self.duration(self.half_open_for))
            .half_open(policy)
            .latency(self.latency)
            .clock(clock.clone())
            .build()
            .unwrap();
        (breaker, clock)
    }

    pub(crate) fn duration(&self, ticks: u64) -> Duration {
        self.tick * u32::try_from(ticks).unwrap()
    }

    pub(crate) fn ticks(&self, duration: Duration) -> u64 {
        u64::try_from(duration.as_nanos() / self.tick.as_nanos()).unwrap()
    }

    /// After how many ticks a call is slow: an option of the rolling detector.
    pub(crate) fn slow_after(&self) -> Option<u64> {
        let rolls = self.detectors.iter().any(|part| matches!(part, Part::Rolling { .. }));
        self.slow_call.filter(|_| rolls)
    }

    fn detector(&self, part: Part) -> Detector {
        match part {
            Part::Consecutive(failures) => Detector::consecutive(failures),
            Part::Rolling { window, min_samples, quarters } => Detector::Rolling(Rolling {
                window: self.duration(window),
                min_samples,
                error_rate: share(quarters),
                slow_call: self.slow_call.map(|ticks| self.duration(ticks)),
            }),
            Part::Ring { size, min_samples, quarters } => {
                Detector::ring(size, min_samples, share(quarters))
            }
        }
    }
}

impl Part {
    fn decode(below: &mut impl FnMut(u32) -> u32) -> Self {
        let (kind, min_samples, quarters) = (below(3), below(4) + 1, below(5));
        match kind {
            0 => Self::Consecutive(min_samples),
            1 => {
                let window = [20, 10, 5, 4, 1][below(5) as usize];
                Self::Rolling { window, min_samples, quarters }
            }
            _ => Self::Ring { size: min_samples + below(5), min_samples, quarters },
        }
    }
}

impl Close {
    fn policy(self) -> ClosePolicy {
        match self {
            Self::All => ClosePolicy::AllSucceed,
            Self::Successes(successes) => ClosePolicy::Successes(successes),
            Self::Rate { trials, quarters } => {
                ClosePolicy::SuccessRate { trials, success_rate: share(quarters) }
            }
        }
    }
}

fn share(quarters: u32) -> f64 {
    f64::from(quarters) / 4.0
}
