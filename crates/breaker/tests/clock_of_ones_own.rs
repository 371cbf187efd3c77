#![cfg(test)]
//! A clock that tells the time and nothing else is enough, under every set of features.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mainstay_breaker::{Breaker, Clock, Detector, Moment, State};

#[derive(Clone, Default)]
struct Hourglass(Arc<AtomicU64>);

impl Clock for Hourglass {
    fn now(&self) -> Moment {
        Moment::from_nanos(self.0.load(Ordering::Relaxed))
    }
}

#[test]
fn a_breaker_goes_by_it() {
    let clock = Hourglass::default();
    let breaker = Breaker::builder("payments")
        .detector(Detector::consecutive(1))
        .open_for(Duration::from_nanos(7))
        .clock(clock.clone())
        .build()
        .unwrap();
    breaker.enter().unwrap().failure();
    assert_eq!(breaker.state(), State::Open);
    clock.0.store(7, Ordering::Relaxed);
    assert_eq!(breaker.state(), State::HalfOpen);
}

/// One hand goes by the nanosecond, the other one is read at less cost and moves late.
#[derive(Clone, Default)]
struct TwoHands {
    exact: Hourglass,
    rough: Hourglass,
}

impl Clock for TwoHands {
    fn now(&self) -> Moment {
        self.exact.now()
    }

    fn rough(&self) -> Moment {
        self.rough.now()
    }
}

#[test]
fn the_rough_hand_is_enough_from_a_second_on() {
    for (open_for, is_exact) in [(999, true), (1_000, false), (1_001, false)] {
        let open_for = Duration::from_millis(open_for);
        let clock = TwoHands::default();
        let breaker = Breaker::builder("payments")
            .detector(Detector::consecutive(1))
            .open_for(open_for)
            .clock(clock.clone())
            .build()
            .unwrap();
        breaker.enter().unwrap().failure();
        let later = u64::try_from(open_for.as_nanos()).unwrap();
        clock.exact.0.store(later, Ordering::Relaxed);
        let expected = if is_exact { State::HalfOpen } else { State::Open };
        assert_eq!(breaker.state(), expected, "the exact hand alone, after {open_for:?}");
        clock.rough.0.store(later, Ordering::Relaxed);
        assert_eq!(breaker.state(), State::HalfOpen, "both hands, after {open_for:?}");
    }
}

#[cfg(feature = "async")]
#[tokio::test(start_paused = true)]
async fn timeouts_go_by_the_timer_of_the_runtime() {
    use mainstay_breaker::CallError;

    let after = Duration::from_secs(2);
    let breaker =
        Breaker::builder("payments").timeout(after).clock(Hourglass::default()).build().unwrap();
    let hangs = || breaker.call(std::future::pending::<Result<(), &str>>());
    let tick = Duration::from_millis(1);
    assert!(tokio::time::timeout(after - tick, hangs()).await.is_err(), "not before its time");
    let answer = tokio::time::timeout(after + tick, hangs()).await;
    assert_eq!(answer.unwrap(), Err(CallError::Timeout { after }));
}
