//! The one layer around every route: gate, request id, time limit, panics, errors, headers, log and
//! metrics.
//!
//! It is one layer, not eight, because each would cost an allocation and a poll per request.

use std::any::Any;
use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, Method};
use axum::response::{IntoResponse as _, Response};
use mainstay_base::{Clock, IdSource};
use mainstay_jobs::trace;
use metrics::Gauge;
use pin_project_lite::pin_project;
use tokio::time::{Sleep, sleep};
use tower::{Layer, Service};
use tracing::Span;

use crate::code::Code;
use crate::error::Error;
use crate::flight::{Flight, RouteLabel};
use crate::gate::Gate;
use crate::headers::dress;
use crate::measure::{self, Meter};
use crate::request_id::{self, RequestId};
use crate::routes::UPLOAD_PATH;

/// What the layer needs for every request.
pub(crate) struct Watch {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: IdSource,
    pub(crate) in_flight: Gauge,
    pub(crate) gate: Gate,
    pub(crate) headers: HeaderMap,
    pub(crate) request_time: Duration,
    pub(crate) upload_time: Duration,
}

impl Watch {
    /// How long a request may wait for its answer.
    fn time_of(&self, request: &Request) -> Duration {
        let path = request.extensions().get::<MatchedPath>();
        let is_upload = path.is_some_and(|path| path.as_str() == UPLOAD_PATH);
        if is_upload { self.upload_time } else { self.request_time }
    }
}

/// Puts [`Observe`] around each route.
#[derive(Clone)]
pub(crate) struct ObserveLayer(pub(crate) Arc<Watch>);

impl<S> Layer<S> for ObserveLayer {
    type Service = Observe<S>;

    fn layer(&self, inner: S) -> Observe<S> {
        Observe { inner, watch: Arc::clone(&self.0), meter: Arc::default() }
    }
}

/// A route under observation.
#[derive(Clone)]
pub(crate) struct Observe<S> {
    inner: S,
    watch: Arc<Watch>,
    meter: Arc<Meter>,
}

impl<S> Service<Request> for Observe<S>
where
    S: Service<Request, Response = Response, Error = Infallible>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Observed<S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        let flight = Flight::begin(&self.watch, &self.meter, &request);
        let refusal = self.watch.gate.check(&request, flight.started).err();
        // Only what changes something is written down with its id.
        if ![Method::GET, Method::HEAD].contains(request.method()) {
            request.extensions_mut().insert(RequestId(flight.request_id.clone()));
        }
        let time = self.watch.time_of(&request);
        Observed {
            span: flight.span(),
            // Not even started for a refused request.
            route: refusal.is_none().then(|| self.inner.call(request)),
            deadline: sleep(time),
            time,
            refusal,
            flight,
        }
    }
}

pin_project! {
    /// The answer of a route under observation.
    pub(crate) struct Observed<F> {
        #[pin]
        route: Option<F>,
        #[pin]
        deadline: Sleep,
        time: Duration,
        refusal: Option<Error>,
        span: Span,
        flight: Flight,
    }
}

impl<F> Future for Observed<F>
where
    F: Future<Output = Result<Response, Infallible>>,
{
    type Output = Result<Response, Infallible>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let response = match (this.refusal.take(), this.route.as_mut().as_pin_mut()) {
            (Some(refusal), _) => refusal.into_response(),
            (None, Some(route)) => {
                let entered = this.span.enter();
                let step = || trace::within(this.flight.trace.as_ref(), || route.poll(context));
                match catch_unwind(AssertUnwindSafe(step)) {
                    Ok(Poll::Ready(Ok(response))) => response,
                    Err(panic) => {
                        this.route.set(None);
                        Error::internal(Panicked::new(&*panic)).into_response()
                    }
                    // Asked only while the route waits, so that a quick one never sets a timer.
                    Ok(Poll::Pending) => {
                        drop(entered);
                        ready!(this.deadline.poll(context));
                        this.route.set(None);
                        timed_out(*this.time).into_response()
                    }
                }
            }
            // Polled after its end, which no caller does.
            (None, None) => return Poll::Pending,
        };
        Poll::Ready(Ok(finish(response, this.flight)))
    }
}

fn finish(mut response: Response, flight: &mut Flight) -> Response {
    let error = response.extensions_mut().remove::<Error>();
    let cause = error.as_ref().and_then(Error::cause);
    if let Some(error) = error {
        measure::refused(error.code().name());
        error.write(&mut response, request_id::text(&flight.request_id));
    }
    let label = response.extensions_mut().remove::<RouteLabel>();
    flight.land(response.status(), label, cause.as_deref());
    dress(response.headers_mut(), &flight.watch.headers, flight.request_id.clone());
    response
}

fn timed_out(limit: Duration) -> Error {
    let seconds = limit.as_secs_f64();
    let detail = format!("There was no answer within {seconds} seconds. Try again later.");
    Error::new(Code::TimedOut, detail)
}

/// A handler panicked; only the log sees its words.
#[derive(Debug)]
struct Panicked(String);

impl Panicked {
    fn new(panic: &(dyn Any + Send)) -> Self {
        let words = panic.downcast_ref::<&str>().map(|words| (*words).to_owned());
        let words = words.or_else(|| panic.downcast_ref::<String>().cloned());
        Self(words.unwrap_or_else(|| "without words".to_owned()))
    }
}

impl fmt::Display for Panicked {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the handler panicked: {}", self.0)
    }
}

impl std::error::Error for Panicked {}
