//! Signing in and out, and who is signed in.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use mainstay_accounts::{Attempt, Caller, Identity, Means, SESSION_TIME, Token};
use mainstay_base::{Id, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Refusal;
use crate::error::Error;
use crate::extract::{CameFrom, Json, JsonOrForm, Media, OldSession, SecretText, SignedIn};
use crate::next;
use crate::router::{SharedState, State as Shared};

/// Who signs in.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Login {
    /// The e-mail address.
    #[schema(example = "ada@example.com")]
    email: String,
    /// The password.
    #[schema(value_type = String, format = Password)]
    password: SecretText,
    /// The page to go to afterwards: a path of this site. Anything else is ignored.
    #[schema(example = "/account")]
    next: Option<String>,
}

/// Whoever has just signed in.
#[derive(Serialize, ToSchema)]
pub(super) struct LoggedIn {
    user: Identity,
    /// The page to go to, if the request named one of this site.
    #[schema(required, example = "/account")]
    next: Option<String>,
}

/// Whoever an account was just made for.
#[derive(Serialize, ToSchema)]
pub(super) struct UserAnswer {
    pub(super) user: Identity,
}

/// Who is calling.
#[derive(Serialize, ToSchema)]
pub(super) struct Me {
    user: Identity,
    /// The session; `null` with an API token.
    #[schema(required)]
    session: Option<MySession>,
}

/// The session of whoever is calling.
#[derive(Serialize, ToSchema)]
pub(super) struct MySession {
    /// The id.
    #[schema(value_type = String)]
    id: Id,
    /// When it ends.
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
}

/// Sign in
///
/// Sets the cookie `session`. A form is answered with a redirect: to the wanted page, or back to
/// `/login?error=CODE`.
#[utoipa::path(
    post, path = "/api/auth/login", operation_id = "login", tag = "auth",
    request_body(content((Login = "application/json"), (Login = "application/x-www-form-urlencoded"))),
    responses(
        (status = 200, description = "Signed in", body = LoggedIn),
        (status = 303, description = "The answer to a form"),
        Refusal
    )
)]
pub(super) async fn login(
    State(state): State<SharedState>,
    CameFrom(source): CameFrom,
    OldSession(old): OldSession,
    sent: JsonOrForm<Login>,
) -> Result<Response, Error> {
    let Login { email, password, next } = sent.value;
    let next = next.as_deref().and_then(next::local);
    let attempt =
        Attempt { email: &email, password: password.expose(), replaces: old.as_deref(), source };
    let tried = state.accounts.sign_in(attempt).await.map_err(Error::from);
    let signed_in = match (tried, sent.media) {
        (Err(error), Media::Form) => return see_other(&failure_page(&error, next)),
        (tried, _) => tried?,
    };
    let answer = match sent.media {
        Media::Form => see_other(&next::location(next.unwrap_or("/")))?,
        Media::Json => {
            let next = next.map(str::to_owned);
            Json(LoggedIn { user: signed_in.caller.user, next }).into_response()
        }
    };
    with_session(&state, &signed_in.token, answer)
}

/// Sign out
///
/// Ends the session and has the browser forget the cookie. Works without a session too. A form is
/// answered with a redirect to `/login`.
#[utoipa::path(
    post, path = "/api/auth/logout", operation_id = "logout", tag = "auth",
    responses(
        (status = 204, description = "Signed out"),
        (status = 303, description = "The answer to a form"),
        Refusal
    )
)]
pub(super) async fn logout(
    State(state): State<SharedState>,
    CameFrom(source): CameFrom,
    headers: HeaderMap,
) -> Result<Response, Error> {
    for session in state.site.cookie.every(&headers) {
        state.accounts.sign_out(session, source.clone()).await?;
    }
    let mut answer = match Media::of(&headers) {
        Some(Media::Form) => see_other("/login")?,
        _ => StatusCode::NO_CONTENT.into_response(),
    };
    answer.headers_mut().insert(header::SET_COOKIE, state.site.cookie.forget(state.site.https)?);
    Ok(answer)
}

/// Who am I?
#[utoipa::path(
    get, path = "/api/auth/me", operation_id = "get_me", tag = "auth",
    responses((status = 200, description = "Who is calling", body = Me), Refusal)
)]
pub(super) async fn me(SignedIn(Caller { user, means }): SignedIn) -> Json<Me> {
    let session = match means {
        Means::Session { id, expires_at } => Some(MySession { id, expires_at }),
        Means::Token { .. } => None,
    };
    Json(Me { user, session })
}

/// The answer with the cookie of a new session.
pub(super) fn with_session(
    state: &Shared,
    token: &Token,
    mut answer: Response,
) -> Result<Response, Error> {
    let cookie = state.site.cookie.keep(&token.reveal(), SESSION_TIME, state.site.https)?;
    answer.headers_mut().insert(header::SET_COOKIE, cookie);
    Ok(answer)
}

fn failure_page(error: &Error, next: Option<&str>) -> String {
    let code = error.code().name();
    match next {
        Some(next) => format!("/login?error={code}&next={}", next::parameter(next)),
        None => format!("/login?error={code}"),
    }
}

fn see_other(location: &str) -> Result<Response, Error> {
    let location = HeaderValue::try_from(location).map_err(Error::internal)?;
    Ok((StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response())
}
