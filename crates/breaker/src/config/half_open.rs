//! When a half-open breaker closes.

use super::check::{Wrong, at_least_one, at_most, share};
use crate::machine::CloseRule;

/// How a half-open breaker finds out whether the downstream is back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HalfOpenPolicy {
    /// How many probes the verdict is built on, and by default how many go through at once.
    pub max_trials: u32,
    /// How many probes go through at once, where that is to be fewer than `max_trials`.
    pub at_once: Option<u32>,
    /// What closes the breaker.
    pub close: ClosePolicy,
}

/// What closes a half-open breaker.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum ClosePolicy {
    /// As many successes as there are trials. Any failure opens again at once.
    AllSucceed,
    /// So many successes. Any failure opens again at once.
    Successes(u32),
    /// A share of successes over so many trials. A failure opens again only when the share can't
    /// be reached any more.
    SuccessRate {
        /// Over how many trials.
        trials: u32,
        /// The share that must succeed.
        success_rate: f64,
    },
}

impl HalfOpenPolicy {
    /// `max_trials` probes at once; all of them must succeed.
    #[must_use]
    pub const fn all(max_trials: u32) -> Self {
        Self { max_trials, at_once: None, close: ClosePolicy::AllSucceed }
    }

    /// `max_trials` probes at once, of which so many must succeed and none may fail.
    #[must_use]
    pub const fn successes(max_trials: u32, successes: u32) -> Self {
        Self { max_trials, at_once: None, close: ClosePolicy::Successes(successes) }
    }

    /// `trials` probes at once; this share of them must succeed.
    #[must_use]
    pub const fn success_rate(trials: u32, success_rate: f64) -> Self {
        let close = ClosePolicy::SuccessRate { trials, success_rate };
        Self { max_trials: trials, at_once: None, close }
    }

    /// The same with fewer probes at once: one is the gentlest to a downstream that recovers.
    #[must_use]
    pub const fn at_once(self, at_once: u32) -> Self {
        Self { at_once: Some(at_once), ..self }
    }

    pub(super) fn check(&self) -> Result<(u32, CloseRule), Wrong> {
        at_least_one("half_open.max_trials", self.max_trials)?;
        let at_once = self.at_once.unwrap_or(self.max_trials);
        at_least_one("half_open.at_once", at_once)?;
        at_most("half_open.at_once", at_once, self.max_trials, "there are no more trials")?;
        Ok((at_once, self.close.check(self.max_trials)?))
    }
}

/// Three probes at once; all of them must succeed.
impl Default for HalfOpenPolicy {
    fn default() -> Self {
        Self::all(3)
    }
}

impl ClosePolicy {
    fn check(self, max_trials: u32) -> Result<CloseRule, Wrong> {
        const BECAUSE: &str = "no more probes are allowed: see max_trials";
        match self {
            Self::AllSucceed => Ok(CloseRule::all(max_trials)),
            Self::Successes(successes) => {
                at_least_one("half_open.successes", successes)?;
                at_most("half_open.successes", successes, max_trials, BECAUSE)?;
                Ok(CloseRule::all(successes))
            }
            Self::SuccessRate { trials, success_rate } => {
                at_least_one("half_open.trials", trials)?;
                at_most("half_open.trials", trials, max_trials, BECAUSE)?;
                share("half_open.success_rate", success_rate)?;
                Ok(CloseRule::rate(trials, success_rate))
            }
        }
    }
}
