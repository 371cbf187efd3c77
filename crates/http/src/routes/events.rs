//! What happens, the moment it happens.

use std::convert::Infallible;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Version, header};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use mainstay_accounts::{Caller, Means};
use mainstay_events::{Delivery, Entered, Opening, Owner};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::Refusal;
use crate::entry::Streaming;
use crate::error::Error;
use crate::extract::{Json, Limit, Query, SignedIn};
use crate::router::SharedState;
use crate::sse::{Follower, Head, StreamAsk, StreamQuery};

/// Events as they happen: the organisation's and the caller's own
///
/// Each event is a block with `id` and one line of `data`, a JSON object with `type`, `seq`, `stream`,
/// `at` and fields of its own. `event: snapshot` begins a stream without a position, `event: reset`
/// says that the position is too old and the state has to be fetched anew, `event: superseded` and
/// `event: auth_expired` are last words.
#[utoipa::path(
    get, path = "/api/events", operation_id = "follow_events", tag = "events",
    params(
        StreamQuery,
        ("Last-Event-ID" = Option<String>, Header, description = "The id of the last event that was seen"),
    ),
    responses(
        (status = 200, description = "Events, without an end", body = String, content_type = "text/event-stream"),
        (status = 204, description = "This connection was superseded by a newer one: do not come back"),
        Refusal
    )
)]
pub(super) async fn follow(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    method: Method,
    version: Version,
    headers: HeaderMap,
    Query(query): Query<StreamQuery>,
) -> Result<Response, Error> {
    let ask = query.check(caller.user.id, &headers)?;
    // Whoever only looks at the head must not take anybody's place.
    if method == Method::HEAD {
        return Ok((STREAM_HEADERS, Body::empty()).into_response());
    }
    begin(&state, &caller, version, ask).await
}

const STREAM_HEADERS: [(header::HeaderName, HeaderValue); 2] = [
    (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
    // nginx would hold the events back until its buffer is full.
    (header::HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
];

async fn begin(
    state: &SharedState,
    caller: &Caller,
    version: Version,
    ask: StreamAsk,
) -> Result<Response, Error> {
    let live = &state.live;
    let (owner, most) = match caller.means {
        Means::Session { .. } => (Owner::User(caller.user.id), live.max_per_user),
        Means::Token { id, .. } => (Owner::Token(id), live.max_per_token),
    };
    // From here on it is told when the proof ends, also while the place is taken.
    let proof = live.proofs.watch(&caller.means);
    let (opening, feed) = live.events.open(&ask.events).await?;
    let membership = match live.connections.enter(owner, ask.connection, most).await? {
        Entered::Live(membership) => membership,
        Entered::Superseded => return Ok(StatusCode::NO_CONTENT.into_response()),
    };
    let follower = Follower::new(Head {
        opening,
        feed,
        ask: ask.events,
        events: live.events.clone(),
        membership,
        proof,
        stopping: state.stopping.clone(),
        stalls: live.proofs.stalls().clone(),
        stall_time: state.limits.stall_time,
        rng: live.rng.clone(),
        keepalive: ask.keepalive.unwrap_or(state.limits.keepalive),
    });
    // Its connection puts the stream in this one's place; until then nobody may think that it is empty.
    let body = Body::from_stream(futures_util::stream::pending::<Result<Bytes, Infallible>>());
    let mut response = (STREAM_HEADERS, body).into_response();
    response.extensions_mut().insert(Streaming::new(follower));
    // Whoever comes back does so on a connection of its own, and this one frees its place at once.
    if version < Version::HTTP_2 {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(response)
}

/// Events that are kept.
#[derive(Serialize, ToSchema)]
pub(super) struct History {
    /// The events, oldest first.
    #[schema(value_type = Vec<Object>)]
    items: Vec<Value>,
    /// Where the next page begins; `null` when there is nothing more by now.
    #[schema(required)]
    next_cursor: Option<String>,
    /// How far this page goes: what a live stream can go on from.
    position: String,
    /// Why the given position can't be gone on from, if so. The state has to be fetched anew.
    #[schema(required)]
    reset: Option<String>,
}

/// Which events are asked for, and how many.
#[derive(Debug, serde::Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct HistoryQuery {
    /// Only these types, separated by commas.
    types: Option<String>,
    /// Only these streams, separated by commas: `org`, `user`.
    streams: Option<String>,
    /// The id of the last event that was seen; without it, the oldest that are kept come first.
    after: Option<String>,
    /// How many items at most.
    #[serde(default)]
    #[param(value_type = u16, required = false, minimum = 1, maximum = 200, default = 50)]
    limit: Limit,
}

/// Events that are kept, after a position
#[utoipa::path(
    get, path = "/api/events/history", operation_id = "list_events", tag = "events",
    params(HistoryQuery),
    responses((status = 200, description = "A page of events", body = History), Refusal)
)]
pub(super) async fn history(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    Query(query): Query<HistoryQuery>,
) -> Result<Json<History>, Error> {
    let HistoryQuery { types, streams, after, limit } = query;
    let ask =
        StreamQuery::of_page(types, streams, after).check(caller.user.id, &HeaderMap::new())?;
    let limit = u32::try_from(limit.items()).unwrap_or(u32::MAX);
    let page = state.live.events.history(&ask.events, limit).await?;
    Ok(Json(History::from(page)))
}

impl From<mainstay_events::History> for History {
    fn from(page: mainstay_events::History) -> Self {
        let position = page.position.to_string();
        let reset = match page.opening {
            Opening::Reset { reason } => Some(reason.to_string()),
            Opening::Resumed | Opening::Snapshot => None,
        };
        Self {
            items: page.events.iter().filter_map(item).collect(),
            next_cursor: page.has_more.then(|| position.clone()),
            position,
            reset,
        }
    }
}

/// An event as the live stream gives it, with its id inside.
fn item(delivery: &Delivery) -> Option<Value> {
    let data = delivery.frame.strip_prefix(b"data: ")?;
    let mut item: serde_json::Map<_, _> = serde_json::from_slice(data).ok()?;
    item.insert("id".to_owned(), delivery.position.to_string().into());
    Some(Value::Object(item))
}
