//! breaker 2.0: a read-write lock, taken twice for each call; always keeps a ring. Async only.

use breaker_peer::{CircuitBreaker, CircuitBreakerConfig, CircuitBreakerConfigBuilder};

use super::{FAILURES, OPEN, RATE, share};
use crate::call::SUCCEED;
use crate::cases::{Case, Entry, Window};

/// Its own name is that of our figures.
pub(super) const NAME: &str = "breaker_crate";

pub(super) fn enter(cases: &mut Vec<Case>) -> anyhow::Result<()> {
    let mut entry = Entry::new(cases, NAME);
    let closed = share(consecutive());
    entry.closed_async(|| closed.call(|| SUCCEED));
    let open = share(consecutive());
    open.trip();
    entry.open_async(|| open.call(|| SUCCEED));
    entry.window_async(Window::CountRing, |samples| {
        let config = settings()
            .failure_rate_threshold(RATE)
            .sliding_window_size(samples)
            .minimum_calls(samples);
        let closed = share(CircuitBreaker::new(config.build()));
        Ok(|| closed.call(|| SUCCEED))
    })
}

/// The ring is judged by nobody here, but it can't be left out.
pub(super) fn consecutive() -> CircuitBreaker {
    CircuitBreaker::new(settings().failure_rate_threshold(0.0).build())
}

fn settings() -> CircuitBreakerConfigBuilder {
    CircuitBreakerConfig::builder().consecutive_failures(u32::from(FAILURES)).wait_duration(OPEN)
}
