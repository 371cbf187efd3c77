//! The OpenAPI document itself.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::Refusal;
use crate::error::APPLICATION_JSON;
use crate::router::SharedState;

/// This document.
#[utoipa::path(
    get, path = "/api/openapi.json", operation_id = "get_openapi", tag = "system",
    responses((status = 200, description = "The OpenAPI document", body = serde_json::Value), Refusal)
)]
pub(super) async fn openapi(State(state): State<SharedState>) -> Response {
    ([(header::CONTENT_TYPE, APPLICATION_JSON)], state.openapi.clone()).into_response()
}
