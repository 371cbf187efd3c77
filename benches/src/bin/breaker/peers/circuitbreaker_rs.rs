//! circuitbreaker-rs 0.1: atomics and two mutexes, and four clock reads for each call. Its windows are never
//! told of a call, and its async calls need all of tokio, so that only the plain call is measured.

use circuitbreaker_rs::{CircuitBreaker, DefaultPolicy};

use super::{FAILURES, OPEN, share};
use crate::call::{Failure, succeed};
use crate::cases::{Case, Entry};

pub(super) fn enter(cases: &mut Vec<Case>) {
    let mut entry = Entry::new(cases, "circuitbreaker_rs");
    let closed = share(consecutive());
    entry.closed_sync(|| closed.call(succeed));
    let open = share(consecutive());
    open.force_open();
    entry.open_sync(|| open.call(succeed));
}

pub(super) fn consecutive() -> CircuitBreaker<DefaultPolicy, Failure> {
    CircuitBreaker::<DefaultPolicy, Failure>::builder()
        .consecutive_failures(u64::from(FAILURES))
        .cooldown(OPEN)
        .build()
}
