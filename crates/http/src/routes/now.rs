//! What is broken now.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use mainstay_monitor::views::Now;

use super::Refusal;
use super::kept::answer;
use crate::error::Error;
use crate::router::SharedState;

/// What is broken now, and because of what
///
/// Only root causes, the one that hurts most services first, with why it fails, whom it hurts and whom to
/// ask; and how many services are how. It has a tag: who sends it back as `If-None-Match` is told by 304
/// that nothing has changed.
#[utoipa::path(
    get, path = "/api/now", operation_id = "get_now", tag = "board",
    responses(
        (status = 200, description = "Root causes and counts", body = Now),
        (status = 304, description = "Nothing has changed"),
        Refusal
    )
)]
pub(super) async fn now(
    State(state): State<SharedState>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    Ok(answer(&*state.monitor.views.now().await?, &headers))
}
