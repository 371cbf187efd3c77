//! What the parts of a breaker cost alone: no breaker that needs them can be faster.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

use crate::cases::{Case, Entry, FLOOR};

pub(crate) fn enter(cases: &mut Vec<Case>) {
    let mut entry = Entry::new(cases, FLOOR);
    entry.floor("instant_now", Instant::now);
    entry.floor("coarse_clock", || clock_gettime(ClockId::MonotonicCoarse));
    let counter = AtomicU64::new(0);
    entry.floor("fetch_add", move || counter.fetch_add(1, Ordering::Relaxed));
    let guarded = Mutex::new(0_u64);
    entry.floor("mutex_pair", move || {
        *guarded.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    });
}
