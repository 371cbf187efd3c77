//! The link that signs in once.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use mainstay_accounts::Entering;
use serde::Deserialize;
use utoipa::ToSchema;

use super::Refusal;
use super::auth::{UserAnswer, with_session};
use crate::error::Error;
use crate::extract::{CameFrom, Json, OldSession, SecretText};
use crate::router::SharedState;

/// A link that signs in.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Enter {
    /// The token of the link that was printed.
    #[schema(value_type = String)]
    token: SecretText,
}

/// Sign in by the link that was printed
///
/// `mainstay demo` prints one; there is none otherwise. It works once. Sets the cookie of the session,
/// which takes the place of the one that the client had before.
#[utoipa::path(
    post, path = "/api/auth/enter", operation_id = "enter", tag = "auth",
    request_body = Enter,
    responses((status = 200, description = "Signed in", body = UserAnswer), Refusal)
)]
pub(super) async fn enter(
    State(state): State<SharedState>,
    CameFrom(source): CameFrom,
    OldSession(old): OldSession,
    Json(Enter { token }): Json<Enter>,
) -> Result<Response, Error> {
    let entering = Entering { token: token.expose(), replaces: old.as_deref(), source };
    let entered = state.accounts.enter(entering).await?;
    let answer = Json(UserAnswer { user: entered.caller.user }).into_response();
    with_session(&state, &entered.token, answer)
}
