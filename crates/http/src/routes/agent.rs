//! The routes of `mainstay agent`: `/health`, `/nets/{id}` and what a net found. They have a door of
//! their own, and nothing of the site.

use std::str::FromStr;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, put};
use mainstay_base::{Id, Secret};
use mainstay_fleet::agent::program::LoadError;
use mainstay_fleet::agent::{Agent, NotDone};
use serde::Deserialize;
use serde_json::{Value, json};
use subtle::ConstantTimeEq as _;

/// The longest definition of a net, with what is around it.
const MAX_BODY: usize = 1024 * 1024;

/// What the routes share.
#[derive(Clone)]
struct Door {
    agent: Agent,
    token: Arc<Secret<String>>,
}

/// A net as it is sent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Load {
    generation: i64,
    definition: Value,
}

#[derive(Deserialize)]
struct Of {
    generation: i64,
}

#[derive(Deserialize)]
struct After {
    #[serde(default)]
    after: u64,
}

/// All routes, for whoever has the token.
pub(crate) fn routes(agent: Agent, token: Secret<String>) -> Router {
    let door = Door { agent, token: Arc::new(token) };
    Router::new()
        .route("/health", get(health))
        .route("/nets/{id}", put(load).delete(unload))
        .route("/nets/{id}/results", get(results))
        .fallback(nothing)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(middleware::from_fn_with_state(door.clone(), admit))
        .with_state(door)
}

async fn admit(State(door): State<Door>, request: Request, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION);
    let given = given.and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
    let expected = door.token.expose().as_bytes();
    if !given.is_some_and(|given| bool::from(given.ct_eq(expected))) {
        door.agent.refused();
        let what = "The token is missing or wrong";
        return no(StatusCode::UNAUTHORIZED, "unauthorized", what);
    }
    door.agent.called();
    next.run(request).await
}

async fn health(State(door): State<Door>) -> Response {
    axum::Json(door.agent.health()).into_response()
}

async fn load(State(door): State<Door>, Path(id): Path<String>, body: Bytes) -> Response {
    let Ok(id) = Id::from_str(&id) else { return no_id() };
    let sent: Load = match serde_json::from_slice(&body) {
        Ok(sent) => sent,
        Err(error) => {
            return no(StatusCode::BAD_REQUEST, "invalid_request", &error.to_string());
        }
    };
    match door.agent.load(id, sent.generation, &sent.definition) {
        Ok(()) => axum::Json(json!({ "id": id, "generation": sent.generation })).into_response(),
        Err(LoadError::NotDone(why)) => {
            tracing::warn!(event = "net_refused", net_id = %id, reason = %why, "a net is not loaded");
            not_done(why)
        }
        Err(LoadError::BadNet(why)) => {
            tracing::warn!(event = "net_refused", net_id = %id, reason = %why, "a net is not loaded");
            no(StatusCode::UNPROCESSABLE_ENTITY, "invalid_net", &why.to_string())
        }
    }
}

async fn unload(
    State(door): State<Door>,
    Path(id): Path<String>,
    Query(of): Query<Of>,
) -> Response {
    let Ok(id) = Id::from_str(&id) else { return no_id() };
    match door.agent.unload(id, of.generation) {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(why) => not_done(why),
    }
}

async fn results(
    State(door): State<Door>,
    Path(id): Path<String>,
    Query(asked): Query<After>,
) -> Response {
    let Ok(id) = Id::from_str(&id) else { return no_id() };
    match door.agent.results(id, asked.after) {
        Some(found) => axum::Json(found).into_response(),
        None => no(StatusCode::NOT_FOUND, "no_such_net", "The net is not loaded"),
    }
}

async fn nothing() -> Response {
    no(StatusCode::NOT_FOUND, "not_found", "There is nothing here")
}

fn no_id() -> Response {
    no(StatusCode::BAD_REQUEST, "invalid_request", "That is no id of a net")
}

fn not_done(why: NotDone) -> Response {
    match why {
        NotDone::Stale { current } => {
            let body = json!({ "error": why.to_string(), "code": "stale", "generation": current });
            (StatusCode::CONFLICT, axum::Json(body)).into_response()
        }
        NotDone::TooMany => no(StatusCode::UNPROCESSABLE_ENTITY, "too_many_nets", &why.to_string()),
    }
}

fn no(status: StatusCode, code: &str, error: &str) -> Response {
    (status, axum::Json(json!({ "error": error, "code": code }))).into_response()
}
