//! What the model and the fuzzer have found, each as a test of its own.

use std::time::Duration;

use mainstay_breaker::{Breaker, Detector, ManualClock, Rejected, State};

#[test]
fn what_is_saved_while_the_operators_probe_is_lost_is_what_remains_of_open() {
    let clock = ManualClock::new();
    let breaker = Breaker::builder("payments")
        .detector(Detector::consecutive(1))
        .open_for(Duration::from_secs(60))
        .half_open_for(Duration::from_secs(10))
        .clock(clock.clone())
        .build()
        .unwrap();
    let _ = breaker.run(|| Err::<(), _>("down"));
    let _probe = breaker.enter_probe().unwrap();
    clock.advance(Duration::from_secs(10));
    let remaining = Duration::from_secs(50);
    let rejected = Rejected { state: State::Open, retry_after: Some(remaining) };
    assert_eq!(breaker.would_reject(), Some(rejected));
    assert_eq!(breaker.export().state, State::Open);
    assert_eq!(breaker.export().open_remaining, remaining);
}
