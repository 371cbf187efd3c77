//! A clock that steps back is held at the latest moment that the breaker has seen.
#![cfg(test)]

use std::time::Duration;

use mainstay_breaker::{Breaker, Detector, ManualClock, State};

const OPEN_FOR: Duration = Duration::from_secs(5);

#[test]
fn a_clock_that_steps_back_right_after_the_first_trip_prolongs_nothing() {
    let clock = ManualClock::new();
    let builder = Breaker::builder("payments").detector(Detector::consecutive(1));
    let breaker = builder.open_for(OPEN_FOR).clock(clock.clone()).build().unwrap();
    breaker.enter().unwrap().failure();
    clock.step_back(Duration::from_secs(1_000));
    assert_eq!(breaker.enter().unwrap_err().retry_after, Some(OPEN_FOR));
    clock.advance(Duration::from_secs(1_000) + OPEN_FOR);
    assert_eq!(breaker.state(), State::HalfOpen);
}
