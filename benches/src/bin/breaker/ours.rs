//! The breaker of this house, as its defaults set it up.

use mainstay_breaker::{Breaker, Breakers, Detector};

use crate::call::{FAIL, SUCCEED, drive, fail, succeed};
use crate::cases::{Case, Entry, Window};
use crate::peers::{self, FAILURES, OPEN, RATE, WINDOW, share};

/// Below this many results no window speaks of a rate.
const MIN_SAMPLES: u32 = 20;

pub(crate) fn enter(cases: &mut Vec<Case>) -> anyhow::Result<()> {
    let mut entry = Entry::new(cases, peers::OURS);
    let closed = share(with(Detector::consecutive(FAILURES.into()))?);
    entry.closed_sync(|| closed.run(succeed));
    let closed = share(with(Detector::consecutive(FAILURES.into()))?);
    entry.closed_async(|| closed.call(SUCCEED));
    let open = share(with(Detector::consecutive(FAILURES.into()))?);
    (0..FAILURES).for_each(|_| drop(open.run(fail)));
    entry.open_sync(|| open.run(succeed));
    let open = share(with(Detector::consecutive(FAILURES.into()))?);
    (0..FAILURES).for_each(|_| drop(drive(open.call(FAIL))));
    entry.open_async(|| open.call(SUCCEED));
    entry.window_sync(Window::CountRing, |samples| {
        let ring = share(with(Detector::ring(samples, MIN_SAMPLES, RATE.into()))?);
        Ok(|| ring.run(succeed))
    })?;
    entry.window_sync(Window::Rolling, |_| {
        let rolling = share(with(Detector::rolling(WINDOW, MIN_SAMPLES, RATE.into()))?);
        Ok(|| rolling.run(succeed))
    })
}

/// A registry of so many breakers, each of which has made a call.
pub(crate) fn many(count: u32) -> anyhow::Result<peers::Breakers> {
    let registry: Breakers<u64> =
        Breakers::builder(Breaker::builder("bench")).capacity(usize::try_from(count)?).build()?;
    for key in 0..u64::from(count) {
        anyhow::ensure!(registry.get(&key)?.run(succeed).is_ok(), "a call was refused");
    }
    Ok(Box::new(registry))
}

fn with(detector: Detector) -> anyhow::Result<Breaker> {
    Ok(Breaker::builder("bench").detector(detector).open_for(OPEN).build()?)
}
