//! Every interleaving of a few threads at the gate, the permits, the hub and the counters.
//!
//! `RUSTFLAGS="--cfg mainstay_loom" cargo test -p mainstay-breaker --no-default-features --test loom`
#![cfg(test)]
#![cfg(mainstay_loom)]

mod counts;
mod gate;
mod hub;

use std::sync::Arc;
use std::time::Duration;

use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;
use mainstay_breaker::{
    Breaker, Clock, Detector, HalfOpenPolicy, LatencyOf, ManualClock, Moment, Permit, Rejected,
    State,
};

pub(crate) const OPEN_FOR: Duration = Duration::from_secs(5);

/// A breaker that opens after so many failures and sends one probe, with no latency to measure:
/// its calls take the way without the lock.
pub(crate) fn breaker(failures: u32) -> (Breaker, ManualClock) {
    let clock = ManualClock::new();
    (with_clock(failures, 1, clock.clone()), clock)
}

pub(crate) fn with_clock(failures: u32, probes: u32, clock: impl Clock) -> Breaker {
    Breaker::builder("checked")
        .detector(Detector::consecutive(failures))
        .open_for(OPEN_FOR)
        .half_open(HalfOpenPolicy::all(probes))
        .latency(LatencyOf::Nothing)
        .clock(clock)
        .build()
        .unwrap()
}

/// A clock that loom sees, for those who move it while others read it.
#[derive(Clone, Default)]
pub(crate) struct SeenClock(Arc<AtomicU64>);

impl SeenClock {
    pub(crate) fn set(&self, since_origin: Duration) {
        self.0.store(since_origin.as_nanos().try_into().unwrap(), Ordering::Release);
    }
}

impl Clock for SeenClock {
    fn now(&self) -> Moment {
        Moment::from_nanos(self.0.load(Ordering::Acquire))
    }
}

/// Open, with the time to be open over.
pub(crate) fn due_for_probes() -> (Breaker, ManualClock) {
    let (breaker, clock) = breaker(1);
    breaker.enter().unwrap().failure();
    clock.advance(OPEN_FOR);
    (breaker, clock)
}

/// Everything that was let through has ended, and was counted once.
pub(crate) fn assert_adds_up(breaker: &Breaker) {
    let seen = breaker.snapshot();
    assert_eq!(seen.in_flight, 0, "{seen:?}");
    let ended = seen.success_total
        + seen.failure_total
        + seen.ignored_total
        + seen.cancelled_total
        + seen.stale_total;
    assert_eq!(ended, seen.allowed_total, "{seen:?}");
}

/// One slot, and it is free.
pub(crate) fn assert_one_slot(breaker: &Breaker) {
    let probe = breaker.enter().unwrap();
    let refused = breaker.enter().unwrap_err();
    assert_eq!(refused.state, State::HalfOpen);
    drop(probe);
}

/// Enters on another thread, and brings back what came of it.
pub(crate) fn entering(breaker: &Breaker) -> thread::JoinHandle<Result<Permit<'static>, Rejected>> {
    let breaker = breaker.clone();
    thread::spawn(move || breaker.enter_owned())
}
