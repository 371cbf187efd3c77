//! What is done to the own workers. Each call waits a while for its operation, which goes on without it.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use mainstay_accounts::{Caller, Source};
use mainstay_base::Id;
use mainstay_fleet::providers::MachineName;
use mainstay_fleet::{Waited, WorkerOperation};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::Refusal;
use super::workers::{Worker, changed};
use crate::error::Error;
use crate::error_of_fleet::undone;
use crate::extract::{CameFrom, IfMatch, Json, Path, Query, SignedIn};
use crate::router::SharedState;

/// Make the machine of a pending worker
#[utoipa::path(
    post, path = "/api/workers/{id}/provision", operation_id = "provision_worker", tag = "fleet",
    params(
        ("id" = String, Path, description = "The worker"),
        ("If-Match" = Option<i64>, Header, description = "Only if it is of this generation"),
    ),
    responses(
        (status = 200, description = "It is ready", body = Worker),
        (status = 202, description = "It goes on", body = Worker),
        Refusal
    )
)]
pub(super) async fn provision(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    CameFrom(source): CameFrom,
    Path(id): Path<Id>,
    IfMatch(expected): IfMatch,
) -> Result<Response, Error> {
    let asked =
        Asked { kind: WorkerOperation::Provision, action: "worker.provision", id, expected };
    operate(state, caller, source, asked).await
}

/// Start a stopped worker
#[utoipa::path(
    post, path = "/api/workers/{id}/start", operation_id = "start_worker", tag = "fleet",
    params(
        ("id" = String, Path, description = "The worker"),
        ("If-Match" = Option<i64>, Header, description = "Only if it is of this generation"),
    ),
    responses(
        (status = 200, description = "It is ready", body = Worker),
        (status = 202, description = "It goes on", body = Worker),
        Refusal
    )
)]
pub(super) async fn start(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    CameFrom(source): CameFrom,
    Path(id): Path<Id>,
    IfMatch(expected): IfMatch,
) -> Result<Response, Error> {
    let asked = Asked { kind: WorkerOperation::Start, action: "worker.start", id, expected };
    operate(state, caller, source, asked).await
}

/// Stop a ready worker that is persistent
#[utoipa::path(
    post, path = "/api/workers/{id}/stop", operation_id = "stop_worker", tag = "fleet",
    params(
        ("id" = String, Path, description = "The worker"),
        ("If-Match" = Option<i64>, Header, description = "Only if it is of this generation"),
    ),
    responses(
        (status = 200, description = "It is stopped, and its nets are unloaded", body = Worker),
        (status = 202, description = "It goes on", body = Worker),
        Refusal
    )
)]
pub(super) async fn stop(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    CameFrom(source): CameFrom,
    Path(id): Path<Id>,
    IfMatch(expected): IfMatch,
) -> Result<Response, Error> {
    let asked = Asked { kind: WorkerOperation::Stop, action: "worker.stop", id, expected };
    operate(state, caller, source, asked).await
}

/// End the machine of a worker for ever; the worker stays
#[utoipa::path(
    post, path = "/api/workers/{id}/destroy", operation_id = "destroy_worker", tag = "fleet",
    params(
        ("id" = String, Path, description = "The worker"),
        ("If-Match" = Option<i64>, Header, description = "Only if it is of this generation"),
    ),
    responses(
        (status = 200, description = "It is pending, and its nets are unloaded", body = Worker),
        (status = 202, description = "It goes on", body = Worker),
        Refusal
    )
)]
pub(super) async fn destroy(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    CameFrom(source): CameFrom,
    Path(id): Path<Id>,
    IfMatch(expected): IfMatch,
) -> Result<Response, Error> {
    let asked = Asked { kind: WorkerOperation::Destroy, action: "worker.destroy", id, expected };
    operate(state, caller, source, asked).await
}

