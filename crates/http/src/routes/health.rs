//! Is this Mainstay alive, and can it do its work?

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde::Serialize;
use utoipa::ToSchema;

use super::Refusal;
use crate::code::Code;
use crate::error::{APPLICATION_JSON, Error, retry_after_value};
use crate::extract::Json;
use crate::limits::RETRY_AFTER;
use crate::probe::{SharedProbe, all_healthy};
use crate::surface::SystemCheck;

/// The process answers.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "only the OpenAPI document reads it; the answer is fixed bytes")]
pub(super) enum AliveStatus {
    Alive,
}

/// That the process answers.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only the OpenAPI document reads it; the answer is fixed bytes")]
pub(super) struct Alive {
    /// Always `alive`.
    status: AliveStatus,
}

/// Whether Mainstay can do its work.
#[derive(Serialize, ToSchema)]
pub(super) struct Readiness {
    /// `ready` when every check is healthy.
    status: ReadinessStatus,
    /// What was looked at.
    checks: Vec<SystemCheck>,
}

/// Whether Mainstay can do its work.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ReadinessStatus {
    Ready,
    NotReady,
}

/// Is the process alive?
///
/// Answers without looking at anything: a failing database is no reason to restart the process.
#[utoipa::path(
    get, path = "/healthz", operation_id = "get_healthz", tag = "health",
    responses((status = 200, description = "The process answers", body = Alive), Refusal)
)]
pub(super) async fn healthz() -> Response {
    let body = Bytes::from_static(br#"{"status":"alive"}"#);
    ([(header::CONTENT_TYPE, APPLICATION_JSON)], body).into_response()
}

/// Can Mainstay do its work?
///
/// Looks at what Mainstay leans on. Calls within about a second share one look.
#[utoipa::path(
    get, path = "/readyz", operation_id = "get_readyz", tag = "health",
    responses(
        (status = 200, description = "Every check is healthy", body = Readiness),
        (status = 503, description = "A check is down", body = Readiness),
        Refusal
    )
)]
pub(super) async fn readyz(State(probe): State<SharedProbe>) -> Result<Response, Error> {
    let checks = probe.checks().await?.to_vec();
    if all_healthy(&checks) {
        return Ok(Json(Readiness { status: ReadinessStatus::Ready, checks }).into_response());
    }
    let body = Json(Readiness { status: ReadinessStatus::NotReady, checks });
    let retry_after = [(header::RETRY_AFTER, retry_after_value(RETRY_AFTER))];
    Ok((StatusCode::SERVICE_UNAVAILABLE, retry_after, body).into_response())
}

/// What a process without a site answers to everything else.
pub(super) async fn nothing_else() -> Error {
    let detail = "This process serves no site. GET /healthz, /readyz and /metrics tell of it.";
    Error::new(Code::NotFound, detail)
}
