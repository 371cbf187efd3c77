//! A call on its way: it ends with a result, by its timeout, by its caller's word, or by a drop.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::clock::{ClockSource, Sleep};
use crate::permit::Permit;

pin_project! {
    /// Drives a call and keeps its permit: whatever happens, the permit hears of it.
    pub(crate) struct Guarded<'a, F> {
        // Dropped before the permit, so that the work has stopped when the breaker hears of it.
        #[pin]
        call: Option<F>,
        permit: Option<Permit<'a>>,
        limits: Option<Box<Limits>>,
    }
}

/// What ends a call before its result.
pub(crate) struct Limits {
    timeout: Option<(Duration, Sleep)>,
    cancelled: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
}

/// How a call ended.
#[derive(Debug)]
pub(crate) enum Ended<T> {
    Done(T),
    TimedOut(Duration),
    Cancelled,
}

impl<'a, F> Guarded<'a, F> {
    #[inline]
    pub(crate) fn new(permit: Permit<'a>, call: F, limits: Option<Box<Limits>>) -> Self {
        Self { call: Some(call), permit: Some(permit), limits }
    }
}

impl Limits {
    pub(crate) fn new(
        timeout: Option<Duration>,
        cancelled: Option<CancellationToken>,
        clock: &ClockSource,
    ) -> Box<Self> {
        Box::new(Self {
            timeout: timeout.map(|after| (after, clock.sleep(after))),
            cancelled: cancelled.map(|token| Box::pin(token.cancelled_owned())),
        })
    }

    fn poll<T>(&mut self, context: &mut Context<'_>) -> Poll<Ended<T>> {
        if let Some(cancelled) = &mut self.cancelled
            && cancelled.as_mut().poll(context).is_ready()
        {
            return Poll::Ready(Ended::Cancelled);
        }
        if let Some((after, sleep)) = &mut self.timeout
            && sleep.as_mut().poll(context).is_ready()
        {
            return Poll::Ready(Ended::TimedOut(*after));
        }
        Poll::Pending
    }
}

impl<'a, F: Future> Future for Guarded<'a, F> {
    type Output = (Ended<F::Output>, Permit<'a>);

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        // Both are there until the call has ended, and nobody polls it after that.
        let (Some(call), Some(permit)) = (this.call.as_mut().as_pin_mut(), this.permit.as_mut())
        else {
            return Poll::Pending;
        };
        let mut ended = permit.step(|| call.poll(context)).map(Ended::Done);
        if let (Poll::Pending, Some(limits)) = (&ended, this.limits.as_mut()) {
            ended = limits.poll(context);
            if ended.is_ready() {
                permit.step(|| this.call.set(None));
            }
        }
        match (ended, this.permit.take()) {
            (Poll::Ready(ended), Some(permit)) => Poll::Ready((ended, permit)),
            (_, permit) => {
                *this.permit = permit;
                Poll::Pending
            }
        }
    }
}
