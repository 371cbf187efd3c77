//! tower-resilience 0.14: an async mutex, boxed futures and an event for each step. Its count window is a
//! counter that never forgets; its time window keeps every call and counts them anew for each.

use std::future::poll_fn;
use std::task::{Context, Poll};
use std::time::Duration;

use tower::{Layer as _, Service};
use tower_resilience_circuitbreaker::{
    CircuitBreaker, CircuitBreakerConfigBuilder, CircuitBreakerLayer, DefaultClassifier,
    SlidingWindowType,
};

use super::{Breakers, FAILURES, OPEN, RATE};
use crate::call::{Failure, Later, SUCCEED, drive};
use crate::cases::{Case, Entry, Window};
use crate::memory::map;

/// How often the length of the time window is corrected until it holds the samples that it should.
const CORRECTIONS: usize = 8;

type Breaker = CircuitBreaker<Inner, DefaultClassifier>;

pub(super) fn enter(cases: &mut Vec<Case>) -> anyhow::Result<()> {
    let mut entry = Entry::new(cases, "tower_resilience");
    entry.closed_async(caller(consecutive()?.layer(Inner)));
    let open = consecutive()?.layer(Inner);
    drive(open.force_open());
    entry.open_async(caller(open));
    entry.window_async(Window::CountRing, |samples| {
        let rate =
            settings().failure_rate_threshold(RATE.into()).sliding_window_size(size(samples));
        Ok(caller(rate.build()?.layer(Inner)))
    })?;
    entry.window_async(Window::Rolling, |samples| Ok(caller(time_window(samples)?)))
}

/// So many breakers with one configuration.
pub(super) fn many(count: u32) -> anyhow::Result<Breakers> {
    let layer = consecutive()?;
    map(count, || layer.layer(Inner))
}

/// The service that every call reaches.
#[derive(Clone, Copy)]
struct Inner;

impl Service<Later> for Inner {
    type Response = u64;
    type Error = Failure;
    type Future = Later;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, later: Later) -> Later {
        later
    }
}

type Calling<B> = <B as Service<Later>>::Future;

fn caller(mut breaker: Breaker) -> impl FnMut() -> Calling<Breaker> + Clone + Send + 'static {
    move || {
        // The inner service is always ready; a breaker that is open says so when it is called.
        let _ = std::hint::black_box(drive(poll_fn(|context| breaker.poll_ready(context))));
        breaker.call(SUCCEED)
    }
}

fn consecutive() -> anyhow::Result<CircuitBreakerLayer> {
    Ok(settings().consecutive_failures(FAILURES.into()).build()?)
}

fn settings() -> CircuitBreakerConfigBuilder {
    CircuitBreakerLayer::builder().wait_duration_in_open(OPEN)
}

/// A window just long enough that so many calls are in it at full speed.
fn time_window(samples: u32) -> anyhow::Result<Breaker> {
    let mut length = Duration::from_micros(u64::from(samples));
    let mut breaker = build_window(length)?;
    for _ in 0..CORRECTIONS {
        let mut call = caller(breaker.clone());
        for _ in 0..samples * 2 {
            let _ = drive(call());
        }
        let found = drive(breaker.metrics()).total_calls;
        length = length * samples / u32::try_from(found)?.max(1);
        breaker = build_window(length)?;
    }
    Ok(breaker)
}

fn build_window(length: Duration) -> anyhow::Result<Breaker> {
    let layer = settings()
        .failure_rate_threshold(RATE.into())
        .sliding_window_type(SlidingWindowType::TimeBased)
        .sliding_window_duration(length)
        .build()?;
    Ok(layer.layer(Inner))
}

fn size(samples: u32) -> usize {
    usize::try_from(samples).unwrap_or(usize::MAX)
}
