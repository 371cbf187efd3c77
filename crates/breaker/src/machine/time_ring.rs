//! The results of the last while, in a ring of buckets: constant work for each result, constant
//! memory, and a result is forgotten by reading as well as by writing.

use std::time::Duration;

use super::Reading;
use crate::moment::{Moment, whole_nanos};

/// A result is forgotten when it is between 19/20 of the window and the whole window old.
const BUCKETS: usize = 20;

/// Counts of successes and failures by the time they came in.
#[derive(Debug, Clone)]
pub(crate) struct TimeRing {
    /// The length of one bucket in nanoseconds.
    width: u64,
    /// Where the current bucket begins.
    begins: Moment,
    /// Which bucket is the current one.
    current: usize,
    buckets: [Reading; BUCKETS],
    /// The sum of all buckets.
    sum: Reading,
}

impl TimeRing {
    pub(crate) fn new(window: Duration) -> Self {
        let width = whole_nanos(window).div_ceil(BUCKETS as u64).max(1);
        Self {
            width,
            begins: Moment::default(),
            current: 0,
            buckets: [Reading::default(); BUCKETS],
            sum: Reading::default(),
        }
    }

    #[inline]
    pub(crate) fn record(&mut self, failed: bool, now: Moment) {
        self.forget(now);
        if let Some(bucket) = self.buckets.get_mut(self.current) {
            bucket.add(failed);
            self.sum.add(failed);
        }
    }

    /// What the window holds now.
    #[inline]
    pub(crate) fn read(&mut self, now: Moment) -> Reading {
        self.forget(now);
        self.sum
    }

    pub(crate) fn reset(&mut self) {
        self.buckets = [Reading::default(); BUCKETS];
        self.sum = Reading::default();
    }

    #[inline]
    fn forget(&mut self, now: Moment) {
        let age = now.as_nanos().saturating_sub(self.begins.as_nanos());
        if age >= self.width || self.sum.samples == 0 {
            self.turn(now, age);
        }
    }

    /// Moves on by whole buckets. An empty ring begins anew, so that its first result lives for the
    /// whole window.
    fn turn(&mut self, now: Moment, age: u64) {
        if self.sum.samples == 0 {
            self.begins = self.begins.max(now);
            return;
        }
        let steps = age / self.width;
        for _ in 0..steps.min(BUCKETS as u64) {
            self.current = (self.current + 1) % BUCKETS;
            if let Some(bucket) = self.buckets.get_mut(self.current) {
                self.sum.take(*bucket);
                *bucket = Reading::default();
            }
        }
        let moved = Duration::from_nanos(steps.saturating_mul(self.width));
        self.begins = self.begins.plus(moved);
        if self.sum.samples == 0 {
            self.begins = self.begins.max(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Miri is some thousand times slower.
    const LONGEST: usize = if cfg!(miri) { 30 } else { 300 };

    const WINDOW: Duration = Duration::from_secs(10);

    fn at(millis: u64) -> Moment {
        Moment::from_nanos(0).plus(Duration::from_millis(millis))
    }

    #[test]
    fn the_first_result_lives_for_the_whole_window() {
        let mut ring = TimeRing::new(WINDOW);
        ring.record(true, at(123_456));
        assert_eq!(ring.read(at(123_456 + 9_999)).failures, 1);
        assert_eq!(ring.read(at(123_456 + 10_000)), Reading::default());
    }

    #[test]
    fn so_does_the_first_after_an_empty_ring_was_read() {
        let mut ring = TimeRing::new(WINDOW);
        assert_eq!(ring.read(at(100_000)), Reading::default());
        ring.record(true, at(100_499));
        assert_eq!(ring.read(at(110_498)).failures, 1);
        assert_eq!(ring.read(at(110_499)), Reading::default());
    }

    #[test]
    fn reading_forgets_too() {
        let mut ring = TimeRing::new(WINDOW);
        (0..100).for_each(|_| ring.record(true, at(0)));
        assert_eq!(ring.read(at(3_600_000)), Reading::default());
    }

    #[test]
    fn a_clock_that_steps_back_changes_nothing() {
        let mut ring = TimeRing::new(WINDOW);
        ring.record(true, at(60_000));
        ring.record(false, at(10));
        assert_eq!(ring.read(at(0)), Reading { samples: 2, failures: 1 });
        assert_eq!(ring.read(at(69_999)), Reading { samples: 2, failures: 1 });
        assert_eq!(ring.read(at(70_000)), Reading::default());
    }

    #[test]
    fn the_ends_of_time_hold() {
        let mut ring = TimeRing::new(Duration::MAX);
        ring.record(true, Moment::from_nanos(u64::MAX));
        ring.record(true, Moment::from_nanos(0));
        assert_eq!(ring.read(Moment::from_nanos(u64::MAX)).failures, 2);
        let mut ring = TimeRing::new(Duration::from_nanos(1));
        ring.record(true, Moment::from_nanos(0));
        ring.record(true, Moment::from_nanos(u64::MAX));
        assert_eq!(ring.read(Moment::from_nanos(u64::MAX)).failures, 1);
    }

    /// Takes in so many results at once.
    fn record_many(ring: &mut TimeRing, many: Reading, now: Moment) {
        ring.forget(now);
        for reading in [&mut ring.buckets[ring.current], &mut ring.sum] {
            reading.samples += many.samples;
            reading.failures += many.failures;
        }
    }

    #[test]
    fn a_month_at_ten_thousand_a_second_is_counted_and_forgotten_to_the_last() {
        const A_PART: Duration = Duration::from_secs(30 * 86_400 / 20);
        let busy =
            Reading { samples: 10_000 * A_PART.as_secs(), failures: 5_000 * A_PART.as_secs() };
        let mut ring = TimeRing::new(20 * A_PART);
        let part = |number: u32| Moment::default().plus(number * A_PART);
        (0..20).for_each(|number| record_many(&mut ring, busy, part(number)));
        let month = ring.read(part(19));
        assert_eq!(month, Reading { samples: 25_920_000_000, failures: 12_960_000_000 });
        assert!((month.error_rate() - 0.5).abs() < f64::EPSILON);
        for number in 20..40 {
            let healthy = Reading { failures: 0, ..busy };
            record_many(&mut ring, healthy, part(number));
            let failures = busy.failures * u64::from(39 - number);
            assert_eq!(ring.read(part(number)), Reading { failures, ..month });
        }
        assert_eq!(ring.read(part(60)), Reading::default());
    }

    proptest! {
        /// Against a list of results: never older than the window, never forgotten before 19/20 of it.
        #[test]
        fn the_ring_is_a_window(steps in prop::collection::vec((0_u64..4_000, any::<bool>()), 1..LONGEST)) {
            let mut ring = TimeRing::new(WINDOW);
            let mut results = Vec::new();
            let mut now = 0;
            for (step, failed) in steps {
                now += step;
                ring.record(failed, at(now));
                results.push((now, failed));
                let within = |millis: u64| {
                    let kept = results.iter().filter(move |(then, _)| now - then < millis);
                    let failures = kept.clone().filter(|(_, failed)| *failed).count();
                    (kept.count() as u64, failures as u64)
                };
                let read = ring.read(at(now));
                let (most, most_failures) = within(10_000);
                let (least, least_failures) = within(9_500);
                prop_assert!((least..=most).contains(&read.samples), "{read:?}");
                prop_assert!((least_failures..=most_failures).contains(&read.failures), "{read:?}");
            }
        }
    }
}
