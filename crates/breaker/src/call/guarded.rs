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
    /// Drives a call and keeps its permit: whatever happens, the breaker hears of it.
    pub(crate) struct Guarded<'a, F> {
        // Dropped before the permit, so that the work has stopped when the breaker hears of it.
        #[pin]
        call: Option<F>,
        permit: Permit<'a>,
        limits: Option<Box<Limits>>,
        stage: Stage,
    }
}

/// How far a call has come.
#[derive(Debug, Clone, Copy)]
enum Stage {
    /// It asks when it is first polled.
    Outside,
    /// It was refused before that.
    #[cfg(feature = "tower")]
    Refused(Rejected),
    Inside,
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
        let permit = Permit::outside(core);
        Self { call: Some(call), permit, limits: None, stage: Stage::Outside }
    }

    /// Was let through.
    pub(crate) fn inside(permit: Permit<'a>, call: F, limits: Option<Box<Limits>>) -> Self {
        Self { call: Some(call), permit, limits, stage: Stage::Inside }
    }

    /// Was refused.
    #[cfg(feature = "tower")]
    pub(crate) fn refused(core: Arc<Core>, rejected: Rejected) -> Guarded<'static, F> {
        let permit = Permit::owned_outside(core);
        Guarded { call: None, permit, limits: None, stage: Stage::Refused(rejected) }
    }

    /// Goes on, and settles the call when it has ended.
    #[inline]
    pub(crate) fn poll<T, E, C>(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        classifier: &C,
    ) -> Poll<Result<T, CallError<E>>>
    where
        F: Future<Output = Result<T, E>>,
        C: Classify<T, E>,
    {
        let mut this = self.project();
        let permit = this.permit;
        match *this.stage {
            Stage::Inside => {}
            Stage::Outside => {
                if let Err(error) = permit.admit() {
                    return Poll::Ready(Err(error));
                }
                *this.stage = Stage::Inside;
                if permit.core().settings().timeout.is_some() {
                    *this.limits = Limits::of(permit.core().settings());
                }
            }
            #[cfg(feature = "tower")]
            Stage::Refused(rejected) => {
                return Poll::Ready(Err(CallError::open(permit.core().name(), rejected)));
            }
        }
        // It is there until the call has ended, and nobody polls it after that.
        let Some(call) = this.call.as_mut().as_pin_mut() else { return Poll::Pending };
        if let Poll::Ready(result) = permit.step(|| call.poll(context)) {
            // A classifier that panics could not judge the call: then it failed.
            let verdict = permit.step(|| classifier.classify(&result));
            permit.end(verdict.into());
            return Poll::Ready(result.map_err(CallError::Inner));
        }
        let Some(limits) = this.limits.as_mut() else { return Poll::Pending };
        let Poll::Ready(early) = limits.poll(context) else { return Poll::Pending };
        permit.step(|| this.call.set(None));
        Poll::Ready(Err(early.conclude(permit)))
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

    /// The limits that every call of a breaker has.
    #[cold]
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
