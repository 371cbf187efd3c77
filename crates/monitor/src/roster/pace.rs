//! How many polls may begin on one point of the grid: what is due, and what was left behind without
//! a burst.

use std::time::Duration;

use crate::policy::GRID;

/// As many may always begin at once, however few services there are.
const LEAST: usize = 32;

/// How many times faster than the steady rate a backlog is worked off: twice, so that everybody has
/// been polled within one interval.
const HURRY: u64 = 2;

/// One poll, in parts: small enough that the longest interval still counts.
const WHOLE: u64 = 1 << 32;

/// The steady rate of all services.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Pace {
    /// Polls that come due on each point of the grid, in parts of [`WHOLE`].
    rate: u64,
}

impl Pace {
    pub(super) fn add(&mut self, interval: Duration) {
        self.rate = self.rate.saturating_add(share(interval));
    }

    pub(super) fn remove(&mut self, interval: Duration) {
        self.rate = self.rate.saturating_sub(share(interval));
    }

    /// How many polls may begin now.
    pub(super) fn quota(self) -> usize {
        let polls = self.rate.saturating_mul(HURRY).div_ceil(WHOLE);
        usize::try_from(polls).unwrap_or(usize::MAX).max(LEAST)
    }
}

fn share(interval: Duration) -> u64 {
    let part = GRID.as_nanos().saturating_mul(u128::from(WHOLE));
    let share = part.checked_div(interval.as_nanos()).unwrap_or_default();
    u64::try_from(share).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_is_polled_within_one_interval_even_after_a_stop() {
        for (services, interval) in [(1_u64, 5), (1_000, 5), (5_000, 5), (5_000, 3_600), (7, 30)] {
            let interval = Duration::from_secs(interval);
            let mut pace = Pace::default();
            (0..services).for_each(|_| pace.add(interval));
            let steps = interval.as_millis() / GRID.as_millis();
            // Those left behind and those that come due meanwhile.
            let room = u128::try_from(pace.quota()).unwrap() * steps;
            assert!(room >= 2 * u128::from(services), "{services} {interval:?}");
        }
    }

    #[test]
    fn the_quota_is_no_burst() {
        let mut pace = Pace::default();
        (0..5_000).for_each(|_| pace.add(Duration::from_secs(5)));
        assert_eq!(pace.quota(), 100);
        (0..5_000).for_each(|_| pace.remove(Duration::from_secs(5)));
        assert_eq!(pace, Pace::default());
        assert_eq!(pace.quota(), LEAST);
    }
}
