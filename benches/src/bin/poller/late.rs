//! How late polls are: counted by tenths of a millisecond.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::INTERVAL;

/// Up to two seconds, in tenths of a millisecond.
const BUCKETS: usize = 20_000;
const BUCKET_MS: f64 = 0.1;

/// How late the polls of all contestants of a round were.
#[derive(Clone)]
pub(crate) struct Late(Arc<[AtomicU32]>);

/// The polls of one of them.
pub(crate) struct Due {
    late: Late,
    start: Instant,
    polls: u32,
}

impl Late {
    pub(crate) fn new() -> Self {
        Self((0..BUCKETS).map(|_| AtomicU32::new(0)).collect())
    }

    /// One that starts now.
    pub(crate) fn start(&self) -> Due {
        Due { late: self.clone(), start: Instant::now(), polls: 0 }
    }

    pub(crate) fn p50(&self) -> f64 {
        self.percentile(50)
    }

    pub(crate) fn p99(&self) -> f64 {
        self.percentile(99)
    }

    fn percentile(&self, percent: u64) -> f64 {
        let counts: Vec<u64> =
            self.0.iter().map(|one| one.load(Ordering::Relaxed).into()).collect();
        let wanted = counts.iter().sum::<u64>() * percent / 100;
        let mut seen = 0;
        let at = counts.iter().position(|count| {
            seen += count;
            seen >= wanted
        });
        let at = at.and_then(|at| u32::try_from(at).ok()).unwrap_or(u32::MAX);
        f64::from(at) * BUCKET_MS
    }

    fn note(&self, late: Duration) {
        let bucket = usize::try_from(late.as_micros() / 100).unwrap_or(BUCKETS);
        if let Some(count) = self.0.get(bucket.min(BUCKETS - 1)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Due {
    /// A poll, which is due so many intervals after the start. The first is no part of it.
    pub(crate) fn poll(&mut self) {
        if self.polls > 0 {
            self.late.note(self.start.elapsed().saturating_sub(INTERVAL * self.polls));
        }
        self.polls += 1;
    }
}
