//! failsafe 1.3: one mutex around the state and the policy. It has no count ring.

use failsafe::backoff::{Constant, constant};
use failsafe::failure_policy::{
    ConsecutiveFailures, SuccessRateOverTimeWindow, consecutive_failures,
    success_rate_over_time_window,
};
use failsafe::futures::CircuitBreaker as Futures;
use failsafe::{CircuitBreaker, StateMachine};

use super::{FAILURES, OPEN, RATE, WINDOW, share};
use crate::call::{SUCCEED, fail, succeed};
use crate::cases::{Case, Entry, Window};

pub(super) fn enter(cases: &mut Vec<Case>) -> anyhow::Result<()> {
    let mut entry = Entry::new(cases, "failsafe");
    let closed = share(consecutive());
    entry.closed_sync(|| CircuitBreaker::call(closed, succeed));
    entry.closed_async(|| Futures::call(closed, SUCCEED));
    let open = share(consecutive());
    for _ in 0..FAILURES {
        let _ = CircuitBreaker::call(open, fail);
    }
    entry.open_sync(|| CircuitBreaker::call(open, succeed));
    entry.open_async(|| Futures::call(open, SUCCEED));
    entry.window_sync(Window::Rolling, |samples| {
        let closed = share(rate(samples));
        Ok(|| CircuitBreaker::call(closed, succeed))
    })
}

pub(super) fn consecutive() -> StateMachine<ConsecutiveFailures<Constant>, ()> {
    StateMachine::new(consecutive_failures(u32::from(FAILURES), constant(OPEN)), ())
}

fn rate(samples: u32) -> StateMachine<SuccessRateOverTimeWindow<Constant>, ()> {
    let policy = success_rate_over_time_window(f64::from(RATE), samples, WINDOW, constant(OPEN));
    StateMachine::new(policy, ())
}
