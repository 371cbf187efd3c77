//! The metrics for Prometheus.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};

use crate::router::Metrics;

/// Prometheus' text format.
const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Every metric, as text.
pub(super) async fn metrics(State(Metrics(render)): State<Metrics>) -> Response {
    ([(header::CONTENT_TYPE, TEXT_FORMAT)], render()).into_response()
}
