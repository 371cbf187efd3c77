//! The numbers that polling goes by, checked once.

use std::time::Duration;

use mainstay_kernel::{BackoffPolicy, HostLimits};

/// How often a round of the loop begins, unless told otherwise.
pub const DEFAULT_CYCLE: Duration = Duration::from_secs(5);
/// The shortest round: one step of the grid.
pub const SHORTEST_CYCLE: Duration = GRID;
/// The longest round: edits of other instances arrive with it.
pub const LONGEST_CYCLE: Duration = Duration::from_secs(60);
/// Starts happen in groups, this far apart: waking up costs more than a request.
pub const GRID: Duration = Duration::from_millis(50);
/// How often a service is polled, unless told otherwise.
pub const DEFAULT_INTERVAL: Duration = Duration::from_secs(30);
/// The shortest interval of a service.
pub const SHORTEST_INTERVAL: Duration = Duration::from_secs(5);
/// The longest interval of a service.
pub const LONGEST_INTERVAL: Duration = Duration::from_secs(3_600);
/// How long a poll may take in all, unless told otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
/// The shortest time that a poll can be given.
pub const SHORTEST_TIMEOUT: Duration = Duration::from_millis(100);
/// The longest time that a poll can be given.
pub const LONGEST_TIMEOUT: Duration = Duration::from_secs(30);
/// Failures in a row that open the breaker of a service.
pub const FAILURES_TO_OPEN: u32 = 10;
/// How long an open breaker stays open.
pub const COOLDOWN: Duration = Duration::from_secs(300);
/// The most services that one instance polls.
pub const MOST_SERVICES: usize = 1_000_000;

/// The numbers that polling goes by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PollPolicy {
    pub(crate) cycle: Duration,
    pub(crate) failures_to_open: u32,
    pub(crate) cooldown: Duration,
    pub(crate) backoff: BackoffPolicy,
    pub(crate) limits: HostLimits,
}

/// A number that polling can't go by.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// A round that is too short or too long.
    #[error(
        "the poll cycle is {} ms; give from {} to {} ms",
        given.as_millis(), SHORTEST_CYCLE.as_millis(), LONGEST_CYCLE.as_millis()
    )]
    Cycle {
        /// What was given.
        given: Duration,
    },
    /// A bound that lets nothing through.
    #[error(transparent)]
    Limit(#[from] mainstay_kernel::ZeroLimit),
}

impl PollPolicy {
    /// The defaults with another round and other bounds on polls at once: for each host, for all.
    ///
    /// # Errors
    /// [`PolicyError`] names what is out of its bounds.
    pub fn new(cycle: Duration, per_host: usize, in_flight: usize) -> Result<Self, PolicyError> {
        if !(SHORTEST_CYCLE..=LONGEST_CYCLE).contains(&cycle) {
            return Err(PolicyError::Cycle { given: cycle });
        }
        Ok(Self { cycle, limits: HostLimits::new(per_host, in_flight)?, ..Self::default() })
    }

    /// How often a round begins.
    #[must_use]
    pub const fn cycle(&self) -> Duration {
        self.cycle
    }
}

impl Default for PollPolicy {
    fn default() -> Self {
        Self {
            cycle: DEFAULT_CYCLE,
            failures_to_open: FAILURES_TO_OPEN,
            cooldown: COOLDOWN,
            backoff: BackoffPolicy::default(),
            limits: HostLimits::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_those_of_the_source() {
        let policy = PollPolicy::default();
        assert_eq!(policy.cycle, Duration::from_millis(5_000));
        assert_eq!((policy.failures_to_open, policy.cooldown), (10, Duration::from_secs(300)));
        assert_eq!(policy.limits, HostLimits::new(5, 256).unwrap());
        let delays: Vec<_> = (0..11).map(|n| policy.backoff.delay(n).as_secs()).collect();
        assert_eq!(delays, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
    }

    #[test]
    fn what_can_not_be_kept_is_refused_by_name() {
        for (cycle, per_host, in_flight, says) in [
            (49, 5, 256, "the poll cycle is 49 ms; give from 50 to 60000 ms"),
            (60_001, 5, 256, "the poll cycle is 60001 ms"),
            (50, 0, 256, "per host"),
            (50, 5, 0, "all hosts"),
        ] {
            let refused = PollPolicy::new(Duration::from_millis(cycle), per_host, in_flight);
            let message = refused.unwrap_err().to_string();
            assert!(message.contains(says), "{message}");
        }
        assert!(PollPolicy::new(Duration::from_millis(50), 1, 1).is_ok());
    }
}
