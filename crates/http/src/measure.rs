//! The metrics of the surface: their names, their help, and cached handles for the hot ones.

use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use axum::http::{Method, StatusCode};
use metrics::{
    Counter, Gauge, Histogram, Unit, counter, describe_counter, describe_gauge, describe_histogram,
    gauge, histogram,
};

/// The histogram of answers by time; the recorder needs [`DURATION_BUCKETS`] for it.
pub const REQUEST_DURATION: &str = "mainstay_http_request_duration_seconds";
const REQUESTS: &str = "mainstay_http_requests_total";
const IN_FLIGHT: &str = "mainstay_http_requests_in_flight";
const CONNECTIONS: &str = "mainstay_http_connections";
const CONNECTION_WAITS: &str = "mainstay_http_connection_waits_total";
const CONNECTION_ERRORS: &str = "mainstay_http_connection_errors_total";
const REFUSALS: &str = "mainstay_http_refusals_total";

/// The upper ends of the histogram's buckets, in seconds.
pub const DURATION_BUCKETS: [f64; 13] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];

/// Tells the recorder what each metric means. Call it once, after the recorder is installed.
pub fn describe() {
    describe_counter!(REQUESTS, "Requests answered; status 499 is a client that hung up first.");
    describe_histogram!(REQUEST_DURATION, Unit::Seconds, "Time until the head of the answer.");
    describe_gauge!(IN_FLIGHT, "Requests that wait for the head of their answer.");
    describe_gauge!(CONNECTIONS, "Open connections.");
    describe_counter!(
        CONNECTION_WAITS,
        "Times that the limit of connections was reached and accepting had to wait."
    );
    describe_counter!(CONNECTION_ERRORS, "Connections that failed, by reason.");
    describe_counter!(REFUSALS, "Requests answered with an error, by its code.");
}

/// Requests in flight.
pub(crate) fn in_flight() -> Gauge {
    gauge!(IN_FLIGHT)
}

/// Open connections.
pub(crate) fn connections() -> Gauge {
    gauge!(CONNECTIONS)
}

/// Accepting had to wait for a connection to end.
pub(crate) fn connection_waited() {
    counter!(CONNECTION_WAITS).increment(1);
}

/// A connection failed.
pub(crate) fn connection_failed(reason: &'static str) {
    counter!(CONNECTION_ERRORS, "reason" => reason).increment(1);
}

/// A request was answered with an error.
pub(crate) fn refused(code: &'static str) {
    counter!(REFUSALS, "code" => code).increment(1);
}

/// The method as a label: one of a fixed set, since a client can make up any word.
pub(crate) fn method_label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

/// Handles that one route has used, so that counting does not look them up by their labels.
///
/// It is bounded by the labels: a fixed set of methods, of routes and of statuses.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    cells: RwLock<Vec<Cell>>,
}

struct Cell {
    key: (&'static str, String, StatusCode),
    requests: Counter,
    duration: Histogram,
}

impl std::fmt::Debug for Cell {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.key.fmt(formatter)
    }
}

impl Meter {
    /// Counts one request.
    pub(crate) fn count(
        &self,
        method: &'static str,
        route: &str,
        status: StatusCode,
        took: Duration,
    ) {
        let found = {
            let cells = self.cells.read().unwrap_or_else(PoisonError::into_inner);
            let cell = cells.iter().find(|cell| cell.is(method, route, status));
            cell.inspect(|cell| cell.count(took)).is_some()
        };
        if !found {
            let cell = Cell::new(method, route, status);
            cell.count(took);
            let mut cells = self.cells.write().unwrap_or_else(PoisonError::into_inner);
            if !cells.iter().any(|known| known.key == cell.key) {
                cells.push(cell);
            }
        }
    }
}

impl Cell {
    fn new(method: &'static str, route: &str, status: StatusCode) -> Self {
        let labels = [("method", method.to_owned()), ("route", route.to_owned())];
        let code = status.as_str().to_owned();
        Self {
            requests: counter!(
                REQUESTS, "method" => method, "route" => route.to_owned(), "status" => code
            ),
            duration: histogram!(REQUEST_DURATION, &labels),
            key: (method, route.to_owned(), status),
        }
    }

    fn is(&self, method: &'static str, route: &str, status: StatusCode) -> bool {
        self.key.2 == status && self.key.0 == method && self.key.1 == route
    }

    fn count(&self, took: Duration) {
        self.requests.increment(1);
        self.duration.record(took.as_secs_f64());
    }
}
