//! Requests for access, as admins see them.

use axum::extract::State;
use mainstay_accounts::{AccessRequest, RequestStatus};
use mainstay_base::Id;
use serde::Deserialize;
use utoipa::ToSchema;

use super::Refusal;
use crate::error::Error;
use crate::extract::{CameFrom, Cursor, Json, Limit, Page, Path, Query, SignedIn, page_ask};
use crate::router::SharedState;

/// Which requests are asked for.
#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct RequestsQuery {
    /// Only those that stand so.
    #[param(inline)]
    status: Option<RequestStatus>,
    /// How many items at most.
    #[serde(default)]
    #[param(value_type = u16, required = false, minimum = 1, maximum = 200, default = 50)]
    limit: Limit,
    /// Where the page begins: `next_cursor` of the page before it.
    #[param(value_type = Option<String>)]
    cursor: Option<Cursor>,
}

/// Where a request stands from now on.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RequestPatch {
    /// The new status.
    status: RequestStatus,
}

/// The requests for access, newest first
#[utoipa::path(
    get, path = "/api/admin/access-requests", operation_id = "list_access_requests", tag = "admin",
    params(RequestsQuery),
    responses((status = 200, description = "Requests for access", body = Page<AccessRequest>), Refusal)
)]
pub(super) async fn list(
    State(state): State<SharedState>,
    Query(query): Query<RequestsQuery>,
) -> Result<Json<Page<AccessRequest>>, Error> {
    let ask = page_ask(query.limit, query.cursor.as_ref())?;
    Ok(Json(state.accounts.access_requests(query.status, ask).await?.into()))
}

/// Say where a request for access stands
#[utoipa::path(
    patch, path = "/api/admin/access-requests/{id}", operation_id = "handle_access_request",
    tag = "admin",
    params(("id" = String, Path, description = "The request for access")),
    request_body = RequestPatch,
    responses((status = 200, description = "The request as it is now", body = AccessRequest), Refusal)
)]
pub(super) async fn handle(
    State(state): State<SharedState>,
    SignedIn(admin): SignedIn,
    CameFrom(source): CameFrom,
    Path(id): Path<Id>,
    Json(RequestPatch { status }): Json<RequestPatch>,
) -> Result<Json<AccessRequest>, Error> {
    Ok(Json(state.accounts.handle_request(&admin, id, status, source).await?))
}
