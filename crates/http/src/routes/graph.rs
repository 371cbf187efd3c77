//! The graph: what leans on what, what is broken because of what, and whom it hurts.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use mainstay_accounts::{Caller, Role, Source};
use mainstay_base::{Id, Timestamp};
use mainstay_events::Outbox;
use mainstay_monitor::aliases::CanonicalName;
use mainstay_monitor::graph::suggestions::GraphSuggestion;
use mainstay_monitor::graph::view::{GraphImpact, GraphView};
use mainstay_monitor::views::{NodeDetail, NodeThen};
use mainstay_store::Tx;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::Refusal;
use super::kept::answer;
use crate::code::Code;
use crate::error::Error;
use crate::error_of_accounts::sentence;
use crate::extract::{CameFrom, Json, Page, Query, SignedIn};
use crate::router::SharedState;

/// How far around a service is shown, unless told otherwise.
const DEPTH: usize = 2;
/// How far around a service can be shown.
const MAX_DEPTH: usize = 20;

/// Which part of the graph is asked for.
#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct GraphQuery {
    /// Only what stands near this service: what it leans on and who leans on it.
    #[param(value_type = Option<String>)]
    service: Option<Id>,
    /// How many edges far, 0 to 20; 2 unless given. Only with `service`.
    depth: Option<usize>,
    /// A moment of the past: the graph as it was then.
    #[param(value_type = Option<String>, format = DateTime, example = "2026-11-15T21:00:00.000Z")]
    at: Option<Timestamp>,
}

/// Which node is asked for.
#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct NodeQuery {
    /// The id of a service, or `external:` with the key of a thing, as the graph names it.
    #[param(example = "external:orders database")]
    node: String,
}

/// Which node is asked for, at which moment.
#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct NodeThenQuery {
    /// The id of a service, or `external:` with the key of a thing, as the graph of that moment names it.
    #[param(example = "external:orders database")]
    node: String,
    /// The moment, which must have passed.
    #[param(value_type = String, format = DateTime, example = "2026-11-15T21:20:00.000Z")]
    at: Timestamp,
}

/// A suggestion, as it was listed.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SuggestionChoice {
    /// The key of the thing.
    #[schema(example = "payments-api")]
    key: String,
    /// The service.
    #[schema(value_type = String)]
    service_id: Id,
}

/// What a confirmed suggestion has done.
#[derive(Serialize, ToSchema)]
pub(super) struct Confirmed {
    /// How many dependencies were linked to the service.
    linked: usize,
}

/// What leans on what, and because of what it is broken
///
/// Edges and root causes name nodes by their place in the list. The answer has a tag: whoever sends it
/// back in `If-None-Match` gets 304 until something changes. With `at` it is the graph of that moment,
/// with its root causes; before there were records it is empty, and `records_since` tells since when
/// there are.
#[utoipa::path(
    get, path = "/api/graph", operation_id = "get_graph", tag = "graph",
    params(GraphQuery),
    responses(
        (status = 200, description = "The graph", body = GraphView),
        (status = 304, description = "It is the one that the caller has"),
        Refusal
    )
)]
pub(super) async fn graph(
    State(state): State<SharedState>,
    Query(query): Query<GraphQuery>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    let monitor = &state.monitor;
    let near = near(&query)?;
    if let Some(at) = query.at {
        let moment = monitor.past.at(at).await?;
        return Ok(answer(&monitor.graphs.then(moment, near).await?, &headers));
    }
    Ok(match near {
        None => answer(&*monitor.graphs.whole().await?, &headers),
        Some((service, depth)) => answer(&monitor.graphs.around(service, depth).await?, &headers),
    })
}

/// Whom a node hurts when it fails
///
/// Every service that leans on it, however far: its blast radius if it fails now, and "what if" if it
/// does not.
#[utoipa::path(
    get, path = "/api/graph/impact", operation_id = "get_graph_impact", tag = "graph",
    params(NodeQuery),
    responses(
        (status = 200, description = "Whom it hurts", body = GraphImpact),
        (status = 304, description = "It is the answer that the caller has"),
        Refusal
    )
)]
pub(super) async fn impact(
    State(state): State<SharedState>,
    Query(query): Query<NodeQuery>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    Ok(answer(&state.monitor.graphs.impact(&query.node).await?, &headers))
}

/// What is known of a node
///
/// How it is, because of what, whom it hurts, and what everybody says of it who reports it: for a thing that
/// is no service there is no other place that tells all of that.
#[utoipa::path(
    get, path = "/api/graph/node", operation_id = "get_graph_node", tag = "graph",
    params(NodeQuery),
    responses(
        (status = 200, description = "What is known of it", body = NodeDetail),
        (status = 304, description = "It is the answer that the caller has"),
        Refusal
    )
)]
pub(super) async fn node(
    State(state): State<SharedState>,
    Query(query): Query<NodeQuery>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    Ok(answer(&state.monitor.views.node(&query.node).await?, &headers))
}

