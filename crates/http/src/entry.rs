//! Where a connection hands its requests to the router, says whose they are, and counts them.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Version};
use axum::response::Response;
use http_body::Body as _;
use hyper::body::Incoming;
use pin_project_lite::pin_project;

use crate::client::Peer;
use crate::guarded::Pulse;
use crate::sse::{self, Follower, Taken};

/// Where a connection's requests enter the router.
pub(crate) struct Entry {
    pub(crate) router: Router,
    pub(crate) pulse: Arc<Pulse>,
    pub(crate) peer: Peer,
    /// A stream may take the whole connection: it speaks HTTP/1, and somebody looks for that.
    pub(crate) is_given_up: bool,
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
        let way = match request.version() {
            _ if !self.is_given_up => Way::Body,
            Version::HTTP_11 => Way::TakeOver { is_chunked: true },
            _ => Way::TakeOver { is_chunked: false },
        };
        let answer = tower::Service::call(&mut self.router.clone(), request);
        Answer { answer, has_body, way, in_flight: InFlight::new(&self.pulse) }
    }
}

/// A live stream that a route leaves in its answer's extensions, in place of a body.
#[derive(Clone)]
pub(crate) struct Streaming(Arc<Mutex<Option<Box<Follower>>>>);

impl Streaming {
    pub(crate) fn new(follower: Follower) -> Self {
        Self(Arc::new(Mutex::new(Some(Box::new(follower)))))
    }

    fn take(&self) -> Option<Box<Follower>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// How a live stream travels.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// As a body that hyper asks for.
    Body,
    /// On the connection itself, which hyper gives up after the head.
    TakeOver { is_chunked: bool },
}

/// Keeps a connection counted as busy until the answer's body has ended, for an answer that goes on
/// after its head.
pub(crate) struct Lasting(InFlight);

impl Lasting {
    /// Ends the connection: its client takes nothing.
    pub(crate) fn cut(&self) {
        self.0.0.cut.notify_one();
    }
}

/// Counts something as in flight on its connection for as long as it lives.
pub(crate) struct InFlight(Arc<Pulse>);

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
        way: Way,
        in_flight: InFlight,
    }
}

impl<F: Future<Output = Result<Response, Infallible>>> Future for Answer<F> {
    type Output = Result<Response, Infallible>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let mut answered = ready!(this.answer.poll(context));
        if let Ok(response) = &mut answered
            && let Some(follower) = response.extensions_mut().remove::<Streaming>()
            && let Some(follower) = follower.take()
        {
            *response.body_mut() = begin(follower, *this.way, &this.in_flight.0);
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

/// What hyper sends of a live stream: all of it, or how it begins.
fn begin(follower: Box<Follower>, way: Way, pulse: &Arc<Pulse>) -> Body {
    let in_flight = InFlight::new(pulse);
    match way {
        Way::Body => sse::body(follower, Lasting(in_flight)),
        Way::TakeOver { is_chunked } => {
            let taken = Taken::new(follower, is_chunked, in_flight);
            let body = taken.first_body(Arc::clone(pulse));
            pulse.give_to(taken);
            body
        }
    }
}
