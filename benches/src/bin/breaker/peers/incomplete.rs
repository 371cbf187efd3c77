//! Peers that lack what makes a breaker whole (no limit on probes, no window, no reset on success): how cheap
//! the least can be.

use circuit_breaker::CircuitBreaker as Plain;
use llm_circuit_breaker::{BreakerConfig, CircuitBreaker as Llm};
use nobreak::CircuitBreaker as NoBreak;

use super::{FAILURES, OPEN, share};
use crate::call::{FAIL, Failure, SUCCEED, drive, fail, succeed};
use crate::cases::{Case, Entry};

pub(super) fn enter(cases: &mut Vec<Case>) {
    enter_circuit_breaker(&mut Entry::new(cases, "circuit_breaker"));
    enter_nobreak(&mut Entry::new(cases, "nobreak"));
    enter_llm(&mut Entry::new(cases, "llm_circuit_breaker"));
}

fn enter_circuit_breaker(entry: &mut Entry<'_>) {
    let build = || share(Plain::new(u32::from(FAILURES), OPEN));
    let closed = build();
    entry.closed_sync(|| closed.execute(succeed));
    let open = build();
    for _ in 0..FAILURES {
        open.handle_failure();
    }
    entry.open_sync(|| open.execute(succeed));
}

fn enter_nobreak(entry: &mut Entry<'_>) {
    let build = || -> &'static NoBreak {
        let settings = nobreak::builder().with_failure_threshold(usize::from(FAILURES));
        share(settings.with_open_duration(OPEN).build())
    };
    let closed = build();
    entry.closed_sync(|| closed.call(succeed));
    entry.closed_async(|| closed.call_async(|| SUCCEED));
    let open = build();
    for _ in 0..FAILURES {
        let _ = drive(open.call_async(|| FAIL));
    }
    entry.open_sync(|| open.call(succeed));
    entry.open_async(|| open.call_async(|| SUCCEED));
}

fn enter_llm(entry: &mut Entry<'_>) {
    let config = BreakerConfig { failure_threshold: u32::from(FAILURES), reset_timeout: OPEN };
    let counts = |_: &Failure| true;
    let closed = share(Llm::new(config));
    entry.closed_sync(move || closed.call(counts, succeed));
    let open = share(Llm::new(config));
    for _ in 0..FAILURES {
        let _ = open.call(counts, fail);
    }
    entry.open_sync(move || open.call(counts, succeed));
}
