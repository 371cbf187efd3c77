//! When a closed breaker opens.

use std::time::Duration;

use super::check::{Problem, Wrong, at_least_one, at_most, share, some_time};
use crate::machine::{Rule, Threshold};

/// How many detectors one breaker may have.
pub const MAX_DETECTORS: usize = 8;
/// How many results a [`Ring`] may hold.
pub const MAX_RING: u32 = 1 << 20;

/// What opens a closed breaker.
///
/// Consecutive failures are the cheapest and the quickest to notice an outage, but a downstream
/// that fails half of its calls may never fail five in a row. An error rate notices that, and needs
/// some traffic to speak of one. [`Detector::any_of`] has both.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Detector {
    /// So many failures with no success between them.
    Consecutive(u32),
    /// An error rate over time.
    Rolling(Rolling),
    /// An error rate over the last so many results.
    Ring(Ring),
    /// Any of several, made by [`Detector::any_of`].
    #[non_exhaustive]
    AnyOf(Vec<Detector>),
}

/// An error rate over time: the share of failures among the results of the last `window`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rolling {
    /// How far back results count.
    pub window: Duration,
    /// Below this many results there is no rate to speak of.
    pub min_samples: u32,
    /// The share of failures that opens the breaker; 0 means any failure.
    pub error_rate: f64,
    /// A call that takes longer counts as a failure, at the latest when the breaker is next asked.
    /// Beside other detectors it counts for all of them.
    pub slow_call: Option<Duration>,
}

/// An error rate over the last `size` results, however long ago they were.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ring {
    /// How many results count.
    pub size: u32,
    /// Below this many results there is no rate to speak of.
    pub min_samples: u32,
    /// The share of failures that opens the breaker; 0 means any failure.
    pub error_rate: f64,
}

impl Detector {
    /// So many failures with no success between them.
    #[must_use]
    pub const fn consecutive(failures: u32) -> Self {
        Self::Consecutive(failures)
    }

    /// An error rate over time.
    #[must_use]
    pub const fn rolling(window: Duration, min_samples: u32, error_rate: f64) -> Self {
        Self::Rolling(Rolling { window, min_samples, error_rate, slow_call: None })
    }

    /// An error rate over the last `size` results.
    #[must_use]
    pub const fn ring(size: u32, min_samples: u32, error_rate: f64) -> Self {
        Self::Ring(Ring { size, min_samples, error_rate })
    }

    /// Any of several, at most [`MAX_DETECTORS`]. Several within several are just more of them.
    #[must_use]
    pub fn any_of(detectors: impl IntoIterator<Item = Self>) -> Self {
        // None stands within another, so that nothing has to follow them down. One too many is enough
        // to refuse them.
        let parts = detectors.into_iter().flat_map(Self::into_parts);
        Self::AnyOf(parts.take(MAX_DETECTORS + 1).collect())
    }

    fn into_parts(self) -> Vec<Self> {
        match self {
            Self::AnyOf(parts) => parts,
            one => vec![one],
        }
    }

    /// Every detector in it, and how long a call may take.
    pub(super) fn check(&self) -> Result<(Box<[Rule]>, Option<Duration>), Wrong> {
        let mut rules = Vec::new();
        let mut slow_call = None;
        self.collect(&mut rules, &mut slow_call)?;
        if rules.is_empty() {
            return Err(("detector", Problem::Empty));
        }
        Ok((rules.into(), slow_call))
    }

    fn collect(
        &self,
        rules: &mut Vec<Rule>,
        slow_call: &mut Option<Duration>,
    ) -> Result<(), Wrong> {
        let rule = match self {
            Self::Consecutive(failures) => {
                at_least_one("detector.consecutive", *failures)?;
                Rule::Consecutive(*failures)
            }
            Self::Rolling(rolling) => rolling.check(slow_call)?,
            Self::Ring(ring) => ring.check()?,
            Self::AnyOf(detectors) => {
                return detectors.iter().try_for_each(|one| one.collect(rules, slow_call));
            }
        };
        if rules.len() == MAX_DETECTORS {
            let (given, most) = (MAX_DETECTORS as u64 + 1, MAX_DETECTORS as u64);
            let because = "each of them costs every call";
            return Err(("detector", Problem::TooMany { given, most, because }));
        }
        rules.push(rule);
        Ok(())
    }
}

/// Consecutive failures: five.
impl Default for Detector {
    fn default() -> Self {
        Self::consecutive(5)
    }
}

/// Half of at least 20 results within 10 seconds.
impl Default for Rolling {
    fn default() -> Self {
        Self { window: Duration::from_secs(10), min_samples: 20, error_rate: 0.5, slow_call: None }
    }
}

/// Half of the last 100 results, once there are 20.
impl Default for Ring {
    fn default() -> Self {
        Self { size: 100, min_samples: 20, error_rate: 0.5 }
    }
}

impl From<Rolling> for Detector {
    fn from(rolling: Rolling) -> Self {
        Self::Rolling(rolling)
    }
}

impl From<Ring> for Detector {
    fn from(ring: Ring) -> Self {
        Self::Ring(ring)
    }
}

impl Rolling {
    fn check(&self, slow_call: &mut Option<Duration>) -> Result<Rule, Wrong> {
        some_time("detector.rolling.window", self.window)?;
        at_least_one("detector.rolling.min_samples", self.min_samples)?;
        share("detector.rolling.error_rate", self.error_rate)?;
        if let Some(limit) = self.slow_call {
            some_time("detector.rolling.slow_call", limit)?;
            if slow_call.replace(limit).is_some_and(|other| other != limit) {
                return Err(("detector.rolling.slow_call", Problem::Contradiction));
            }
        }
        let threshold = Threshold { min_samples: self.min_samples, error_rate: self.error_rate };
        Ok(Rule::Rolling { window: self.window, threshold })
    }
}

impl Ring {
    fn check(&self) -> Result<Rule, Wrong> {
        at_least_one("detector.ring.size", self.size)?;
        at_most("detector.ring.size", self.size, MAX_RING, "memory is bounded")?;
        at_least_one("detector.ring.min_samples", self.min_samples)?;
        let because = "the ring never holds more results";
        at_most("detector.ring.min_samples", self.min_samples, self.size, because)?;
        share("detector.ring.error_rate", self.error_rate)?;
        let threshold = Threshold { min_samples: self.min_samples, error_rate: self.error_rate };
        Ok(Rule::Ring { size: self.size, threshold })
    }
}
