//! Threads of the real kind: what loom and shuttle try in every order, at full speed and, under
//! miri, with the memory of a machine that promises little.
#![cfg(test)]

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use mainstay_breaker::{Breaker, Detector, HalfOpenPolicy, ManualClock, State};

const THREADS: usize = 4;
const CALLS: usize = if cfg!(miri) { 12 } else { 5_000 };

fn builder(clock: &ManualClock) -> mainstay_breaker::Builder {
    Breaker::builder("threaded").open_for(Duration::from_secs(5)).clock(clock.clone())
}

#[test]
fn calls_of_many_threads_add_up() {
    let clock = ManualClock::new();
    // Any failure opens it: a run in which no thread met another goes through every state too.
    let breaker = builder(&clock).detector(Detector::consecutive(1)).build().unwrap();
    let work = |thread: usize| {
        for call in 0..CALLS {
            match breaker.enter() {
                Ok(permit) if (thread + call).is_multiple_of(3) => drop(permit),
                Ok(permit) if call % 4 < 2 => drop(permit.failure()),
                Ok(permit) => drop(permit.success()),
                Err(_) => clock.advance(Duration::from_secs(1)),
            }
            let seen = breaker.snapshot();
            assert!(seen.success_total + seen.failure_total <= seen.allowed_total, "{seen:?}");
        }
    };
    thread::scope(|scope| {
        let work = &work;
        (0..THREADS).for_each(|thread| drop(scope.spawn(move || work(thread))));
    });
    let seen = breaker.snapshot();
    let ended = seen.success_total + seen.failure_total + seen.cancelled_total + seen.stale_total;
    assert_eq!((ended, seen.in_flight), (seen.allowed_total, 0), "{seen:?}");
    assert_eq!(seen.allowed_total + seen.rejected_total, (THREADS * CALLS) as u64);
    assert!(seen.opened_total > 1 || cfg!(miri), "{seen:?}");
}

#[test]
fn no_more_probes_than_allowed_run_at_once_on_any_number_of_threads() {
    const PROBES: u32 = 2;
    let clock = ManualClock::new();
    let builder = builder(&clock).detector(Detector::consecutive(1));
    let breaker = builder.half_open(HalfOpenPolicy::all(PROBES)).build().unwrap();
    breaker.enter().unwrap().failure();
    clock.advance(Duration::from_secs(5));
    let running = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..CALLS {
                    let Ok(probe) = breaker.enter() else { continue };
                    assert!(running.fetch_add(1, Ordering::SeqCst) < PROBES);
                    thread::yield_now();
                    running.fetch_sub(1, Ordering::SeqCst);
                    probe.ignore();
                }
            });
        }
    });
    assert_eq!((breaker.state(), breaker.snapshot().in_flight), (State::HalfOpen, 0));
    let probes = [breaker.enter().unwrap(), breaker.enter().unwrap()];
    assert!(breaker.enter().is_err());
    drop(probes);
}
