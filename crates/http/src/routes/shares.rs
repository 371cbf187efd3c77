//! Reports that others share.

use axum::extract::State;

use super::Refusal;
use super::files::Report;
use crate::error::Error;
use crate::extract::{Json, Path};
use crate::router::SharedState;

/// The report that somebody shares
///
/// For whoever is signed in and has the link. 410 `share_revoked` when it was taken back, 404 when it is
/// unknown or has expired.
#[utoipa::path(
    get, path = "/api/shares/{token}", operation_id = "get_shared_report", tag = "files",
    params(("token" = String, Path, description = "What stands behind `#` in the link")),
    responses((status = 200, description = "The report", body = Report), Refusal)
)]
pub(super) async fn read(
    State(state): State<SharedState>,
    Path(token): Path<String>,
) -> Result<Json<Report>, Error> {
    Ok(Json(state.reports.read_shared(&token).await?.into()))
}
