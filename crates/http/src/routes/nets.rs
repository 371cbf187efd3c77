//! The own nets: what each runs, on which worker, and whether it does.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use mainstay_accounts::{Caller, Source};
use mainstay_base::{Id, Timestamp};
use mainstay_fleet::{
    DefinedNet, Definition, FleetError, LoadState, NetName, NetOperation, NetPatch, NewNet, Place,
    Waited,
};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::Refusal;
use super::services::not_null;
use super::workers::{EndedOperation, FleetOperation, changed};
use crate::code::Code;
use crate::error::Error;
use crate::error_of_fleet::undone_net;
use crate::extract::{CameFrom, Cursor, IfMatch, Json, ListQuery, Page, Path, Query, SignedIn};
use crate::router::SharedState;

/// A bundle of checks and journeys that is loaded on a worker.
#[derive(Serialize, ToSchema)]
pub(super) struct Net {
    /// The id.
    #[schema(value_type = String)]
    id: Id,
    /// What its owner calls it.
    #[schema(example = "checkout")]
    name: String,
    /// What it runs, as it was written: whoever reads the net reads it all, so it is no place for secrets.
    #[schema(value_type = Object)]
    definition: Value,
    /// Which worker it is for.
    #[schema(value_type = Option<String>, required)]
    worker_id: Option<Id>,
    /// Whether it is loaded there.
    load_state: LoadState,
    /// Since when.
    #[schema(value_type = String, format = DateTime)]
    load_state_since: Timestamp,
    /// Why, where it failed.
    #[schema(required)]
    reason: Option<String>,
    /// Counts its states; send it as `If-Match` to act only on what you have read.
    generation: i64,
    /// What is being done to it.
    #[schema(required)]
    operation: Option<FleetOperation>,
    /// How the last thing that was done to it ended.
    #[schema(required)]
    last_operation: Option<EndedOperation>,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

/// A net that is wanted.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewNet)]
pub(super) struct WantedNet {
    /// What to call it: 1 to 100 characters, and no other net of yours has it.
    #[schema(example = "checkout")]
    name: String,
    /// What it runs.
    #[schema(value_type = Object)]
    definition: Value,
    /// Which worker it is for.
    #[schema(value_type = Option<String>)]
    worker_id: Option<Id>,
}

/// What to change of a net; what is left out stays.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NetChange {
    /// What to call it.
    #[serde(default, deserialize_with = "not_null")]
    #[schema(nullable = false)]
    name: Option<String>,
    /// What it runs. Another definition unloads it.
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = Option<Object>, nullable = false)]
    definition: Option<Value>,
    /// Which worker it is for; `null` is no one. Another worker unloads it.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>)]
    worker_id: Option<Option<Id>>,
}

/// The own nets, newest first
///
/// At most 30 times a minute: follow the events instead of asking again and again.
#[utoipa::path(
    get, path = "/api/nets", operation_id = "list_nets", tag = "fleet",
    params(ListQuery),
    responses((status = 200, description = "A page of nets", body = Page<Net>), Refusal)
)]
pub(super) async fn list(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    Query(query): Query<ListQuery>,
) -> Result<Json<Page<Net>>, Error> {
    let after = query.cursor.as_ref().map(Cursor::as_str).map(str::parse::<Place>).transpose()?;
    let limit = u32::try_from(query.limit.items()).unwrap_or(u32::MAX);
    let part = state.fleet.list_nets(caller.user.id, after, limit).await?;
    let items = part.items.into_iter().map(Net::from).collect();
    Ok(Json(Page { items, next_cursor: part.next.map(|place| place.to_string()) }))
}

/// Make a net
#[utoipa::path(
    post, path = "/api/nets", operation_id = "create_net", tag = "fleet",
    request_body = WantedNet,
    responses((status = 201, description = "It is unloaded", body = Net), Refusal)
)]
pub(super) async fn create(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    CameFrom(source): CameFrom,
    Json(wanted): Json<WantedNet>,
) -> Result<(StatusCode, Json<Net>), Error> {
    let WantedNet { name, definition, worker_id } = wanted;
    let definition = Definition::new(definition).map_err(FleetError::from)?;
    let new = NewNet { name: named(&name)?, definition, worker_id };
    let detail = json!({"name": new.name});
    let made = changed(&state, &caller, source, ("net.create", None, detail), async |tx, out| {
        state.fleet.create_net(tx, out, caller.user.id, new).await
    });
    Ok((StatusCode::CREATED, Json(made.await?.into())))
}

/// One of the own nets
#[utoipa::path(
    get, path = "/api/nets/{id}", operation_id = "get_net", tag = "fleet",
    params(("id" = String, Path, description = "The net")),
    responses((status = 200, description = "Where it stands", body = Net), Refusal)
)]
pub(super) async fn find(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    Path(id): Path<Id>,
) -> Result<Json<Net>, Error> {
    Ok(Json(state.fleet.find_net(caller.user.id, id).await?.into()))
}

