//! seatbelt 0.11: a failure rate in ten slices of time, its only detector. Async only.

use layered::{Execute, Service, Stack as _};
use seatbelt::breaker::Breaker;
use seatbelt::{RecoveryInfo, ResilienceContext};
use std::task::Waker;
use tick::Clock;
use tick::runtime::InactiveClock;

use super::{OPEN, RATE, WINDOW, share};
use crate::call::{Answer, FAIL, Failure, Later, SUCCEED, drive};
use crate::cases::{Case, Entry, Window};

/// How many results it needs before it judges, by default.
const SAMPLES: u32 = 100;

pub(super) fn enter(cases: &mut Vec<Case>) -> anyhow::Result<()> {
    enter_with(cases, "seatbelt", &clock())?;
    enter_with(cases, "seatbelt_fast_clock", &clock().with_fast_instant(true))
}

fn enter_with(
    cases: &mut Vec<Case>,
    contestant: &'static str,
    clock: &Clock,
) -> anyhow::Result<()> {
    let mut entry = Entry::new(cases, contestant);
    let closed = share(rate(clock, SAMPLES));
    entry.closed_async(|| closed.execute(SUCCEED));
    let open = share(rate(clock, SAMPLES));
    for _ in 0..SAMPLES {
        let _ = drive(open.execute(FAIL));
    }
    entry.open_async(|| open.execute(SUCCEED));
    entry.window_async(Window::Rolling, |samples| {
        let closed = share(rate(clock, samples));
        Ok(|| closed.execute(SUCCEED))
    })
}

fn rate(clock: &Clock, samples: u32) -> impl Service<Later, Out = Answer> + use<> {
    let layer = Breaker::layer("bench", &ResilienceContext::new(clock))
        .recovery_with(|answer: &Answer, _| match answer {
            Ok(_) => RecoveryInfo::never(),
            Err(_) => RecoveryInfo::retry(),
        })
        .rejected_input_error(|_: Later, _| Failure)
        .failure_threshold(RATE)
        .min_throughput(samples)
        .sampling_duration(WINDOW)
        .break_duration(OPEN);
    (layer, Execute::new(|later: Later| later)).into_service()
}

/// A clock without a runtime: a breaker only reads it, and no timer waits for it.
fn clock() -> Clock {
    let (clock, driver) = InactiveClock::new_shared().activate(Waker::noop().clone());
    share(driver);
    clock
}
