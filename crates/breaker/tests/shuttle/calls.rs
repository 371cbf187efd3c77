//! Calls of every kind, and a count of them that the breaker's own is held against.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use mainstay_breaker::{
    Breaker, BreakerLayer, CallError, CallOptions, CancellationToken, ManualClock,
};
use shuttle::future::yield_now;
use shuttle::rand::{Rng, thread_rng};
use tower::{Layer, Service, service_fn};

use crate::given_up::{Ended, PATIENT, given_up_after};

/// Most times that a call waits before it ends.
const MAX_AWAITS: usize = 3;

/// What a call does in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Succeeds,
    Fails,
    Hangs,
    Panics,
}

/// Who ran, and how many at once. These counters are not seen by shuttle: they change nothing.
#[derive(Clone, Default)]
pub(crate) struct Tally(Arc<Counts>);

#[derive(Default)]
struct Counts {
    ran: AtomicU64,
    running: AtomicU64,
    most: AtomicU64,
    refused: AtomicU64,
    succeeded: AtomicU64,
    failed: AtomicU64,
}

struct Running(Tally);

impl Tally {
    /// How many calls began.
    pub(crate) fn ran(&self) -> u64 {
        self.0.ran.load(Ordering::Relaxed)
    }

    /// How many ran at once at most.
    pub(crate) fn most(&self) -> u64 {
        self.0.most.load(Ordering::Relaxed)
    }

    /// How many are on their way.
    pub(crate) fn running(&self) -> u64 {
        self.0.running.load(Ordering::Relaxed)
    }

    pub(crate) fn refused(&self) -> u64 {
        self.0.refused.load(Ordering::Relaxed)
    }

    fn begin(&self) -> Running {
        self.0.ran.fetch_add(1, Ordering::Relaxed);
        let running = self.0.running.fetch_add(1, Ordering::Relaxed) + 1;
        self.0.most.fetch_max(running, Ordering::Relaxed);
        Running(self.clone())
    }

    /// How many ended well, and how many did not, as their callers saw it.
    pub(crate) fn ended(&self) -> (u64, u64) {
        (self.0.succeeded.load(Ordering::Relaxed), self.0.failed.load(Ordering::Relaxed))
    }

    fn note(&self, ended: &Ended<Result<(), CallError<()>>>) {
        let counter = match ended {
            Ended::Done(Ok(())) => &self.0.succeeded,
            Ended::Done(Err(CallError::Inner(()) | CallError::Timeout { .. })) => &self.0.failed,
            Ended::Panicked => &self.0.failed,
            Ended::Done(Err(CallError::Open { .. })) => &self.0.refused,
            _ => return,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The downstream: it waits some times, and then its fate comes.
pub(crate) async fn work(tally: Tally, fate: Fate) -> Result<(), ()> {
    finish(tally.begin(), fate).await
}

async fn finish(_running: Running, fate: Fate) -> Result<(), ()> {
    for _ in 0..thread_rng().gen_range(0..=MAX_AWAITS) {
        yield_now().await;
    }
    match fate {
        Fate::Succeeds => Ok(()),
        Fate::Fails => Err(()),
        Fate::Hangs => std::future::pending().await,
        // Without the hook, which would print thousands of them.
        Fate::Panics => resume_unwind(Box::new(())),
    }
}

/// How often a caller polls before it goes away: at none of its awaits, or at any of them.
pub(crate) fn patience() -> usize {
    if thread_rng().gen_bool(0.5) { PATIENT } else { thread_rng().gen_range(0..=MAX_AWAITS + 1) }
}

/// One call of any kind.
pub(crate) async fn any_call(breaker: &Breaker, tally: &Tally) {
    match thread_rng().gen_range(0..8) {
        0 | 1 => call(breaker, tally, Fate::Succeeds).await,
        2 | 3 => call(breaker, tally, Fate::Fails).await,
        4 => call(breaker, tally, Fate::Hangs).await,
        5 => cancelled_call(breaker, tally).await,
        _ => panicking_call(breaker, tally).await,
    }
}

async fn call(breaker: &Breaker, tally: &Tally, fate: Fate) {
    let ended = given_up_after(patience(), breaker.call(work(tally.clone(), fate))).await;
    tally.note(&ended);
}

/// A call that is stopped by somebody else's word.
async fn cancelled_call(breaker: &Breaker, tally: &Tally) {
    let token = CancellationToken::new();
    let stop = token.clone();
    let stopper = shuttle::future::spawn(async move {
        yield_now().await;
        stop.cancel();
    });
    let options = CallOptions::default().cancelled_by(token);
    let tallied = tally.clone();
    let call = breaker.limited(options).call_with(move |_context| work(tallied, Fate::Hangs));
    let ended = given_up_after(patience(), call).await;
    tally.note(&ended);
    stopper.await.unwrap();
}

/// By the tower service: it drops a call that panicked after the panic, not in it. Shuttle does not
/// change threads during one, and so can't wait for a lock there.
async fn panicking_call(breaker: &Breaker, tally: &Tally) {
    let (tallied, is_refused) = (tally.clone(), Arc::new(AtomicBool::new(true)));
    let is_called = Arc::clone(&is_refused);
    let downstream = service_fn(move |()| {
        is_called.store(false, Ordering::Relaxed);
        finish(tallied.begin(), Fate::Panics)
    });
    let mut service = BreakerLayer::new(breaker.clone()).layer(downstream);
    // It asks the breaker at once, and may be given up before anybody hears the answer.
    let call = service.call(());
    let is_refused = is_refused.load(Ordering::Relaxed);
    match given_up_after(patience(), call).await {
        Ended::GivenUp if is_refused => {
            tally.0.refused.fetch_add(1, Ordering::Relaxed);
        }
        ended => tally.note(&ended),
    }
}

/// Moves the clock while `is_busy`, so that every call that hangs times out.
pub(crate) async fn tick(clock: &ManualClock, is_busy: impl Fn() -> bool) {
    while is_busy() {
        clock.advance(Duration::from_secs(1));
        yield_now().await;
    }
}
