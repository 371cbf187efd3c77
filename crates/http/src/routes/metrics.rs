//! The metrics for Prometheus.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::code::Code;
use crate::error::Error;
use crate::router::SharedState;

/// Prometheus' text format.
const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Every metric, as text.
pub(super) async fn metrics(State(state): State<SharedState>) -> Result<Response, Error> {
    if !(state.site.alone || state.site.metrics_public) {
        let detail = "This Mainstay serves others, so its metrics are closed. Set metrics.public \
                      (MAINSTAY_METRICS_PUBLIC=true) to open them.";
        return Err(Error::new(Code::MetricsNotPublic, detail));
    }
    Ok(([(header::CONTENT_TYPE, TEXT_FORMAT)], (state.metrics)()).into_response())
}
