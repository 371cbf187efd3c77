//! A tower layer and service.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_service::Service;

use crate::breaker::Breaker;
use crate::call::{Guarded, Limits};
use crate::classify::{Classify, EveryError};
use crate::error::CallError;

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
#[derive(Debug, Clone)]
pub struct BreakerService<S, C = EveryError> {
    inner: S,
    breaker: Breaker<C>,
}

pin_project! {
    /// The answer of a [`BreakerService`].
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
        BreakerService { inner, breaker: self.breaker.clone() }
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
        self.inner.poll_ready(context).map_err(CallError::Inner)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let classifier = self.breaker.classifier.clone();
        let guarded = match self.breaker.enter_owned() {
            Ok(mut permit) => {
                let limits = Limits::of(self.breaker.core.settings());
                let call = permit.step(|| self.inner.call(request));
                Guarded::inside(permit, call, limits)
            }
            Err(rejected) => Guarded::refused(Arc::clone(self.breaker.core.name()), rejected),
        };
        ResponseFuture { guarded, classifier }
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
