//! The mold of all breakers of a roster: they share one configuration, in memory too.

use std::time::Duration;

use mainstay_breaker::{Breaker, Breakers, Detector, HalfOpenPolicy};

use super::hands::Hands;
use crate::policy::{LONGEST_TIMEOUT, PollPolicy};

/// A probe that has not ended by then is lost; no poll takes that long.
const PROBE_LOST_AFTER: Duration = LONGEST_TIMEOUT.saturating_mul(4);

/// Makes breakers that share their configuration: a million copies of it would be read from memory
/// again for each poll.
pub(super) struct Mold {
    /// A registry that never keeps what it makes: the roster does. `None` when the policy allows no
    /// breaker.
    breakers: Option<Breakers<()>>,
}

impl Mold {
    pub(super) fn new(policy: &PollPolicy, hands: &Hands) -> Self {
        let template = Breaker::builder("poll")
            .detector(Detector::consecutive(policy.failures_to_open))
            .open_for(policy.cooldown)
            .half_open(HalfOpenPolicy::all(1))
            .half_open_for(PROBE_LOST_AFTER)
            .clock(hands.clone());
        Self { breakers: Breakers::builder(template).build().ok() }
    }

    /// A new breaker.
    pub(super) fn cast(&self) -> Option<Breaker> {
        let breakers = self.breakers.as_ref()?;
        let breaker = breakers.get(&()).ok();
        breakers.remove(&());
        breaker
    }
}
