//! One file per resource. [`documented`] routes stand in the OpenAPI document.

pub(crate) mod assets;
mod auth;
mod encoding;
mod health;
mod metrics;
mod openapi;
mod setup;
mod system;

use axum::Router;
use axum::routing::get;
use utoipa::OpenApi as _;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::error::ErrorBody;
use crate::openapi::Document;
use crate::router::SharedState;

/// How every route answers when it refuses or fails.
#[derive(utoipa::IntoResponses)]
#[response(status = "default", description = "Refused or failed: what happened and what to do")]
#[expect(dead_code, reason = "only the OpenAPI document reads it")]
struct Refusal(ErrorBody);

/// The routes of the OpenAPI document.
pub(crate) fn documented() -> OpenApiRouter<SharedState> {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(health::healthz))
        .routes(routes!(health::readyz))
        .routes(routes!(system::system))
        .routes(routes!(openapi::openapi))
        .routes(routes!(setup::setup_state, setup::set_up))
        .routes(routes!(auth::login))
        .routes(routes!(auth::logout))
        .routes(routes!(auth::me))
}

/// The routes that speak another language than JSON.
pub(crate) fn undocumented() -> Router<SharedState> {
    Router::new().route("/metrics", get(metrics::metrics))
}
