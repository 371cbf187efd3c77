//! Where a connection hands its requests to the router, says whose they are, and counts them.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use axum::Router;
use axum::http::{Request, Version};
use axum::response::Response;
use http_body::Body as _;
use hyper::body::Incoming;
use pin_project_lite::pin_project;

use crate::client::Peer;
use crate::guarded::Pulse;

/// Where a connection's requests enter the router.
pub(crate) struct Entry {
    pub(crate) router: Router,
    pub(crate) pulse: Arc<Pulse>,
    pub(crate) peer: Peer,
}

impl hyper::service::Service<Request<Incoming>> for Entry {
    type Response = Response;
    type Error = Infallible;
    type Future = Answer<<Router as tower::Service<Request<Incoming>>>::Future>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        if request.version() == Version::HTTP_2 {
            self.pulse.http2.store(true, Ordering::Relaxed);
        }
        self.pulse.refused_body.store(false, Ordering::Relaxed);
        self.pulse.begun.fetch_add(1, Ordering::Relaxed);
        // A body of a known length ends with any byte; everything else ends with an empty line.
        let ends_in_empty_line =
            request.body().size_hint().exact().is_none_or(|length| length == 0);
        self.pulse.ends_in_empty_line.store(ends_in_empty_line, Ordering::Relaxed);
        let has_body = !request.body().is_end_stream();
        let client = self.peer.client(request.headers());
        request.extensions_mut().insert(client);
        let answer = tower::Service::call(&mut self.router.clone(), request);
        Answer { answer, has_body, in_flight: InFlight::new(&self.pulse) }
    }
}

/// Keeps a connection counted as busy until the answer's body has ended, for an answer that goes on
/// after its head. The route keeps one handle in the body and leaves the other in the answer's
/// extensions.
#[derive(Clone, Default)]
pub(crate) struct Lasting(Arc<OnceLock<InFlight>>);

impl Lasting {
    /// Ends the connection: its client takes nothing.
    pub(crate) fn cut(&self) {
        if let Some(in_flight) = self.0.get() {
            in_flight.0.cut.notify_one();
        }
    }
}

struct InFlight(Arc<Pulse>);

impl InFlight {
    fn new(pulse: &Arc<Pulse>) -> Self {
        pulse.in_flight.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(pulse))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

pin_project! {
    /// An answer that is counted on its connection while it is awaited.
    pub(crate) struct Answer<F> {
        #[pin]
        answer: F,
        has_body: bool,
        in_flight: InFlight,
    }
}

impl<F: Future<Output = Result<Response, Infallible>>> Future for Answer<F> {
    type Output = Result<Response, Infallible>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let mut answered = ready!(this.answer.poll(context));
        if let Ok(response) = &mut answered
            && let Some(lasting) = response.extensions_mut().remove::<Lasting>()
        {
            // Set only here, and once for each answer.
            let _ = lasting.0.set(InFlight::new(&this.in_flight.0));
        }
        if let Ok(response) = &answered
            && *this.has_body
            && response.status().is_client_error()
        {
            this.in_flight.0.refused_body.store(true, Ordering::Relaxed);
        }
        Poll::Ready(answered)
    }
}
