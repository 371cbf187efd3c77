//! How long services and dependencies worked.

use axum::extract::State;
use mainstay_base::Id;
use mainstay_monitor::past::Uptime;

use super::Refusal;
use super::dependencies::no_dependency;
use super::services::no_service;
use crate::error::Error;
use crate::extract::{Json, Path};
use crate::router::SharedState;

/// How long a service worked in the last 24 hours, 7, 30 and 90 days
///
/// What is not known is told apart: it counts neither as up nor as down.
#[utoipa::path(
    get, path = "/api/services/{id}/uptime", operation_id = "get_service_uptime", tag = "services",
    params(("id" = String, Path, description = "The service")),
    responses((status = 200, description = "How long it worked", body = Uptime), Refusal)
)]
pub(super) async fn of_service(
    State(state): State<SharedState>,
    Path(id): Path<Id>,
) -> Result<Json<Uptime>, Error> {
    Ok(Json(state.monitor.past.uptime_of_service(id).await?.ok_or_else(no_service)?))
}

/// How long a dependency worked in the last 24 hours, 7, 30 and 90 days, as far as its service said
///
/// What is not known is told apart: it counts neither as up nor as down.
#[utoipa::path(
    get, path = "/api/dependencies/{id}/uptime", operation_id = "get_dependency_uptime",
    tag = "dependencies",
    params(("id" = String, Path, description = "The dependency")),
    responses((status = 200, description = "How long it worked", body = Uptime), Refusal)
)]
pub(super) async fn of_dependency(
    State(state): State<SharedState>,
    Path(id): Path<Id>,
) -> Result<Json<Uptime>, Error> {
    Ok(Json(state.monitor.past.uptime_of_dependency(id).await?.ok_or_else(no_dependency)?))
}
