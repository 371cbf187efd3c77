//! One connection from its first byte to its end.

use std::convert::Infallible;
use std::error::Error as StdError;
use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};

use axum::Router;
use axum::http::{Request, Version};
use axum::response::Response;
use http_body::Body as _;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use pin_project_lite::pin_project;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::guarded::{Guarded, Pulse, Slow};
use crate::limits::{
    HTTP2_CONNECTION_WINDOW_BYTES, HTTP2_ERROR_RESETS, HTTP2_HEADER_LIST_BYTES,
    HTTP2_PENDING_RESETS, HTTP2_PING_INTERVAL, HTTP2_PING_TIME, HTTP2_SEND_BUFFER_BYTES,
    HTTP2_STREAM_WINDOW_BYTES, HTTP2_STREAMS, MAX_HEAD_BYTES,
};
use crate::measure;
use crate::router::Service;

/// How HTTP is spoken: both versions, within the limits.
pub(crate) fn builder() -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        // The stream below keeps this clock; see `guarded`.
        .header_read_timeout(None)
        .max_buf_size(MAX_HEAD_BYTES);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(HTTP2_HEADER_LIST_BYTES)
        .max_concurrent_streams(HTTP2_STREAMS)
        .max_pending_accept_reset_streams(HTTP2_PENDING_RESETS)
        .max_local_error_reset_streams(HTTP2_ERROR_RESETS)
        .max_send_buf_size(HTTP2_SEND_BUFFER_BYTES)
        .initial_stream_window_size(HTTP2_STREAM_WINDOW_BYTES)
        .initial_connection_window_size(HTTP2_CONNECTION_WINDOW_BYTES)
        .keep_alive_interval(HTTP2_PING_INTERVAL)
        .keep_alive_timeout(HTTP2_PING_TIME);
    builder
}

/// Answers requests until the client leaves, idles too long, or `stop` is called and the requests
/// in flight are answered.
pub(crate) async fn drive<S>(
    stream: S,
    service: &Service,
    builder: &Builder<TokioExecutor>,
    stop: &CancellationToken,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let pulse = Arc::new(Pulse::default());
    let io = TokioIo::new(Guarded::new(stream, Arc::clone(&pulse), &service.limits));
    let entry = Entry { router: service.router.clone(), pulse: Arc::clone(&pulse) };
    let mut connection = pin!(builder.serve_connection(io, entry));
    // Looking twice per limit closes an idle connection after at least one and at most one and a
    // half of it, without a timer per request.
    let look = service.limits.idle_time / 2;
    let mut idle_since = None;
    let mut closing = false;
    let ended = loop {
        tokio::select! {
            biased;
            ended = connection.as_mut() => break ended,
            () = stop.cancelled(), if !closing => {
                // hyper would wait for the rest of a first head that has begun to come.
                if pulse.begun() == 0 {
                    return;
                }
                closing = true;
                connection.as_mut().graceful_shutdown();
            }
            () = sleep(look), if !closing => {
                let begun = pulse.begun();
                if pulse.is_quiet() && idle_since == Some(begun) {
                    closing = true;
                    connection.as_mut().graceful_shutdown();
                }
                idle_since = pulse.is_quiet().then_some(begun);
            }
        }
    };
    if let Err(error) = ended
        && let Some(reason) = reason(error.as_ref())
    {
        measure::connection_failed(reason);
        tracing::debug!(reason, error = %error, "connection failed");
    }
}

/// The metric's label for a failure, or `None` for a client that just left.
fn reason(error: &(dyn StdError + 'static)) -> Option<&'static str> {
    let mut chain = std::iter::successors(Some(error), |&error| error.source());
    // An io::Error hides what it wraps from `source`, so it is opened by hand.
    let io = chain.clone().find_map(|error| error.downcast_ref::<io::Error>());
    let slow = io.and_then(io::Error::get_ref).and_then(|inner| inner.downcast_ref::<Slow>());
    match slow {
        Some(Slow::Head) => return Some("slow_head"),
        Some(Slow::Reader) => return Some("slow_reader"),
        None => {}
    }
    let hyper = chain.find_map(|error| error.downcast_ref::<hyper::Error>());
    match (hyper, io.map(io::Error::kind)) {
        (Some(error), _) if error.is_parse_too_large() => Some("head_too_large"),
        (Some(error), _) if error.is_parse() => Some("malformed"),
        (Some(error), _) if error.is_timeout() => Some("timeout"),
        (Some(error), _) if error.is_incomplete_message() => Some("hung_up"),
        // A stop reached a connection that had said nothing yet.
        (_, Some(io::ErrorKind::Interrupted)) => None,
        (_, Some(_)) => Some("hung_up"),
        _ => Some("protocol"),
    }
}

/// Where a connection's requests enter the router.
struct Entry {
    router: Router,
    pulse: Arc<Pulse>,
}

impl hyper::service::Service<Request<Incoming>> for Entry {
    type Response = Response;
    type Error = Infallible;
    type Future = Answer<<Router as tower::Service<Request<Incoming>>>::Future>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        if request.version() == Version::HTTP_2 {
            self.pulse.http2.store(true, Ordering::Relaxed);
        }
        self.pulse.refused_body.store(false, Ordering::Relaxed);
        self.pulse.begun.fetch_add(1, Ordering::Relaxed);
        self.pulse.in_flight.fetch_add(1, Ordering::Relaxed);
        let has_body = !request.body().is_end_stream();
        let answer = tower::Service::call(&mut self.router.clone(), request);
        Answer { answer, has_body, in_flight: InFlight(Arc::clone(&self.pulse)) }
    }
}

struct InFlight(Arc<Pulse>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

pin_project! {
    /// An answer that is counted on its connection while it is awaited.
    struct Answer<F> {
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
        let answered = ready!(this.answer.poll(context));
        if let Ok(response) = &answered
            && *this.has_body
            && response.status().is_client_error()
        {
            this.in_flight.0.refused_body.store(true, Ordering::Relaxed);
        }
        Poll::Ready(answered)
    }
}
