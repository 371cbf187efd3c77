//! When the calls began that are in flight while closed, so that one that hangs is counted as slow when
//! the breaker is next asked, without a timer.

use std::time::Duration;

use crate::moment::{Moment, whole_nanos};

/// Calls that began within 1/32 of the limit of each other are judged together, by the youngest.
const PARTS: u8 = 32;
/// What can be unjudged after a sweep: the parts of the limit, the one begun, and the one being left.
const BUCKETS: usize = PARTS as usize + 2;

/// The calls in flight of one generation, by when they began.
#[derive(Debug, Clone)]
pub(crate) struct Starts {
    limit: Duration,
    /// The length of one bucket in nanoseconds.
    width: u64,
    /// The number of the first bucket that has not been judged.
    first: u64,
    /// The latest moment seen: time does not go back.
    latest: Moment,
    buckets: [Bucket; BUCKETS],
}

#[derive(Debug, Clone, Copy, Default)]
struct Bucket {
    in_flight: u32,
    youngest: Moment,
}

/// What is known of a call that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It was counted as slow while it was in flight: nothing more is to count.
    AlreadyCounted,
    /// It took longer than the limit.
    Slow,
    /// It was within the limit.
    InTime,
}

impl Starts {
    pub(crate) fn new(limit: Duration) -> Self {
        let width = whole_nanos(limit).div_ceil(PARTS.into()).max(1);
        Self {
            limit,
            width,
            first: 0,
            latest: Moment::default(),
            buckets: [Bucket::default(); BUCKETS],
        }
    }

    /// A call begins. Returns when it began by this clock, which [`Starts::end`] wants back.
    /// Comes after [`Starts::sweep`] of the same `now`.
    pub(crate) fn begin(&mut self, now: Moment) -> Moment {
        let now = self.advance(now);
        let bucket = self.bucket(self.number(now));
        bucket.in_flight = bucket.in_flight.saturating_add(1);
        bucket.youngest = now;
        now
    }

    /// A call ends that began at `began`. Comes after [`Starts::sweep`] of the same `now`.
    pub(crate) fn end(&mut self, began: Moment, now: Moment) -> Ended {
        let number = self.number(began);
        if number < self.first {
            return Ended::AlreadyCounted;
        }
        let bucket = self.bucket(number);
        bucket.in_flight = bucket.in_flight.saturating_sub(1);
        let took = self.no_earlier(now).since(began);
        if took > self.limit { Ended::Slow } else { Ended::InTime }
    }

    pub(crate) fn no_earlier(&self, now: Moment) -> Moment {
        now.max(self.latest)
    }

    /// How many calls are newly found in flight beyond the limit.
    pub(crate) fn sweep(&mut self, now: Moment) -> u32 {
        let now = self.advance(now);
        let current = self.number(now);
        // Whatever stands further back than the ring is long is beyond the limit as a whole.
        let mut overdue = 0_u32;
        for _ in 0..BUCKETS {
            if self.first >= current {
                return overdue;
            }
            let limit = self.limit;
            let bucket = self.bucket(self.first);
            if bucket.in_flight > 0 && now.since(bucket.youngest) <= limit {
                return overdue;
            }
            overdue = overdue.saturating_add(bucket.in_flight);
            *bucket = Bucket::default();
            self.first += 1;
        }
        self.first = self.first.max(current.saturating_sub(PARTS.into()));
        overdue
    }

    /// A new generation: what is in flight belongs to another.
    pub(crate) fn reset(&mut self) {
        self.buckets = [Bucket::default(); BUCKETS];
    }

    fn advance(&mut self, now: Moment) -> Moment {
        self.latest = self.no_earlier(now);
        self.latest
    }

    fn number(&self, moment: Moment) -> u64 {
        moment.as_nanos() / self.width
    }

    #[expect(clippy::indexing_slicing, reason = "the remainder is within the array")]
    fn bucket(&mut self, number: u64) -> &mut Bucket {
        let place = usize::try_from(number % BUCKETS as u64).unwrap_or(0);
        &mut self.buckets[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Miri is some thousand times slower.
    const LONGEST: usize = if cfg!(miri) { 30 } else { 400 };

    const LIMIT: Duration = Duration::from_millis(1_000);

    fn at(millis: u64) -> Moment {
        Moment::from_nanos(0).plus(Duration::from_millis(millis))
    }

    #[test]
    fn a_call_is_slow_only_beyond_the_limit() {
        for (took, ended) in [(0, Ended::InTime), (1_000, Ended::InTime), (1_001, Ended::Slow)] {
            let mut starts = Starts::new(LIMIT);
            let began = starts.begin(at(77));
            assert_eq!(starts.end(began, at(77 + took)), ended, "after {took} ms");
        }
    }

    #[test]
    fn a_call_in_flight_is_counted_once() {
        let mut starts = Starts::new(LIMIT);
        let began = starts.begin(at(77));
        assert_eq!(starts.sweep(at(1_077)), 0);
        assert_eq!(starts.sweep(at(1_078)), 1);
        assert_eq!(starts.sweep(at(9_999)), 0);
        assert_eq!(starts.end(began, at(10_000)), Ended::AlreadyCounted);
    }

    #[test]
    fn a_new_generation_starts_without_calls() {
        let mut starts = Starts::new(LIMIT);
        starts.begin(at(0));
        starts.reset();
        assert_eq!(starts.sweep(at(60_000)), 0);
    }

    #[test]
    fn the_ends_of_time_hold() {
        for limit in [Duration::from_nanos(1), Duration::MAX] {
            let mut starts = Starts::new(limit);
            starts.begin(Moment::from_nanos(u64::MAX));
            let again = starts.begin(Moment::from_nanos(0));
            assert_eq!(again, Moment::from_nanos(u64::MAX), "time does not go back");
            assert_eq!(starts.sweep(Moment::from_nanos(u64::MAX)), 0);
        }
    }

    proptest! {
        /// Against a list of calls: whoever is beyond the limit by 1/32 is counted, nobody within
        /// it is, and nobody twice.
        #[test]
        fn every_call_is_counted_once(
            steps in prop::collection::vec((0_u64..400, any::<bool>(), any::<prop::sample::Index>()), 1..LONGEST),
        ) {
            let mut starts = Starts::new(LIMIT);
            let mut in_flight: Vec<Moment> = Vec::new();
            let (mut begun, mut in_time, mut slow, mut swept) = (0, 0, 0, 0);
            let mut now = 0;
            for (step, begins, which) in steps {
                now += step;
                swept += starts.sweep(at(now));
                let beyond = |millis: u64| in_flight.iter().filter(|began| at(now).since(**began) > Duration::from_millis(millis)).count();
                let already = in_flight.iter().filter(|began| starts.clone().end(**began, at(now)) == Ended::AlreadyCounted).count();
                prop_assert!(already <= beyond(1_000));
                prop_assert!(already >= beyond(1_032));
                if begins || in_flight.is_empty() {
                    in_flight.push(starts.begin(at(now)));
                    begun += 1;
                } else {
                    let began = in_flight.swap_remove(which.index(in_flight.len()));
                    match starts.end(began, at(now)) {
                        Ended::InTime => in_time += 1,
                        Ended::Slow => slow += 1,
                        Ended::AlreadyCounted => {}
                    }
                }
            }
            swept += starts.sweep(at(now + 10_000));
            prop_assert_eq!(in_time + slow + swept, begun);
        }
    }
}
