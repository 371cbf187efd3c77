//! The sessions of whoever is calling.

use axum::extract::State;
use axum::http::StatusCode;
use mainstay_accounts::{Caller, Means, Part, Session};
use mainstay_base::{Id, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use super::Refusal;
use crate::error::Error;
use crate::extract::{CameFrom, Json, ListQuery, Page, Path, Query, SignedIn, page_ask};
use crate::router::SharedState;

/// A session.
#[derive(Serialize, ToSchema)]
pub(super) struct SessionItem {
    /// The id.
    #[schema(value_type = String)]
    id: Id,
    /// When it began.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// When it was used last, to the minute.
    #[schema(value_type = String, format = DateTime)]
    last_seen_at: Timestamp,
    /// When it ends.
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
    /// The address that it began from.
    #[schema(required, example = "203.0.113.9")]
    address: Option<String>,
    /// What the browser called itself.
    #[schema(required, example = "Mozilla/5.0")]
    user_agent: Option<String>,
    /// It is the one that asks.
    current: bool,
}

/// How many sessions were ended.
#[derive(Serialize, ToSchema)]
pub(super) struct Ended {
    /// How many.
    #[schema(example = 2)]
    ended: u64,
}

/// The own sessions that are alive, the last used first
#[utoipa::path(
    get, path = "/api/account/sessions", operation_id = "list_sessions", tag = "account",
    params(ListQuery),
    responses((status = 200, description = "Sessions", body = Page<SessionItem>), Refusal)
)]
pub(super) async fn list(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    Query(query): Query<ListQuery>,
) -> Result<Json<Page<SessionItem>>, Error> {
    let ask = page_ask(query.limit, query.cursor.as_ref())?;
    let all = state.accounts.sessions(caller.user.id).await?;
    // A user has at most fifty, so the page is cut here.
    let start = ask.after.map_or(0, |after| {
        all.iter().position(|session| session.id == after).map_or(all.len(), |place| place + 1)
    });
    let rest = all.len().saturating_sub(start);
    let items: Vec<_> = all.into_iter().skip(start).take(query.limit.items()).collect();
    let next = items.last().map(|last| last.id).filter(|_| items.len() < rest);
    let items = items.into_iter().map(|session| item(session, &caller)).collect();
    Ok(Json(Part { items, next }.into()))
}

/// End one of the own sessions
#[utoipa::path(
    delete, path = "/api/account/sessions/{id}", operation_id = "end_session", tag = "account",
    params(("id" = String, Path, description = "The session")),
    responses((status = 204, description = "It is ended"), Refusal)
)]
pub(super) async fn end(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    CameFrom(source): CameFrom,
    Path(id): Path<Id>,
) -> Result<StatusCode, Error> {
    state.accounts.end_session(&caller, id, source).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// End every own session but the one that asks
#[utoipa::path(
    delete, path = "/api/account/sessions", operation_id = "end_other_sessions", tag = "account",
    responses((status = 200, description = "How many were ended", body = Ended), Refusal)
)]
pub(super) async fn end_others(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    CameFrom(source): CameFrom,
) -> Result<Json<Ended>, Error> {
    Ok(Json(Ended { ended: state.accounts.end_other_sessions(&caller, source).await? }))
}

fn item(session: Session, caller: &Caller) -> SessionItem {
    let Session { id, created_at, last_seen_at, expires_at, address, user_agent } = session;
    let current = matches!(caller.means, Means::Session { id: own, .. } if own == id);
    SessionItem { id, created_at, last_seen_at, expires_at, address, user_agent, current }
}
