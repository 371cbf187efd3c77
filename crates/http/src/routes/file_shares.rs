//! Links by which others read the report of an own file.

use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use mainstay_base::Id;
use mainstay_reports::Share;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::Refusal;
use super::files::changed;
use crate::error::Error;
use crate::extract::{CameFrom, Json, Page, Path, SignedIn, SiteAddress};
use crate::router::SharedState;

/// The page that a link opens; its token stands behind `#`, so that no log of addresses holds it.
const SHARE_PAGE: &str = "/shared";

/// A link that is asked for.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewShare {
    /// For how many seconds it leads to the report: 60 to 7 776 000 (90 days), 604 800 (7 days) unless
    /// given.
    #[schema(minimum = 60, maximum = 7_776_000, default = 604_800)]
    expires_in: Option<u64>,
}

/// A link that was made.
#[derive(Serialize, ToSchema)]
pub(super) struct MadeShare {
    /// The link. It is shown here and never again.
    #[schema(
        example = "https://mainstay.example.com/shared#a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V"
    )]
    link: String,
    /// What stands behind `#`: `GET /api/shares/{token}` gives the report.
    token: String,
    /// What lists show of it.
    item: Share,
}

/// The links to the report of an own file, newest first
#[utoipa::path(
    get, path = "/api/files/{id}/shares", operation_id = "list_shares", tag = "files",
    params(("id" = String, Path, description = "The file")),
    responses((status = 200, description = "The links, without their tokens", body = Page<Share>), Refusal)
)]
pub(super) async fn list(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    Path(id): Path<Id>,
) -> Result<Json<Page<Share>>, Error> {
    let items = state.reports.shares(caller.user.id, id).await?;
    Ok(Json(Page { items, next_cursor: None }))
}

/// Make a link to the report of an own file
///
/// Whoever is signed in and has it can read the report until it expires or is taken back. A report that is still
/// in the making can be shared already; of a file that failed there is none (409 `report_not_ready`).
#[utoipa::path(
    post, path = "/api/files/{id}/shares", operation_id = "create_share", tag = "files",
    params(("id" = String, Path, description = "The file")),
    request_body = NewShare,
    responses((status = 201, description = "The link, shown once", body = MadeShare), Refusal)
)]
pub(super) async fn create(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    CameFrom(source): CameFrom,
    SiteAddress(site): SiteAddress,
    Path(id): Path<Id>,
    Json(NewShare { expires_in }): Json<NewShare>,
) -> Result<(StatusCode, Json<MadeShare>), Error> {
    let lasts = expires_in.map(Duration::from_secs);
    let detail = json!({"expires_in": expires_in});
    let made = changed(&state, &caller, source, ("file.share", id, detail), async |tx, _| {
        state.reports.share(tx, caller.user.id, id, lasts).await
    });
    let made = made.await?;
    let token = made.token.expose().clone();
    let link = format!("{site}{SHARE_PAGE}#{token}");
    Ok((StatusCode::CREATED, Json(MadeShare { link, token, item: made.share })))
}

/// Take a link back
#[utoipa::path(
    delete, path = "/api/files/{id}/shares/{share}", operation_id = "revoke_share", tag = "files",
    params(
        ("id" = String, Path, description = "The file"),
        ("share" = String, Path, description = "The link")
    ),
    responses((status = 204, description = "It leads nowhere any more"), Refusal)
)]
pub(super) async fn revoke(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    CameFrom(source): CameFrom,
    Path((id, share)): Path<(Id, Id)>,
) -> Result<StatusCode, Error> {
    let detail = json!({"share": share});
    let revoked =
        changed(&state, &caller, source, ("file.revoke_share", id, detail), async |tx, _| {
            state.reports.revoke(tx, caller.user.id, id, share).await
        });
    revoked.await?;
    Ok(StatusCode::NO_CONTENT)
}
