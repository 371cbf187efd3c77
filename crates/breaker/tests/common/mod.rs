//! What the behaviour tests share: a breaker on a clock that they move, and ways to end a call.
#![allow(dead_code, reason = "each test file uses its own part of these")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use mainstay_breaker::{
    Breaker, Builder, CallError, Detector, Event, Events, HalfOpenPolicy, ManualClock, Permit,
    Settled, Snapshot, State,
};

pub(crate) const OPEN_FOR: Duration = Duration::from_secs(1);
pub(crate) const HALF_OPEN_FOR: Duration = Duration::from_secs(60);
pub(crate) const HOUR: Duration = Duration::from_secs(3_600);
pub(crate) const TICK: Duration = Duration::from_nanos(1);

pub(crate) fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Three consecutive failures open it for a second; two probes that succeed close it.
pub(crate) fn builder(clock: &ManualClock) -> Builder {
    Breaker::builder("payments")
        .detector(Detector::consecutive(3))
        .open_for(OPEN_FOR)
        .half_open(HalfOpenPolicy::all(2))
        .half_open_for(HALF_OPEN_FOR)
        .clock(clock.clone())
}

/// A breaker and the clock it goes by.
pub(crate) struct Rig {
    pub(crate) clock: ManualClock,
    pub(crate) breaker: Breaker,
}

impl Rig {
    pub(crate) fn new() -> Self {
        Self::with(|builder| builder)
    }

    pub(crate) fn with(set_up: impl FnOnce(Builder) -> Builder) -> Self {
        let clock = ManualClock::new();
        let breaker = set_up(builder(&clock)).build().unwrap();
        Self { clock, breaker }
    }

    pub(crate) fn open() -> Self {
        let rig = Self::new();
        rig.trip();
        rig
    }

    /// Open for long enough: the next call finds it half-open.
    pub(crate) fn waited() -> Self {
        let rig = Self::open();
        rig.clock.advance(OPEN_FOR);
        rig
    }

    pub(crate) fn trip(&self) {
        for _ in 0..3 {
            self.fail();
        }
        assert_eq!(self.breaker.state(), State::Open);
    }

    pub(crate) fn enter(&self) -> Permit<'_> {
        self.breaker.enter().unwrap()
    }

    pub(crate) fn succeed(&self) {
        assert_eq!(self.enter().success(), Settled::Counted);
    }

    pub(crate) fn fail(&self) {
        assert_eq!(self.enter().failure(), Settled::Counted);
    }

    pub(crate) fn state(&self) -> State {
        self.breaker.state()
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        self.breaker.snapshot()
    }

    pub(crate) fn is_refused(&self) -> bool {
        self.breaker.enter().is_err()
    }

    /// How many of `asked` calls go through, all held at once. They are gone afterwards.
    pub(crate) fn admitted_of(&self, asked: usize) -> usize {
        let permits: Vec<_> = (0..asked).filter_map(|_| self.breaker.enter().ok()).collect();
        permits.len()
    }

    pub(crate) fn retry_after(&self) -> Option<Duration> {
        self.breaker.would_reject().and_then(|rejected| rejected.retry_after)
    }
}

/// Polls once, with nobody to wake.
pub(crate) fn poll<F: Future + ?Sized>(future: &mut Pin<Box<F>>) -> Poll<F::Output> {
    future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

/// What a future that is ready at once has to say.
pub(crate) fn ready<F: Future>(future: F) -> F::Output {
    match poll(&mut Box::pin(future)) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it is not ready"),
    }
}

/// Runs something that panics, and holds the panic up.
pub(crate) fn panics(run: impl FnOnce()) {
    assert!(catch_unwind(AssertUnwindSafe(run)).is_err(), "it did not panic");
}

/// A downstream that counts its calls and answers as it is told.
#[derive(Clone, Default)]
pub(crate) struct Downstream {
    calls: Arc<AtomicUsize>,
    is_down: Arc<AtomicBool>,
}

impl Downstream {
    pub(crate) fn down() -> Self {
        let downstream = Self::default();
        downstream.is_down.store(true, Ordering::Relaxed);
        downstream
    }

    pub(crate) fn recover(&self) {
        self.is_down.store(false, Ordering::Relaxed);
    }

    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    pub(crate) fn answer(self) -> impl Future<Output = Result<&'static str, &'static str>> {
        std::future::poll_fn(move |_| {
            self.calls.fetch_add(1, Ordering::Relaxed);
            let is_down = self.is_down.load(Ordering::Relaxed);
            Poll::Ready(if is_down { Err("down") } else { Ok("paid") })
        })
    }
}

/// Set when it is dropped: shows that a future and its work are gone.
#[derive(Clone, Default)]
pub(crate) struct Gone(Arc<AtomicBool>);

/// Lives in a future.
pub(crate) struct Alive(Gone);

impl Gone {
    pub(crate) fn alive(&self) -> Alive {
        Alive(self.clone())
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// A call that never ends by itself, and holds `alive` until it is dropped.
pub(crate) async fn hangs(alive: Alive) -> Result<(), &'static str> {
    std::future::pending::<()>().await;
    drop(alive);
    Ok(())
}

pub(crate) fn is_open<T, E>(answer: &Result<T, CallError<E>>) -> bool {
    matches!(answer, Err(CallError::Open { .. }))
}

pub(crate) fn read(events: &mut Events) -> Vec<Event> {
    std::iter::from_fn(|| events.try_next()).collect()
}
