//! What the state machine goes by: numbers that the builder has checked.

use std::time::Duration;

use super::Reading;

/// The checked numbers of one breaker.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    /// Any of them opens the breaker.
    pub(crate) detectors: Box<[Rule]>,
    /// A call that takes longer counts as a failure.
    pub(crate) slow_call: Option<Duration>,
    pub(crate) open_for: Duration,
    /// Probes that have not ended after this are lost.
    pub(crate) half_open_for: Duration,
    /// How many probes are admitted at once.
    pub(crate) at_once: u32,
    pub(crate) close: CloseRule,
}

/// One detector.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Rule {
    Consecutive(u32),
    Rolling { window: Duration, threshold: Threshold },
    Ring { size: u32, threshold: Threshold },
}

/// An error rate, once there are enough samples to speak of one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Threshold {
    pub(crate) min_samples: u32,
    pub(crate) error_rate: f64,
}

/// When half-open ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CloseRule {
    /// So many successes close.
    pub(crate) successes: u32,
    /// So many failures open again.
    pub(crate) failures: u32,
}

impl Threshold {
    /// A rate of zero means any failure: without one, no breaker opens.
    #[inline]
    pub(crate) fn is_reached(self, reading: Reading) -> bool {
        reading.samples >= u64::from(self.min_samples)
            && reading.failures > 0
            && reading.error_rate() >= self.error_rate
    }
}

impl CloseRule {
    /// So many successes; any failure opens again.
    pub(crate) const fn all(successes: u32) -> Self {
        Self { successes, failures: 1 }
    }

    /// A success rate over so many trials. Both ends are called as soon as the remaining trials
    /// can't change them.
    pub(crate) fn rate(trials: u32, success_rate: f64) -> Self {
        let is_enough = |successes: u32| f64::from(successes) / f64::from(trials) >= success_rate;
        // By halves, since there may be billions of trials. All of them are always enough.
        let (mut least, mut enough) = (1, trials);
        while least < enough {
            let middle = least + (enough - least) / 2;
            if is_enough(middle) {
                enough = middle;
            } else {
                least = middle + 1;
            }
        }
        Self { successes: enough, failures: trials.saturating_sub(enough).saturating_add(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_reached_exactly() {
        // 3 / 30 is 0.1 in binary too, while 30 * 0.1 is a little more than 3.
        let threshold = Threshold { min_samples: 20, error_rate: 0.1 };
        for (samples, failures, reached) in
            [(30, 3, true), (30, 2, false), (19, 19, false), (20, 2, true), (10, 1, false)]
        {
            assert_eq!(
                threshold.is_reached(Reading { samples, failures }),
                reached,
                "{failures} of {samples}"
            );
        }
    }

    #[test]
    fn a_rate_of_zero_means_any_failure() {
        let threshold = Threshold { min_samples: 2, error_rate: 0.0 };
        assert!(!threshold.is_reached(Reading { samples: 9, failures: 0 }));
        assert!(threshold.is_reached(Reading { samples: 9, failures: 1 }));
    }

    #[test]
    fn both_ends_of_a_success_rate_are_called_as_early_as_they_are_certain() {
        for (trials, rate, successes, failures) in [
            (4, 0.75, 3, 2),
            (4, 1.0, 4, 1),
            (10, 0.5, 5, 6),
            (3, 0.5, 2, 2),
            (1, 0.01, 1, 1),
            (30, 0.1, 3, 28),
            (2, 0.0, 1, 2),
            (u32::MAX, 1.0, u32::MAX, 1),
            (u32::MAX, 0.0, 1, u32::MAX),
        ] {
            assert_eq!(
                CloseRule::rate(trials, rate),
                CloseRule { successes, failures },
                "{rate} of {trials}"
            );
        }
    }
}
