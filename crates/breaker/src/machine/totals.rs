//! Counters that only grow.

/// What has happened since the breaker was made. A quiet breaker has none: its successes are
/// counted elsewhere, without a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Totals {
    pub(crate) opened: u64,
    pub(crate) half_opened: u64,
    pub(crate) closed: u64,
    /// Successes that were counted under the lock.
    pub(crate) success: u64,
    pub(crate) failure: u64,
    pub(crate) timeout: u64,
    pub(crate) slow: u64,
    pub(crate) ignored: u64,
    pub(crate) cancelled: u64,
    pub(crate) stale: u64,
    pub(crate) probe_success: u64,
    pub(crate) probe_failure: u64,
    pub(crate) probe_lost: u64,
    /// Calls that ended under the lock, however they ended.
    pub(crate) ended: u64,
}

/// How long the measured calls took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct LatencyTally {
    pub(crate) sum_micros: u64,
    pub(crate) measured: u32,
    pub(crate) max_micros: u32,
}

impl LatencyTally {
    /// Forgets nothing until the count is full; then both halves are halved, so that the mean stays
    /// and new calls still move it.
    pub(crate) fn add(&mut self, took: std::time::Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        if self.measured == u32::MAX || self.sum_micros.checked_add(micros).is_none() {
            self.measured /= 2;
            self.sum_micros /= 2;
        }
        self.measured += 1;
        self.sum_micros = self.sum_micros.saturating_add(micros);
        self.max_micros = self.max_micros.max(u32::try_from(micros).unwrap_or(u32::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_mean_and_the_longest_are_kept() {
        let mut tally = LatencyTally::default();
        for millis in [10, 30, 20] {
            tally.add(Duration::from_millis(millis));
        }
        assert_eq!(tally, LatencyTally { sum_micros: 60_000, measured: 3, max_micros: 30_000 });
    }

    #[test]
    fn full_counters_go_on() {
        let mut tally = LatencyTally { sum_micros: 4_000, measured: u32::MAX, max_micros: 1 };
        tally.add(Duration::MAX);
        assert_eq!(tally.measured, u32::MAX / 2 + 1);
        assert_eq!(tally.max_micros, u32::MAX);
        tally.add(Duration::MAX);
        assert_eq!(tally.sum_micros, u64::MAX);
    }

    #[test]
    fn whichever_is_full_the_mean_stays() {
        for (sum_micros, measured) in [(4_000, u32::MAX), (u64::MAX - 1, 10)] {
            let mut tally = LatencyTally { sum_micros, measured, max_micros: 1 };
            tally.add(Duration::from_micros(2));
            assert_eq!((tally.sum_micros, tally.measured), (sum_micros / 2 + 2, measured / 2 + 1));
        }
    }
}
