//! The first account.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Refusal;
use super::auth::{UserAnswer, with_session};
use crate::error::Error;
use crate::extract::{CameFrom, Json, SecretText};
use crate::router::SharedState;

/// Whether Mainstay waits for its first account.
#[derive(Serialize, ToSchema)]
pub(super) struct SetupState {
    /// There is no account yet.
    needed: bool,
}

/// The first account.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Setup {
    /// The token of the link in the log.
    #[schema(value_type = String)]
    token: SecretText,
    /// The e-mail address.
    #[schema(example = "ada@example.com")]
    email: String,
    /// The password, of 12 to 256 characters.
    #[schema(value_type = String, format = Password, min_length = 12, max_length = 256)]
    password: SecretText,
}

/// Does Mainstay wait for its first account?
#[utoipa::path(
    get, path = "/api/auth/setup", operation_id = "get_setup", tag = "auth",
    responses((status = 200, description = "Whether there is no account yet", body = SetupState), Refusal)
)]
pub(super) async fn setup_state(
    State(state): State<SharedState>,
) -> Result<Json<SetupState>, Error> {
    Ok(Json(SetupState { needed: state.accounts.needs_setup().await? }))
}

/// Make the first account
///
/// It is an admin's. The token is in the link that the log shows as long as there is no account. Sets
/// the cookie `session`.
#[utoipa::path(
    post, path = "/api/auth/setup", operation_id = "set_up", tag = "auth",
    request_body = Setup,
    responses((status = 200, description = "The account is made and signed in", body = UserAnswer), Refusal)
)]
pub(super) async fn set_up(
    State(state): State<SharedState>,
    CameFrom(source): CameFrom,
    Json(Setup { token, email, password }): Json<Setup>,
) -> Result<Response, Error> {
    let made = state.accounts.set_up(token.expose(), &email, password.expose(), source).await?;
    let answer = Json(UserAnswer { user: made.caller.user }).into_response();
    with_session(&state, &made.token, answer)
}
