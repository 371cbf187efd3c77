//! Users, as admins see them.

use axum::extract::State;
use mainstay_accounts::{Role, User, UserChange, UserStatus};
use mainstay_base::Id;
use serde::Deserialize;
use utoipa::ToSchema;

use super::Refusal;
use crate::error::Error;
use crate::extract::{CameFrom, Json, ListQuery, Page, Path, Query, SignedIn, page_ask};
use crate::router::SharedState;

/// What is to be changed about a user. What is left out stays.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UserPatch {
    /// The new role.
    role: Option<Role>,
    /// Whether the user may sign in from now on.
    status: Option<UserStatus>,
}

/// The users, oldest first
#[utoipa::path(
    get, path = "/api/admin/users", operation_id = "list_users", tag = "admin",
    params(ListQuery),
    responses((status = 200, description = "Users", body = Page<User>), Refusal)
)]
pub(super) async fn list(
    State(state): State<SharedState>,
    Query(query): Query<ListQuery>,
) -> Result<Json<Page<User>>, Error> {
    let ask = page_ask(query.limit, query.cursor.as_ref())?;
    Ok(Json(state.accounts.users(ask).await?.into()))
}

/// Change a user's role or status
///
/// Whoever is disabled is signed out everywhere. The last active admin stays one.
#[utoipa::path(
    patch, path = "/api/admin/users/{id}", operation_id = "change_user", tag = "admin",
    params(("id" = String, Path, description = "The user")),
    request_body = UserPatch,
    responses((status = 200, description = "The user as it is now", body = User), Refusal)
)]
pub(super) async fn change(
    State(state): State<SharedState>,
    SignedIn(admin): SignedIn,
    CameFrom(source): CameFrom,
    Path(id): Path<Id>,
    Json(UserPatch { role, status }): Json<UserPatch>,
) -> Result<Json<User>, Error> {
    let change = UserChange { role, status };
    Ok(Json(state.accounts.change_user(&admin, id, change, source).await?))
}
