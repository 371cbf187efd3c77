//! recloser 1.4: a ring of results behind a spin lock, its only detector. It has no time window.

use recloser::{AsyncRecloser, Recloser};

use super::{OPEN, RATE, share};
use crate::call::{SUCCEED, fail, succeed};
use crate::cases::{Case, Entry, Window};

/// How many results the ring holds by default.
pub(super) const LENGTH: u32 = 100;

pub(super) fn enter(cases: &mut Vec<Case>) -> anyhow::Result<()> {
    let mut entry = Entry::new(cases, "recloser");
    let closed = share(ring(LENGTH));
    entry.closed_sync(|| closed.call(succeed));
    let closed = share(AsyncRecloser::from(ring(LENGTH)));
    entry.closed_async(|| closed.call(SUCCEED));
    let refusing = share(open());
    entry.open_sync(|| refusing.call(succeed));
    let refusing = share(AsyncRecloser::from(open()));
    entry.open_async(|| refusing.call(SUCCEED));
    entry.window_sync(Window::CountRing, |samples| {
        let closed = share(ring(samples));
        Ok(|| closed.call(succeed))
    })
}

pub(super) fn ring(length: u32) -> Recloser {
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    Recloser::custom().error_rate(RATE).closed_len(length).open_wait(OPEN).build()
}

fn open() -> Recloser {
    let breaker = ring(LENGTH);
    // It judges only a full ring, on the result after the one that filled it.
    for _ in 0..=LENGTH {
        let _ = breaker.call(fail);
    }
    breaker
}