/// Change a net
#[utoipa::path(
    patch, path = "/api/nets/{id}", operation_id = "change_net", tag = "fleet",
    params(
        ("id" = String, Path, description = "The net"),
        ("If-Match" = Option<i64>, Header, description = "Only if it is of this generation"),
    ),
    request_body = NetChange,
    responses((status = 200, description = "As it is now", body = Net), Refusal)
)]
pub(super) async fn change(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    CameFrom(source): CameFrom,
    Path(id): Path<Id>,
    IfMatch(expected): IfMatch,
    Json(change): Json<NetChange>,
) -> Result<Json<Net>, Error> {
    let NetChange { name, definition, worker_id } = change;
    let name = name.as_deref().map(named).transpose()?;
    let definition = definition.map(Definition::new).transpose().map_err(FleetError::from)?;
    let patch = NetPatch { name, definition, worker_id };
    let deed = ("net.change", Some(id), json!({}));
    let saved = changed(&state, &caller, source, deed, async |tx, out| {
        state.fleet.change_net(tx, out, (caller.user.id, id), patch, expected).await
    });
    Ok(Json(saved.await?.into()))
}

/// Delete a net
#[utoipa::path(
    delete, path = "/api/nets/{id}", operation_id = "delete_net", tag = "fleet",
    params(
        ("id" = String, Path, description = "The net"),
        ("If-Match" = Option<i64>, Header, description = "Only if it is of this generation"),
    ),
    responses((status = 204, description = "It is gone"), Refusal)
)]
pub(super) async fn remove(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    CameFrom(source): CameFrom,
    Path(id): Path<Id>,
    IfMatch(expected): IfMatch,
) -> Result<StatusCode, Error> {
    let deed = ("net.delete", Some(id), json!({}));
    let removed = changed(&state, &caller, source, deed, async |tx, out| {
        state.fleet.remove_net(tx, out, (caller.user.id, id), expected).await
    });
    removed.await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Load a net on its worker
///
/// 502 `worker_unavailable` when the worker does not answer: then it and its other nets are told of too.
#[utoipa::path(
    post, path = "/api/nets/{id}/load", operation_id = "load_net", tag = "fleet",
    params(
        ("id" = String, Path, description = "The net"),
        ("If-Match" = Option<i64>, Header, description = "Only if it is of this generation"),
    ),
    responses(
        (status = 200, description = "It is loaded", body = Net),
        (status = 202, description = "It goes on", body = Net),
        Refusal
    )
)]
pub(super) async fn load(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    CameFrom(source): CameFrom,
    Path(id): Path<Id>,
    IfMatch(expected): IfMatch,
) -> Result<Response, Error> {
    let asked = Asked { kind: NetOperation::Load, action: "net.load", id, expected };
    operate(state, caller, source, asked).await
}

/// Unload a net from its worker
#[utoipa::path(
    post, path = "/api/nets/{id}/unload", operation_id = "unload_net", tag = "fleet",
    params(
        ("id" = String, Path, description = "The net"),
        ("If-Match" = Option<i64>, Header, description = "Only if it is of this generation"),
    ),
    responses(
        (status = 200, description = "It is unloaded", body = Net),
        (status = 202, description = "It goes on", body = Net),
        Refusal
    )
)]
pub(super) async fn unload(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    CameFrom(source): CameFrom,
    Path(id): Path<Id>,
    IfMatch(expected): IfMatch,
) -> Result<Response, Error> {
    let asked = Asked { kind: NetOperation::Unload, action: "net.unload", id, expected };
    operate(state, caller, source, asked).await
}

/// What is to be done.
struct Asked {
    kind: NetOperation,
    action: &'static str,
    id: Id,
    expected: Option<i64>,
}

/// What it is given is its own: what closures borrow of an argument is not `Send` for every lifetime.
async fn operate(
    state: SharedState,
    caller: Caller,
    source: Source,
    asked: Asked,
) -> Result<Response, Error> {
    let Asked { kind, action, id, expected } = asked;
    let (fleet, user) = (&state.fleet, caller.user.id);
    let begun = changed(&state, &caller, source, (action, Some(id), json!({})), async |tx, out| {
        fleet.begin_net(tx, out, (user, id), kind, expected).await
    });
    let operation = begun.await?.id;
    match fleet.wait_for_net(user, id, operation).await? {
        Waited::Done(net) => Ok(Json(Net::from(net)).into_response()),
        Waited::Removed => Err(FleetError::NoSuchNet.into()),
        Waited::Underway(net) => Ok((StatusCode::ACCEPTED, Json(Net::from(net))).into_response()),
        Waited::Failed(net, failure) => {
            let crew = match net.net.worker_id {
                Some(worker) => fleet.find_worker(user, worker).await.ok(),
                None => None,
            };
            Err(undone_net(&net.net, crew.as_ref(), &failure))
        }
    }
}

fn named(name: &str) -> Result<NetName, Error> {
    NetName::parse(name)
        .map_err(|error| Error::new(Code::InvalidName, format!("The name is {error}.")))
}

/// What stands there, `null` included.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<Id>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

impl From<DefinedNet> for Net {
    fn from(defined: DefinedNet) -> Self {
        let DefinedNet { net, definition } = defined;
        let operation = net.operation.as_ref();
        Self {
            id: net.id,
            operation: operation.map(|one| FleetOperation::of(one, one.kind.name())),
            last_operation: net.ended.map(|one| {
                let kind = one.kind.name();
                EndedOperation::of(one, kind)
            }),
            definition: definition.into_value(),
            name: net.name,
            worker_id: net.worker_id,
            load_state: net.load_state,
            load_state_since: net.load_state_since,
            reason: net.reason,
            generation: net.generation,
            created_at: net.created_at,
        }
    }
}
