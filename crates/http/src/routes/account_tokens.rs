//! The API tokens of whoever is calling.

use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use mainstay_accounts::{ApiToken, Scope, TokenAsk};
use mainstay_base::Id;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Refusal;
use crate::error::Error;
use crate::extract::{CameFrom, Json, ListQuery, Page, Path, Query, SignedIn, page_ask};
use crate::router::SharedState;

/// How long a token lives unless its owner says otherwise, in days.
const DEFAULT_DAYS: u16 = 90;
/// The longest that a token lives, unless it lives for ever.
const MAX_DAYS: u16 = 3650;
const DAY: Duration = Duration::from_hours(24);

/// A token that is asked for.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewToken {
    /// What its owner calls it, in 1 to 100 characters.
    #[schema(example = "deploy script")]
    name: String,
    /// What it may do, within its owner's role.
    scope: Scope,
    /// How many days it lives; `null` for ever.
    #[serde(default = "default_days")]
    #[schema(value_type = Option<u16>, minimum = 1, maximum = 3650, default = 90)]
    expires_in_days: Option<Days>,
}

/// A number of days.
#[derive(Deserialize)]
#[serde(try_from = "u16")]
struct Days(u16);

/// A number of days that no token lives.
#[derive(Debug, thiserror::Error)]
#[error("{0} is no number of days here; give 1 to {MAX_DAYS}, or null for ever")]
struct DaysError(u16);

impl TryFrom<u16> for Days {
    type Error = DaysError;

    fn try_from(days: u16) -> Result<Self, DaysError> {
        if (1..=MAX_DAYS).contains(&days) { Ok(Self(days)) } else { Err(DaysError(days)) }
    }
}

const fn default_days() -> Option<Days> {
    Some(Days(DEFAULT_DAYS))
}

/// A token that was made.
#[derive(Serialize, ToSchema)]
pub(super) struct MadeToken {
    /// The token itself. It is shown here and never again.
    #[schema(example = "mst_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V")]
    token: String,
    /// What lists show of it.
    item: ApiToken,
}

/// The own API tokens
#[utoipa::path(
    get, path = "/api/account/tokens", operation_id = "list_tokens", tag = "account",
    params(ListQuery),
    responses((status = 200, description = "API tokens", body = Page<ApiToken>), Refusal)
)]
pub(super) async fn list(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    Query(query): Query<ListQuery>,
) -> Result<Json<Page<ApiToken>>, Error> {
    let ask = page_ask(query.limit, query.cursor.as_ref())?;
    Ok(Json(state.accounts.tokens(caller.user.id, ask).await?.into()))
}

/// Make an API token
#[utoipa::path(
    post, path = "/api/account/tokens", operation_id = "create_token", tag = "account",
    request_body = NewToken,
    responses((status = 201, description = "The token, shown once", body = MadeToken), Refusal)
)]
pub(super) async fn create(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    CameFrom(source): CameFrom,
    Json(NewToken { name, scope, expires_in_days }): Json<NewToken>,
) -> Result<(StatusCode, Json<MadeToken>), Error> {
    let lives = expires_in_days.map(|Days(days)| DAY * u32::from(days));
    let ask = TokenAsk { name, scope, lives };
    let (token, item) = state.accounts.create_token(&caller, ask, source).await?;
    Ok((StatusCode::CREATED, Json(MadeToken { token: token.reveal(), item })))
}

/// Revoke one of the own API tokens
#[utoipa::path(
    delete, path = "/api/account/tokens/{id}", operation_id = "revoke_token", tag = "account",
    params(("id" = String, Path, description = "The token's id")),
    responses((status = 204, description = "It is revoked"), Refusal)
)]
pub(super) async fn revoke(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    CameFrom(source): CameFrom,
    Path(id): Path<Id>,
) -> Result<StatusCode, Error> {
    state.accounts.revoke_token(&caller, id, source).await?;
    Ok(StatusCode::NO_CONTENT)
}