/// Look whether a worker is well, now
#[utoipa::path(
    post, path = "/api/workers/{id}/health-check", operation_id = "health_check_worker", tag = "fleet",
    params(
        ("id" = String, Path, description = "The worker"),
        ("If-Match" = Option<i64>, Header, description = "Only if it is of this generation"),
    ),
    responses(
        (status = 200, description = "Where it stands after the look", body = Worker),
        (status = 202, description = "It goes on", body = Worker),
        Refusal
    )
)]
pub(super) async fn health_check(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    CameFrom(source): CameFrom,
    Path(id): Path<Id>,
    IfMatch(expected): IfMatch,
) -> Result<Response, Error> {
    let asked =
        Asked { kind: WorkerOperation::HealthCheck, action: "worker.health_check", id, expected };
    operate(state, caller, source, asked).await
}

/// Make another machine for a worker that failed
#[utoipa::path(
    post, path = "/api/workers/{id}/retry", operation_id = "retry_worker", tag = "fleet",
    params(
        ("id" = String, Path, description = "The worker"),
        ("If-Match" = Option<i64>, Header, description = "Only if it is of this generation"),
    ),
    responses(
        (status = 200, description = "It is ready", body = Worker),
        (status = 202, description = "It goes on", body = Worker),
        Refusal
    )
)]
pub(super) async fn retry(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    CameFrom(source): CameFrom,
    Path(id): Path<Id>,
    IfMatch(expected): IfMatch,
) -> Result<Response, Error> {
    let asked = Asked { kind: WorkerOperation::Retry, action: "worker.retry", id, expected };
    operate(state, caller, source, asked).await
}

/// Delete a worker, after its machine; its nets stay, assigned to nobody
///
/// With `forget=true` a worker goes whose provider is not set up any more: the answer names the machines that nobody
/// has ended.
#[utoipa::path(
    delete, path = "/api/workers/{id}", operation_id = "delete_worker", tag = "fleet",
    params(
        ("id" = String, Path, description = "The worker"),
        ("If-Match" = Option<i64>, Header, description = "Only if it is of this generation"),
        Forgetting,
    ),
    responses(
        (status = 200, description = "It is forgotten", body = Forgotten),
        (status = 204, description = "It is gone"),
        (status = 202, description = "It goes on", body = Worker),
        Refusal
    )
)]
pub(super) async fn remove(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    CameFrom(source): CameFrom,
    Path(id): Path<Id>,
    IfMatch(expected): IfMatch,
    Query(query): Query<Forgetting>,
) -> Result<Response, Error> {
    if query.forget {
        let forgotten = forget(state, caller, source, (id, expected)).await?;
        return Ok(Json(forgotten).into_response());
    }
    let asked = Asked { kind: WorkerOperation::Delete, action: "worker.delete", id, expected };
    operate(state, caller, source, asked).await
}

/// How a worker is deleted.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Forgetting {
    /// Leave its machines behind, because their provider is not set up any more.
    #[serde(default)]
    forget: bool,
}

/// What a worker that was forgotten has left behind.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ForgottenWorker)]
pub(super) struct Forgotten {
    /// The names of machines that nobody has ended: end them at the provider. If it is set up here again, Mainstay
    /// ends them.
    #[schema(value_type = Vec<String>)]
    machines: Vec<MachineName>,
}

async fn forget(
    state: SharedState,
    caller: Caller,
    source: Source,
    (id, expected): (Id, Option<i64>),
) -> Result<Forgotten, Error> {
    let (fleet, user) = (&state.fleet, caller.user.id);
    let deed = ("worker.forget", Some(id), json!({}));
    let forgetting = changed(&state, &caller, source, deed, async |tx, out| {
        fleet.forget_worker(tx, out, (user, id), expected).await
    });
    Ok(Forgotten { machines: forgetting.await? })
}

/// What is to be done.
struct Asked {
    kind: WorkerOperation,
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
        fleet.begin(tx, out, (user, id), kind, expected).await
    });
    let operation = begun.await?.id;
    match fleet.wait_for_worker(user, id, operation).await? {
        Waited::Done(crew) => Ok(Json(Worker::from(crew)).into_response()),
        Waited::Removed => Ok(StatusCode::NO_CONTENT.into_response()),
        Waited::Underway(crew) => {
            Ok((StatusCode::ACCEPTED, Json(Worker::from(crew))).into_response())
        }
        Waited::Failed(crew, failure) => Err(undone(&crew, &failure)),
    }
}
