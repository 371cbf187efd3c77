//! A tower layer and service.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_service::Service;

use crate::breaker::Breaker;
use crate::call::{Guarded, Limits};
use crate::classify::{Classify, EveryError};
use crate::error::{CallError, Rejected};
use crate::permit::Permit;
use crate::state::State;

/// Puts a breaker in front of a service. All services of one layer share the breaker.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mainstay_breaker::{Breaker, BreakerLayer};
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
///
/// let breaker = Breaker::builder("payments").build()?;
/// let service = ServiceBuilder::new()
///     .layer(BreakerLayer::new(breaker))
///     .service(service_fn(async |amount: u32| Ok::<_, std::io::Error>(amount)));
/// assert_eq!(service.oneshot(7).await?, 7);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct BreakerLayer<C = EveryError> {
    breaker: Breaker<C>,
}

/// A service behind a breaker. A request that is refused never reaches it.
///
/// While the breaker refuses, the service is ready at once, so that nobody waits for it to be refused.
/// Whoever comes by that promise is refused, also where the breaker would let them through by then: the
/// service itself has not been asked. Such a refusal counts, names the state that promised it, and says
/// to ask again at once. An error of the service's own readiness counts as the classifier says.
///
/// A service that was ready before the breaker refused a request stays so for the next. What it keeps for
/// that, such as a place under a concurrency limit, it keeps until it is called or dropped: tower has no
/// other way to give readiness back. So put such a limit outside of the breaker, or drop a service that
/// was refused and is not used again.
#[derive(Debug)]
pub struct BreakerService<S, C = EveryError> {
    inner: S,
    breaker: Breaker<C>,
    readiness: Readiness,
}

/// Who has promised that the next request may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Readiness {
    /// Nobody.
    Unasked,
    /// The breaker, in this state, to refuse it.
    ToBeRefused(State),
    /// The service.
    Ready,
}

pin_project! {
    /// The answer of a [`BreakerService`].
    ///
    /// # Panics
    /// When it is polled after it had ended.
    #[must_use = "futures do nothing until they are polled"]
    pub struct ResponseFuture<F, C> {
        #[pin]
        guarded: Guarded<'static, F>,
        classifier: C,
    }
}

impl<C> BreakerLayer<C> {
    /// A layer with this breaker.
    pub const fn new(breaker: Breaker<C>) -> Self {
        Self { breaker }
    }
}

impl<S, C: Clone> Layer<S> for BreakerLayer<C> {
    type Service = BreakerService<S, C>;

    fn layer(&self, inner: S) -> Self::Service {
        BreakerService { inner, breaker: self.breaker.clone(), readiness: Readiness::Unasked }
    }
}

impl<S, C, Request> Service<Request> for BreakerService<S, C>
where
    S: Service<Request>,
    C: Classify<S::Response, S::Error> + Clone,
{
    type Response = S::Response;
    type Error = CallError<S::Error>;
    type Future = ResponseFuture<S::Future, C>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        if let Some(rejected) = self.breaker.would_reject() {
            if self.readiness != Readiness::Ready {
                self.readiness = Readiness::ToBeRefused(rejected.state);
            }
            return Poll::Ready(Ok(()));
        }
        match ready!(self.inner.poll_ready(context)) {
            Ok(()) => {
                self.readiness = Readiness::Ready;
                Poll::Ready(Ok(()))
            }
            Err(error) => {
                let result: Result<S::Response, S::Error> = Err(error);
                if let Ok(permit) = self.breaker.enter() {
                    permit.judge(self.breaker.classifier.classify(&result));
                }
                Poll::Ready(result.map(drop).map_err(CallError::Inner))
            }
        }
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let classifier = self.breaker.classifier.clone();
        let guarded = match self.admit() {
            Ok(permit) => {
                let mut permit = permit.wait();
                let limits = Limits::of(self.breaker.core.settings());
                let call = permit.step(|| self.inner.call(request));
                Guarded::inside(permit, call, limits)
            }
            Err(rejected) => Guarded::refused(Arc::clone(self.breaker.core.name()), rejected),
        };
        ResponseFuture { guarded, classifier }
    }
}

impl<S, C> BreakerService<S, C> {
    /// Lets a request through to a service that is ready.
    fn admit(&mut self) -> Result<Permit<'static>, Rejected> {
        let Readiness::ToBeRefused(state) = self.readiness else {
            let permit = self.breaker.enter_owned()?;
            self.readiness = Readiness::Unasked;
            return Ok(permit);
        };
        let at_once = Rejected { state, retry_after: Some(Duration::ZERO) };
        let rejected = self.breaker.would_reject().unwrap_or(at_once);
        self.breaker.core.reject(rejected);
        Err(rejected)
    }
}

/// A clone has been promised nothing by its service.
impl<S: Clone, C: Clone> Clone for BreakerService<S, C> {
    fn clone(&self) -> Self {
        let (inner, breaker) = (self.inner.clone(), self.breaker.clone());
        Self { inner, breaker, readiness: Readiness::Unasked }
    }
}

impl<F, C, T, E> Future for ResponseFuture<F, C>
where
    F: Future<Output = Result<T, E>>,
    C: Classify<T, E>,
{
    type Output = Result<T, CallError<E>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        this.guarded.poll(context, this.classifier)
    }
}

impl<F, C> fmt::Debug for ResponseFuture<F, C> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
