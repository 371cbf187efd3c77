//! The password of whoever is calling.

use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use super::Refusal;
use crate::error::Error;
use crate::extract::{CameFrom, Json, SecretText, SignedIn};
use crate::router::SharedState;

/// A password and the one that takes its place.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PasswordChange {
    /// The password until now.
    #[schema(value_type = String, format = Password)]
    current_password: SecretText,
    /// The password from now on, of 12 to 256 characters.
    #[schema(value_type = String, format = Password, min_length = 12, max_length = 256)]
    new_password: SecretText,
}

/// Change the own password
///
/// Every other session of the user ends.
#[utoipa::path(
    post, path = "/api/account/password", operation_id = "change_password", tag = "account",
    request_body = PasswordChange,
    responses((status = 204, description = "It is changed"), Refusal)
)]
pub(super) async fn change(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    CameFrom(source): CameFrom,
    Json(PasswordChange { current_password, new_password }): Json<PasswordChange>,
) -> Result<StatusCode, Error> {
    let (current, new) = (current_password.expose(), new_password.expose());
    state.accounts.change_password(&caller, current, new, source).await?;
    Ok(StatusCode::NO_CONTENT)
}
