//! What is left of many latencies: how many, their sum, the least, the greatest, and how many were
//! about how long.
//!
//! Lengths are counted in buckets, [`STEPS`] to each doubling, so that a percentile that is read from
//! them is within [`PERCENTILE_ERROR`] of the true one. Summaries of parts merge to the summary of the
//! whole, in whatever order: an hour's 99th percentile can't come from those of its minutes.

use std::time::Duration;

/// Buckets for each doubling of the latency.
pub const STEPS: u64 = 10;

/// How far a percentile may be from the true one, as a part of it.
pub const PERCENTILE_ERROR: f64 = 0.05;

/// The latencies of one dependency over a span of time, in microseconds. There is at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    count: u64,
    sum: u64,
    min: u64,
    max: u64,
    /// By number, each once, none of them empty.
    buckets: Vec<(u16, u64)>,
}

impl Summary {
    /// Of one latency.
    #[must_use]
    pub fn of(latency: Duration) -> Self {
        Self::of_micros(u64::try_from(latency.as_micros()).unwrap_or(u64::MAX))
    }

    pub(crate) fn of_micros(micros: u64) -> Self {
        let buckets = vec![(bucket_of(micros), 1)];
        Self { count: 1, sum: micros, min: micros, max: micros, buckets }
    }

    /// From parts that were checked against each other.
    pub(super) fn from_parts(parts: (u64, u64, u64), buckets: Vec<(u16, u64)>) -> Self {
        let (sum, min, max) = parts;
        let count = buckets.iter().fold(0_u64, |all, (_, count)| all.saturating_add(*count));
        Self { count, sum, min, max, buckets }
    }

    /// Takes one more latency in.
    pub(crate) fn add_micros(&mut self, micros: u64) {
        self.count = self.count.saturating_add(1);
        self.sum = self.sum.saturating_add(micros);
        self.min = self.min.min(micros);
        self.max = self.max.max(micros);
        self.add_to_bucket(bucket_of(micros), 1);
    }

    /// Takes another summary in.
    pub fn merge(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        for (bucket, count) in &other.buckets {
            self.add_to_bucket(*bucket, *count);
        }
    }

    /// How many latencies.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The least.
    #[must_use]
    pub const fn min(&self) -> Duration {
        Duration::from_micros(self.min)
    }

    /// The greatest.
    #[must_use]
    pub const fn max(&self) -> Duration {
        Duration::from_micros(self.max)
    }

    /// The mean.
    #[must_use]
    pub fn mean(&self) -> Duration {
        Duration::from_micros(self.sum.checked_div(self.count).unwrap_or_default())
    }

    /// The latency that `percent` of a hundred do not exceed, within [`PERCENTILE_ERROR`].
    #[must_use]
    pub fn percentile(&self, percent: u32) -> Duration {
        let share = u128::from(self.count).saturating_mul(u128::from(percent.min(100)));
        let rank = share.div_ceil(100).max(1);
        let mut seen = 0_u128;
        let found = self.buckets.iter().find(|(_, count)| {
            seen = seen.saturating_add(u128::from(*count));
            seen >= rank
        });
        let middle = found.map_or(self.max, |(bucket, _)| middle_of(*bucket));
        Duration::from_micros(middle.clamp(self.min, self.max))
    }

    pub(super) const fn sum(&self) -> u64 {
        self.sum
    }

    /// The least and the greatest.
    pub(super) const fn bounds(&self) -> (u64, u64) {
        (self.min, self.max)
    }

    pub(super) fn buckets(&self) -> &[(u16, u64)] {
        &self.buckets
    }

    fn add_to_bucket(&mut self, bucket: u16, more: u64) {
        match self.buckets.binary_search_by_key(&bucket, |(number, _)| *number) {
            Ok(at) => {
                if let Some((_, count)) = self.buckets.get_mut(at) {
                    *count = count.saturating_add(more);
                }
            }
            Err(at) => self.buckets.insert(at, (bucket, more)),
        }
    }
}

