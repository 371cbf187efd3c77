//! Invites, as admins see them.

use axum::extract::State;
use axum::http::StatusCode;
use mainstay_accounts::{AccountsError, Invite, InviteAsk, Role};
use mainstay_base::Id;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Refusal;
use crate::error::Error;
use crate::extract::{
    CameFrom, Json, ListQuery, Page, Path, Query, SignedIn, SiteAddress, page_ask,
};
use crate::router::SharedState;

/// An invite that is asked for.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewInvite {
    /// Who is invited.
    #[schema(example = "ada@example.com")]
    email: String,
    /// What the user will be allowed to do.
    #[serde(default = "default_role")]
    #[schema(default = "viewer")]
    role: Role,
    /// The request for access that it answers, and that is approved with it.
    #[schema(value_type = Option<String>)]
    access_request_id: Option<Id>,
}

const fn default_role() -> Role {
    Role::Viewer
}

/// An invite that was made.
#[derive(Serialize, ToSchema)]
pub(super) struct MadeInvite {
    /// Its link. It is shown here and never again.
    #[schema(
        example = "https://mainstay.example.com/invite#q83vEjRWeJq83vEjRWeJq83vEjRWeJq83vEjRWeJq8w"
    )]
    link: String,
    /// Whether the link is also on its way by mail.
    mailed: bool,
    /// What lists show of it.
    item: Invite,
}

/// The invites, newest first
#[utoipa::path(
    get, path = "/api/admin/invites", operation_id = "list_invites", tag = "admin",
    params(ListQuery),
    responses((status = 200, description = "Invites", body = Page<Invite>), Refusal)
)]
pub(super) async fn list(
    State(state): State<SharedState>,
    Query(query): Query<ListQuery>,
) -> Result<Json<Page<Invite>>, Error> {
    let ask = page_ask(query.limit, query.cursor.as_ref())?;
    Ok(Json(state.accounts.list_invites(ask).await?.into()))
}

/// Invite somebody
///
/// Earlier invites of the same address are revoked. An admin may do this 30 times a minute.
#[utoipa::path(
    post, path = "/api/admin/invites", operation_id = "create_invite", tag = "admin",
    request_body = NewInvite,
    responses((status = 201, description = "The invite with its link, shown once", body = MadeInvite), Refusal)
)]
pub(super) async fn create(
    State(state): State<SharedState>,
    SignedIn(admin): SignedIn,
    CameFrom(source): CameFrom,
    SiteAddress(site): SiteAddress,
    Json(NewInvite { email, role, access_request_id }): Json<NewInvite>,
) -> Result<(StatusCode, Json<MadeInvite>), Error> {
    let email = email.parse().map_err(AccountsError::InvalidEmail)?;
    let ask = InviteAsk { email, role, access_request_id };
    let made = state.accounts.invite(&admin, ask, &site, source).await?;
    let made = MadeInvite { link: made.link, mailed: made.mailed, item: made.invite };
    Ok((StatusCode::CREATED, Json(made)))
}

/// Take a pending invite back
#[utoipa::path(
    delete, path = "/api/admin/invites/{id}", operation_id = "revoke_invite", tag = "admin",
    params(("id" = String, Path, description = "The invite")),
    responses((status = 204, description = "It is revoked"), Refusal)
)]
pub(super) async fn revoke(
    State(state): State<SharedState>,
    SignedIn(admin): SignedIn,
    CameFrom(source): CameFrom,
    Path(id): Path<Id>,
) -> Result<StatusCode, Error> {
    state.accounts.revoke_invite(&admin, id, source).await?;
    Ok(StatusCode::NO_CONTENT)
}
