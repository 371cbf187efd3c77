//! One request from its arrival to its end: counted once, logged once, even when the client hangs
//! up before the answer.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use mainstay_base::Moment;
use mainstay_jobs::Traceparent;
use tracing::{Level, Span};

use crate::measure::{Meter, method_label};
use crate::observe::Watch;
use crate::request_id;

/// What an answer outside every route is counted under.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RouteLabel(pub(crate) &'static str);

/// The label of what no route and no asset answers.
const UNMATCHED: RouteLabel = RouteLabel("unmatched");

/// The W3C's header for the trace that a request is a part of.
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// Routes that machines ask every few seconds: at INFO they would drown the rest.
const QUIET_ROUTES: [&str; 3] = ["/healthz", "/readyz", "/metrics"];

/// nginx's word for a client that closed the connection before the answer; it is never sent.
const CLIENT_HUNG_UP: u16 = 499;

/// A request on its way. Dropped before [`Flight::land`], it counts as a client that hung up.
pub(crate) struct Flight {
    pub(crate) watch: Arc<Watch>,
    pub(crate) request_id: HeaderValue,
    meter: Arc<Meter>,
    method: &'static str,
    matched: Option<MatchedPath>,
    quiet: bool,
    /// The caller's trace, if the request is a part of one.
    pub(crate) trace: Option<Traceparent>,
    pub(crate) started: Moment,
    landed: bool,
}

impl Flight {
    pub(crate) fn begin(watch: &Arc<Watch>, meter: &Arc<Meter>, request: &Request) -> Self {
        watch.in_flight.increment(1.0);
        let matched = request.extensions().get::<MatchedPath>().cloned();
        let quiet = match &matched {
            Some(route) => QUIET_ROUTES.contains(&route.as_str()),
            None => !request.uri().path().starts_with("/api"),
        };
        Self {
            request_id: request_id::assign(request.headers(), &watch.ids),
            meter: Arc::clone(meter),
            method: method_label(request.method()),
            matched,
            quiet,
            trace: trace(request.headers()),
            started: watch.clock.moment(),
            landed: false,
            watch: Arc::clone(watch),
        }
    }

    /// The span in which the request's own log lines stand.
    pub(crate) fn span(&self) -> Span {
        let (request_id, method) = (request_id::text(&self.request_id), self.method);
        let route = self.route(UNMATCHED);
        let traceparent = self.trace.as_ref().map(Traceparent::as_str);
        if self.quiet {
            tracing::debug_span!("request", request_id, method, route, traceparent)
        } else {
            tracing::info_span!("request", request_id, method, route, traceparent)
        }
    }

    /// The answer's head is ready.
    pub(crate) fn land(
        &mut self,
        status: StatusCode,
        label: Option<RouteLabel>,
        cause: Option<&str>,
    ) {
        self.landed = true;
        self.end(status, label.unwrap_or(UNMATCHED), cause);
    }

    fn end(&self, status: StatusCode, label: RouteLabel, cause: Option<&str>) {
        let took = self.watch.clock.moment().since(self.started);
        let route = self.route(label);
        self.watch.in_flight.decrement(1.0);
        self.meter.count(self.method, route, status, took);

        let (method, status) = (self.method, status.as_u16());
        let duration_ms = milliseconds(took);
        let request_id = request_id::text(&self.request_id);
        macro_rules! log {
            ($level:expr) => {
                tracing::event!(
                    parent: None, $level,
                    method, route, status, duration_ms, request_id, cause, "request"
                )
            };
        }
        match status {
            500 => log!(Level::ERROR),
            501.. => log!(Level::WARN),
            _ if self.quiet => log!(Level::DEBUG),
            _ => log!(Level::INFO),
        }
    }

    fn route(&self, label: RouteLabel) -> &str {
        self.matched.as_ref().map_or(label.0, MatchedPath::as_str)
    }
}

fn trace(headers: &HeaderMap) -> Option<Traceparent> {
    headers.get(TRACEPARENT)?.to_str().ok().and_then(Traceparent::parse)
}

/// Milliseconds with three decimals: more of them are noise.
fn milliseconds(took: Duration) -> f64 {
    (took.as_secs_f64() * 1_000_000.0).round() / 1000.0
}

impl Drop for Flight {
    fn drop(&mut self) {
        if !self.landed {
            let status = StatusCode::from_u16(CLIENT_HUNG_UP).unwrap_or(StatusCode::BAD_REQUEST);
            self.end(status, UNMATCHED, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_logged_to_the_microsecond() {
        for (nanoseconds, text) in
            [(2_001_800_026, "2001.8"), (1_234_567, "1.235"), (400, "0"), (999_999_999, "1000")]
        {
            assert_eq!(milliseconds(Duration::from_nanos(nanoseconds)).to_string(), text);
        }
    }
}
