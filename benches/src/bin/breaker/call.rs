//! The call that every breaker guards: as little as a call can be, and never optimised away.

use std::hint::{black_box, spin_loop};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

/// What a guarded call returns.
pub(crate) type Answer = Result<u64, Failure>;

/// The error of a call that fails.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failure;

impl std::fmt::Display for Failure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the call failed")
    }
}

impl std::error::Error for Failure {}

/// A call that succeeds.
#[inline(never)]
pub(crate) fn succeed() -> Answer {
    black_box(Ok(7))
}

/// A call that fails.
#[inline(never)]
pub(crate) fn fail() -> Answer {
    black_box(Err(Failure))
}

/// The same calls as a future that is ready at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Later(pub(crate) fn() -> Answer);

/// A future that succeeds.
pub(crate) const SUCCEED: Later = Later(succeed);
/// A future that fails.
pub(crate) const FAIL: Later = Later(fail);

impl Future for Later {
    type Output = Answer;

    #[inline(never)]
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Answer> {
        Poll::Ready((self.0)())
    }
}

/// Polls until the future is ready, with no runtime around it.
pub(crate) fn drive<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        spin_loop();
    }
}

/// The same, but nothing is moved on the way: the future is built where it is polled (hence the inlining), and
/// the output stays where the future wrote it. A copy of what was just written in smaller pieces stalls the
/// processor for longer than some breakers take.
#[inline(always)]
pub(crate) fn spend<F: Future>(future: F) {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    while black_box(&future.as_mut().poll(&mut context)).is_pending() {
        spin_loop();
    }
}