/// The bucket of a latency. Zero has the first one with what lasts a microsecond.
pub(super) fn bucket_of(micros: u64) -> u16 {
    let micros = micros.max(1);
    let doublings = micros.ilog2();
    let above = u128::from(micros - (1 << doublings));
    let step = (above * u128::from(STEPS)) >> doublings;
    let number = u128::from(doublings) * u128::from(STEPS) + step;
    u16::try_from(number).unwrap_or(u16::MAX)
}

/// Half way between the least and the greatest latency of a bucket.
fn middle_of(bucket: u16) -> u64 {
    let least = least_of(u64::from(bucket));
    let greatest = least_of(u64::from(bucket) + 1).saturating_sub(1).max(least);
    least + (greatest - least) / 2
}

/// The least latency of a bucket.
fn least_of(bucket: u64) -> u64 {
    let doublings = u32::try_from(bucket / STEPS).unwrap_or(u32::MAX);
    let Some(base) = 1_u64.checked_shl(doublings) else { return u64::MAX };
    let above = (u128::from(bucket % STEPS) * u128::from(base)).div_ceil(u128::from(STEPS));
    base.saturating_add(u64::try_from(above).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const LATENCIES: std::ops::RangeInclusive<u64> = 1..=86_400_000_000;

    fn summary(micros: &[u64]) -> Summary {
        let mut all = Summary::of_micros(micros[0]);
        micros[1..].iter().for_each(|us| all.add_micros(*us));
        all
    }

    /// The latency of that rank among all, as it was.
    fn exact(micros: &[u64], percent: usize) -> u64 {
        let mut sorted = micros.to_vec();
        sorted.sort_unstable();
        sorted[(sorted.len() * percent).div_ceil(100).max(1) - 1]
    }

    #[test]
    fn a_single_latency_is_told_exactly() {
        let one = Summary::of(Duration::from_micros(123_457));
        let told = [one.min(), one.mean(), one.max(), one.percentile(50), one.percentile(99)];
        assert_eq!(told, [Duration::from_micros(123_457); 5]);
    }

    #[test]
    fn the_figures_of_a_few_latencies() {
        let few = summary(&[1_000, 2_000, 6_000]);
        assert_eq!(few.count(), 3);
        assert_eq!((few.min(), few.max()), (Duration::from_millis(1), Duration::from_millis(6)));
        assert_eq!(few.mean(), Duration::from_millis(3));
        assert_eq!(few.percentile(100), few.percentile(200));
    }

    #[test]
    fn buckets_follow_each_other_and_hold_what_is_theirs() {
        let mut before = 0;
        for micros in (1..5_000).chain((0..64).map(|shift| 1_u64 << shift)) {
            let bucket = bucket_of(micros);
            assert!(bucket >= before || micros == 1, "{micros}");
            assert!(least_of(u64::from(bucket)) <= micros, "{micros}");
            assert!(micros < least_of(u64::from(bucket) + 1), "{micros}");
            before = bucket;
        }
        assert_eq!(bucket_of(0), bucket_of(1));
        assert!(middle_of(u16::MAX) >= middle_of(bucket_of(u64::MAX)));
    }

    proptest! {
        #[test]
        fn a_percentile_is_near_the_true_one(micros in vec(LATENCIES, 1..200)) {
            let all = summary(&micros);
            for percent in [50, 95, 99] {
                let exact = exact(&micros, percent) as f64;
                let told = all.percentile(u32::try_from(percent).unwrap()).as_micros() as f64;
                prop_assert!((told - exact).abs() <= exact * PERCENTILE_ERROR, "{told} for {exact}");
            }
        }

        #[test]
        fn parts_merge_to_the_whole_in_any_order(
            one in vec(LATENCIES, 1..40), two in vec(LATENCIES, 1..40), three in vec(LATENCIES, 1..40)
        ) {
            let whole = summary(&[one.clone(), two.clone(), three.clone()].concat());
            let [one, two, three] = [one, two, three].map(|part| summary(&part));
            let merged = |first: &Summary, then: &Summary| {
                let mut first = first.clone();
                first.merge(then);
                first
            };
            prop_assert_eq!(&merged(&merged(&one, &two), &three), &whole);
            prop_assert_eq!(&merged(&one, &merged(&two, &three)), &whole);
            prop_assert_eq!(&merged(&merged(&three, &one), &two), &whole);
        }
    }
}
