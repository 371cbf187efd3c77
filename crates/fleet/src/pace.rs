//! How long everything waits.

use std::time::Duration;

/// How long everything waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// From one sweep of the health loop to the next.
    pub sweep: Duration,
    /// How long a worker has to answer.
    pub probe: Duration,
    /// How long its agent may say nothing until its provider is asked beside it.
    pub silence: Duration,
    /// A failed worker is asked again after this,
    pub confirm_least: Duration,
    /// up to this.
    pub confirm_most: Duration,
    /// Over so long the beginnings of the looks of one sweep are spread.
    pub spread: Duration,
    /// From one try at a provider to the next, while it may do better; longer each time.
    pub retry: Duration,
    /// How long a provider that has trouble is left alone before an operation goes on.
    pub outage: Duration,
    /// From one question whether a new agent answers to the next.
    pub agent: Duration,
    /// How long a call waits for its operation.
    pub patience: Duration,
    /// How often whoever waits looks, when nobody wakes it.
    pub glance: Duration,
    /// How long after its deadline an operation that nobody ended is ended by the health loop.
    pub grace: Duration,
    /// How long after whoever gave an order was stopped a provider may still be carrying it out.
    pub orders_arrive: Duration,
}

impl Default for Pace {
    /// With these a crash is known after 60 + 1 + 5 + 4 + 5 = 75 s at the latest.
    fn default() -> Self {
        Self {
            sweep: Duration::from_secs(60),
            probe: Duration::from_secs(5),
            silence: Duration::from_secs(2),
            confirm_least: Duration::from_secs(2),
            confirm_most: Duration::from_secs(4),
            spread: Duration::from_secs(1),
            retry: Duration::from_millis(500),
            outage: Duration::from_secs(10),
            agent: Duration::from_millis(500),
            // A little less than a request may take.
            patience: Duration::from_secs(28),
            glance: Duration::from_millis(250),
            grace: Duration::from_secs(30),
            // A call to a provider, or the start of a process, takes 10 seconds at most.
            orders_arrive: Duration::from_secs(12),
        }
    }
}

impl Pace {
    /// The same with another time between sweeps; what belongs to one sweep shrinks with it.
    #[must_use]
    pub fn with_sweep(self, sweep: Duration) -> Self {
        let spread = self.spread.min(sweep / 10);
        let most = self.confirm_most.min(sweep / 4);
        let least = self.confirm_least.min(most);
        Self { sweep, spread, confirm_least: least, confirm_most: most, ..self }
    }

    /// A wait before a failed worker is asked again.
    #[must_use]
    pub fn confirm(&self, chance: u64) -> Duration {
        let span = self.confirm_most.saturating_sub(self.confirm_least);
        let millis = u64::try_from(span.as_millis()).unwrap_or(u64::MAX).saturating_add(1);
        self.confirm_least.saturating_add(Duration::from_millis(chance % millis))
    }

    /// A part of the spread.
    #[must_use]
    pub fn offset(&self, chance: u64) -> Duration {
        let millis = u64::try_from(self.spread.as_millis()).unwrap_or(u64::MAX).saturating_add(1);
        Duration::from_millis(chance % millis)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_is_known_in_time() {
        let pace = Pace::default();
        let worst = pace.sweep + pace.spread + pace.probe + pace.confirm_most + pace.probe;
        assert!(worst <= Duration::from_secs(75), "{worst:?}");
    }

    #[test]
    fn waits_keep_within_their_bounds() {
        let pace = Pace::default();
        for chance in [0, 1, 1_999, 2_000, 2_001, u64::MAX] {
            let wait = pace.confirm(chance);
            assert!((pace.confirm_least..=pace.confirm_most).contains(&wait), "{wait:?}");
            assert!(pace.offset(chance) <= pace.spread);
        }
        let quick = pace.with_sweep(Duration::from_millis(400));
        assert!(quick.confirm(u64::MAX) <= Duration::from_millis(100));
        assert!(quick.offset(u64::MAX) <= Duration::from_millis(40));
    }
}