/// What was known of a node at a moment
///
/// How it was, because of what, whom it hurt, and what everybody said of it who reported it, with the
/// errors of then. Impact, contact, description and type are not recorded: they are as they are now.
#[utoipa::path(
    get, path = "/api/graph/node/then", operation_id = "get_graph_node_then", tag = "graph",
    params(NodeThenQuery),
    responses(
        (status = 200, description = "What was known of it", body = NodeThen),
        (status = 304, description = "It is the answer that the caller has"),
        Refusal
    )
)]
pub(super) async fn node_then(
    State(state): State<SharedState>,
    Query(query): Query<NodeThenQuery>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    let moment = state.monitor.past.at(query.at).await?;
    Ok(answer(&state.monitor.views.node_then(moment, &query.node).await?, &headers))
}

/// Which external thing may be a service, the likeliest first
///
/// Nothing is linked until somebody confirms it.
#[utoipa::path(
    get, path = "/api/graph/suggestions", operation_id = "list_graph_suggestions", tag = "graph",
    responses((status = 200, description = "Suggestions", body = Page<GraphSuggestion>), Refusal)
)]
pub(super) async fn suggestions(
    State(state): State<SharedState>,
) -> Result<Json<Page<GraphSuggestion>>, Error> {
    let found = state.monitor.graphs.suggestions().await?;
    let items = found.iter().map(GraphSuggestion::from).collect();
    Ok(Json(Page { items, next_cursor: None }))
}

/// Say that an external thing is a service
///
/// Every dependency that goes by its name is linked to the service, unless it is linked already.
#[utoipa::path(
    post, path = "/api/graph/suggestions/confirm", operation_id = "confirm_graph_suggestion",
    tag = "graph",
    request_body = SuggestionChoice,
    responses((status = 200, description = "What was linked", body = Confirmed), Refusal)
)]
pub(super) async fn confirm(
    State(state): State<SharedState>,
    SignedIn(editor): SignedIn,
    CameFrom(source): CameFrom,
    Json(choice): Json<SuggestionChoice>,
) -> Result<Json<Confirmed>, Error> {
    let key = key(&choice)?;
    let (aliases, service) = (&state.monitor.aliases, choice.service_id);
    let action = ("graph.confirm", service);
    let linked = decide(&state, &editor, source, action, async |tx, out| {
        let linked = aliases.link_named(tx, out, key.as_str(), service).await?;
        let detail =
            json!({"key": linked.key, "service": linked.service_name, "linked": linked.count});
        Ok((linked.count, detail))
    });
    Ok(Json(Confirmed { linked: linked.await? }))
}

/// Say that an external thing is not a service
///
/// The pair is not suggested again.
#[utoipa::path(
    post, path = "/api/graph/suggestions/dismiss", operation_id = "dismiss_graph_suggestion",
    tag = "graph",
    request_body = SuggestionChoice,
    responses((status = 204, description = "It is not suggested any more"), Refusal)
)]
pub(super) async fn dismiss(
    State(state): State<SharedState>,
    SignedIn(editor): SignedIn,
    CameFrom(source): CameFrom,
    Json(choice): Json<SuggestionChoice>,
) -> Result<StatusCode, Error> {
    let key = key(&choice)?;
    let (graphs, service) = (&state.monitor.graphs, choice.service_id);
    decide(&state, &editor, source, ("graph.dismiss", service), async |tx, _| {
        let name = graphs.dismiss(tx, key.as_str(), service).await?;
        Ok(((), json!({"key": key.as_str(), "service": name})))
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Which service's surroundings are asked for, and how far.
fn near(query: &GraphQuery) -> Result<Option<(Id, usize)>, Error> {
    let detail = match (query.service, query.depth) {
        (None, None) => return Ok(None),
        (None, Some(_)) => {
            "`depth` says how far around a service; give `service` too, or neither.".to_owned()
        }
        (Some(_), Some(depth)) if depth > MAX_DEPTH => {
            format!("{depth} is no depth; give 0 to {MAX_DEPTH}.")
        }
        (Some(service), depth) => return Ok(Some((service, depth.unwrap_or(DEPTH)))),
    };
    Err(Error::new(Code::InvalidQuery, detail))
}

/// Writes a decision about a service with its line in the audit log.
async fn decide<T>(
    state: &SharedState,
    editor: &Caller,
    source: Source,
    (action, service): (&'static str, Id),
    work: impl AsyncFnOnce(&mut Tx, &mut Outbox) -> Result<(T, Value), Error>,
) -> Result<T, Error> {
    let (accounts, events) = (&state.accounts, &state.live.events);
    events
        .write(async |tx, out| {
            accounts.confirm(tx, editor, Role::Editor).await?;
            let (done, detail) = work(tx, out).await?;
            let target = ("service", Some(service));
            accounts.note(tx, editor, source, action, target, detail).await?;
            Ok(done)
        })
        .await
}

fn key(choice: &SuggestionChoice) -> Result<CanonicalName, Error> {
    CanonicalName::parse(&choice.key).map_err(|error| {
        let told = error.to_string().replace("canonical_name", "key");
        Error::new(Code::InvalidCanonicalName, sentence(&told)).with("field", "key")
    })
}
