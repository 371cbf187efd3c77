//! Invites, as whoever has the link sees them.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use mainstay_accounts::Role;
use mainstay_base::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Refusal;
use super::auth::{UserAnswer, with_session};
use crate::error::Error;
use crate::extract::{CameFrom, Json, SecretText};
use crate::router::SharedState;

/// The token of an invite's link.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct InviteToken {
    /// What stands after `#` in the link.
    #[schema(value_type = String)]
    token: SecretText,
}

/// What an invite offers.
#[derive(Serialize, ToSchema)]
pub(super) struct Invitation {
    /// Who is invited.
    #[schema(example = "ada@example.com")]
    email: String,
    /// What the user will be allowed to do.
    role: Role,
    /// Until when it can be accepted.
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
}

/// An invite that is accepted.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Acceptance {
    /// What stands after `#` in the link.
    #[schema(value_type = String)]
    token: SecretText,
    /// The password, of 12 to 256 characters.
    #[schema(value_type = String, format = Password, min_length = 12, max_length = 256)]
    password: SecretText,
}

/// Look at an invite
///
/// Changes nothing. It is no GET so that the token stands in no log of addresses.
#[utoipa::path(
    post, path = "/api/invites/look", operation_id = "look_at_invite", tag = "access",
    request_body = InviteToken,
    responses((status = 200, description = "What it offers", body = Invitation), Refusal)
)]
pub(super) async fn look(
    State(state): State<SharedState>,
    Json(InviteToken { token }): Json<InviteToken>,
) -> Result<Json<Invitation>, Error> {
    let invite = state.accounts.look_at_invite(token.expose()).await?;
    let (email, role, expires_at) = (invite.email, invite.role, invite.expires_at);
    Ok(Json(Invitation { email, role, expires_at }))
}

/// Accept an invite
///
/// Makes the account and sets the cookie `session`.
#[utoipa::path(
    post, path = "/api/invites/accept", operation_id = "accept_invite", tag = "access",
    request_body = Acceptance,
    responses((status = 200, description = "The account is made and signed in", body = UserAnswer), Refusal)
)]
pub(super) async fn accept(
    State(state): State<SharedState>,
    CameFrom(source): CameFrom,
    Json(Acceptance { token, password }): Json<Acceptance>,
) -> Result<Response, Error> {
    let made = state.accounts.accept_invite(token.expose(), password.expose(), source).await?;
    let answer = Json(UserAnswer { user: made.caller.user }).into_response();
    with_session(&state, &made.token, answer)
}
