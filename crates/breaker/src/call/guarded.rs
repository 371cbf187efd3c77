//! A call on its way: it ends with a result, by its timeout, by its caller's word, or by a drop.

use std::pin::Pin;
#[cfg(feature = "tower")]
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::classify::Classify;
use crate::clock::{ClockSource, Sleep};
use crate::config::Settings;
use crate::core::Core;
use crate::error::CallError;
#[cfg(feature = "tower")]
use crate::error::Rejected;
use crate::permit::Permit;
use crate::state::{FailureKind, Outcome};

pin_project! {
    /// Drives a call: whatever happens, the breaker hears of it.
    pub(crate) struct Guarded<'a, F> {
        // Dropped before its permit, so that the work has stopped when the breaker hears of it.
        #[pin]
        call: Option<F>,
        seat: Seat<'a>,
    }
}

/// How far a call has come. What is written here is read back slowly: a call that ends when it is
/// first polled writes nothing.
enum Seat<'a> {
    /// It asks when it is first polled.
    Outside(&'a Core),
    /// It was refused before that.
    #[cfg(feature = "tower")]
    Refused(Arc<str>, Rejected),
    /// It was let through.
    Inside(Permit<'a>, Option<Box<Limits>>),
    Ended,
}

/// What ends a call before its result.
pub(crate) struct Limits {
    timeout: Option<(Duration, Sleep)>,
    cancelled: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
}

/// How a call ended before its result.
#[derive(Debug, Clone, Copy)]
enum Early {
    TimedOut(Duration),
    Cancelled,
}

impl<'a, F> Guarded<'a, F> {
    /// Asks when it is first polled.
    #[inline]
    pub(crate) fn outside(core: &'a Core, call: F) -> Self {
        Self { call: Some(call), seat: Seat::Outside(core) }
    }

    /// Was let through.
    pub(crate) fn inside(permit: Permit<'a>, call: F, limits: Option<Box<Limits>>) -> Self {
        Self { call: Some(call), seat: Seat::Inside(permit, limits) }
    }

    /// Was refused.
    #[cfg(feature = "tower")]
    pub(crate) fn refused(name: Arc<str>, rejected: Rejected) -> Self {
        Self { call: None, seat: Seat::Refused(name, rejected) }
    }

    /// Goes on, and settles the call when it has ended.
    #[inline]
    pub(crate) fn poll<T, E, C>(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        classifier: &C,
    ) -> Poll<Result<T, CallError<E>>>
    where
        F: Future<Output = Result<T, E>>,
        C: Classify<T, E>,
    {
        let mut this = self.as_mut().project();
        let core = match this.seat {
            Seat::Outside(core) => *core,
            #[cfg(feature = "tower")]
            Seat::Refused(name, rejected) => {
                let error = CallError::open(name, *rejected);
                *this.seat = Seat::Ended;
                return Poll::Ready(Err(error));
            }
            Seat::Inside(..) => return self.poll_inside(context, classifier),
            Seat::Ended => polled_after_the_end(),
        };
        // Whatever comes now, it has asked: it goes on inside, or not at all.
        *this.seat = Seat::Ended;
        let entered = match core.enter_or(|rejected| CallError::open(core.name(), rejected)) {
            Ok(entered) => entered,
            Err(error) => return Poll::Ready(Err(error)),
        };
        let ticket = entered.ticket;
        if core.settings().timeout.is_some() {
            // The timer panics outside of a runtime: by then the permit must be in safe hands.
            let permit = Permit::waiting(core, ticket);
            let limits = Limits::of(core.settings());
            *this.seat = Seat::Inside(permit, limits);
            return self.poll_inside(context, classifier);
        }
        let Some(call) = this.call.as_mut().as_pin_mut() else { polled_after_the_end() };
        let Poll::Ready(result) = core.watch(ticket, || call.poll(context)) else {
            *this.seat = Seat::Inside(Permit::waiting(core, ticket), None);
            return Poll::Pending;
        };
        // A classifier that panics could not judge the call: then it failed.
        let verdict = core.watch(ticket, || classifier.classify(&result));
        core.conclude(entered, verdict);
        Poll::Ready(result.map_err(CallError::Inner))
    }

    fn poll_inside<T, E, C>(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        classifier: &C,
    ) -> Poll<Result<T, CallError<E>>>
    where
        F: Future<Output = Result<T, E>>,
        C: Classify<T, E>,
    {
        let mut this = self.project();
        let (Seat::Inside(permit, limits), Some(call)) =
            (&mut *this.seat, this.call.as_mut().as_pin_mut())
        else {
            polled_after_the_end()
        };
        if let Poll::Ready(result) = permit.step(|| call.poll(context)) {
            let verdict = permit.step(|| classifier.classify(&result));
            permit.end(verdict.into());
            *this.seat = Seat::Ended;
            return Poll::Ready(result.map_err(CallError::Inner));
        }
        let Some(limits) = limits else { return Poll::Pending };
        let Poll::Ready(early) = limits.poll(context) else { return Poll::Pending };
        permit.step(|| this.call.set(None));
        let error = early.conclude(permit);
        *this.seat = Seat::Ended;
        Poll::Ready(Err(error))
    }
}

/// As the futures of the standard library do: to wait for ever would hide the mistake.
#[cold]
#[expect(clippy::panic, reason = "there is no answer left to give")]
fn polled_after_the_end() -> ! {
    panic!("a call was polled after it had ended")
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

    /// The limits that every call of a breaker has.
    pub(crate) fn of(settings: &Settings) -> Option<Box<Self>> {
        settings.timeout.map(|after| Self::new(Some(after), None, &settings.clock))
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Early> {
        if let Some(cancelled) = &mut self.cancelled
            && cancelled.as_mut().poll(context).is_ready()
        {
            return Poll::Ready(Early::Cancelled);
        }
        if let Some((after, sleep)) = &mut self.timeout
            && sleep.as_mut().poll(context).is_ready()
        {
            return Poll::Ready(Early::TimedOut(*after));
        }
        Poll::Pending
    }
}

impl Early {
    fn conclude<E>(self, permit: &mut Permit<'_>) -> CallError<E> {
        match self {
            Self::TimedOut(after) => {
                permit.end(Outcome::Failure(FailureKind::Timeout));
                CallError::Timeout { after }
            }
            Self::Cancelled => {
                permit.end(Outcome::Cancelled);
                CallError::Cancelled
            }
        }
    }
}
