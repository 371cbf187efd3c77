//! What the behaviour tests share: a breaker with a clock of its own, somebody who listens, and one
//! poll at a time.
#![allow(dead_code, reason = "every file of tests takes the part that it needs")]

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use mainstay_breaker::{Breaker, Builder, Event, ManualClock, Notice, Settled, State};

pub(crate) const SECOND: Duration = Duration::from_secs(1);
/// The least that is more than nothing.
pub(crate) const TICK: Duration = Duration::from_nanos(1);

/// A breaker that is configured as said, and its clock.
pub(crate) fn build(configure: impl FnOnce(Builder) -> Builder) -> (Breaker, ManualClock) {
    let clock = ManualClock::new();
    let builder = Breaker::builder("payments").clock(clock.clone());
    (configure(builder).build().unwrap(), clock)
}

pub(crate) fn fail<C>(breaker: &Breaker<C>) -> Settled {
    breaker.enter().unwrap().failure()
}

pub(crate) fn succeed<C>(breaker: &Breaker<C>) -> Settled {
    breaker.enter().unwrap().success()
}

/// Fails calls until it is open.
pub(crate) fn trip<C>(breaker: &Breaker<C>) {
    for _ in 0..1_000 {
        if breaker.state() == State::Open {
            return;
        }
        fail(breaker);
    }
    panic!("a thousand failures open every breaker of these tests");
}

/// Keeps what a listener was told.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heard(Arc<Mutex<Vec<Event>>>);

impl Heard {
    pub(crate) fn listener(&self) -> impl Fn(&Notice<'_>) + Send + Sync + use<> {
        let heard = self.clone();
        move |notice| heard.0.lock().unwrap().push(notice.event)
    }

    /// Everything since the last time somebody took it.
    pub(crate) fn take(&self) -> Vec<Event> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    /// The state changes among it.
    pub(crate) fn take_changes(&self) -> Vec<(State, State)> {
        self.take().into_iter().filter_map(change).collect()
    }
}

pub(crate) fn change(event: Event) -> Option<(State, State)> {
    match event {
        Event::StateChange { from, to, .. } => Some((from, to)),
        _ => None,
    }
}

/// Runs something that may hang, and fails instead of hanging.
pub(crate) fn soon<T: Send + 'static>(what: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = channel();
    let worker = thread::spawn(move || {
        let _ = send.send(what());
    });
    match receive.recv_timeout(Duration::from_secs(30)) {
        Ok(answer) => answer,
        Err(_) if worker.is_finished() => panic!("it panicked"),
        Err(_) => panic!("it hangs"),
    }
}

/// Counts how often somebody is woken.
#[derive(Debug, Default)]
pub(crate) struct Wakes(AtomicUsize);

impl Wakes {
    pub(crate) fn new() -> (Arc<Self>, Waker) {
        let wakes = Arc::new(Self::default());
        (Arc::clone(&wakes), Waker::from(wakes))
    }

    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Polls once, and wakes nobody.
pub(crate) fn poll<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Says when it is dropped.
#[derive(Debug, Clone, Default)]
pub(crate) struct Dropped(Arc<AtomicUsize>);

impl Dropped {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    /// What says so.
    pub(crate) fn token(&self) -> DropToken {
        DropToken(Arc::clone(&self.0))
    }
}

#[derive(Debug)]
pub(crate) struct DropToken(Arc<AtomicUsize>);

impl Drop for DropToken {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}
