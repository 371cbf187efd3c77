//! The own workers: which there are, and where each stands.

use axum::extract::State;
use axum::http::StatusCode;
use mainstay_accounts::{Caller, Role, Source};
use mainstay_base::{Id, Timestamp};
use mainstay_events::Outbox;
use mainstay_fleet::providers::{Region, Size};
use mainstay_fleet::{
    Category, Crew, Ended, FleetError, LoadState, NewWorker, Place, ProviderKind, Underway,
    WorkerName, WorkerStatus,
};
use mainstay_store::Tx;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::Refusal;
use crate::code::Code;
use crate::error::Error;
use crate::error_of_accounts::sentence;
use crate::extract::{CameFrom, Cursor, Json, ListQuery, Page, Path, Query, SignedIn};
use crate::router::SharedState;

/// A machine of the fleet.
#[derive(Serialize, ToSchema)]
pub(super) struct Worker {
    /// The id.
    #[schema(value_type = String)]
    id: Id,
    /// What its owner calls it.
    #[schema(example = "frankfurt-1")]
    name: String,
    /// Where its machine comes from.
    provider: ProviderKind,
    /// Whether it outlives being stopped.
    category: Category,
    /// Where it should stand.
    #[schema(value_type = Option<String>, required, example = "fra")]
    region: Option<Region>,
    /// Where its machine does stand, by its provider's word; null where there is none, or it does not say.
    #[schema(required, example = "fra")]
    machine_region: Option<String>,
    /// How big it should be.
    size: Size,
    /// Where it stands.
    status: WorkerStatus,
    /// Since when.
    #[schema(value_type = String, format = DateTime)]
    status_since: Timestamp,
    /// Why it failed; of one that has not, what keeps its provider from saying how it is.
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
    /// The provider's own word for what the machine does.
    #[schema(required)]
    provider_state: Option<String>,
    /// When its agent last answered.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    last_seen_at: Option<Timestamp>,
    /// Where its agent is asked.
    #[schema(required)]
    url: Option<String>,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// The nets that are assigned to it.
    nets: Vec<AssignedNet>,
}

/// What is being done to a worker or a net.
#[derive(Serialize, ToSchema)]
pub(super) struct FleetOperation {
    /// Its id, which is that of its job.
    #[schema(value_type = String)]
    id: Id,
    /// What it does.
    #[schema(example = "stop")]
    kind: &'static str,
    /// When it was asked for.
    #[schema(value_type = String, format = DateTime)]
    since: Timestamp,
    /// When it is given up.
    #[schema(value_type = String, format = DateTime)]
    deadline: Timestamp,
}

/// How something that was done to a worker or a net ended.
#[derive(Serialize, ToSchema)]
pub(super) struct EndedOperation {
    /// Its id, which is that of its job.
    #[schema(value_type = String)]
    id: Id,
    /// What it did.
    #[schema(example = "stop")]
    kind: &'static str,
    /// When it ended.
    #[schema(value_type = String, format = DateTime)]
    ended_at: Timestamp,
    /// Why it did not do what was asked for, as a stable word; null where it did.
    #[schema(required, example = "provider_unavailable")]
    code: Option<&'static str>,
    /// The same for people.
    #[schema(required)]
    detail: Option<String>,
}

/// A net, as its worker shows it.
#[derive(Serialize, ToSchema)]
pub(super) struct AssignedNet {
    /// The id.
    #[schema(value_type = String)]
    id: Id,
    /// What its owner calls it.
    name: String,
    /// Whether it is loaded.
    load_state: LoadState,
}

/// A worker that is wanted.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewWorker)]
pub(super) struct WantedWorker {
    /// What to call it: 1 to 100 characters, and no other worker of yours has it.
    #[schema(example = "frankfurt-1")]
    name: String,
    /// Where its machine comes from.
    provider: ProviderKind,
    /// Whether it outlives being stopped.
    category: Category,
    /// Where it should stand at Fly; elsewhere a label.
    #[schema(example = "fra")]
    region: Option<String>,
    /// How big it should be at Fly; small unless given. Elsewhere there is nothing to choose.
    size: Option<Size>,
}

/// Where machines can come from.
#[derive(Serialize, ToSchema)]
pub(super) struct MachineProvider {
    /// Its name, as a worker has it.
    provider: ProviderKind,
    /// Whether workers can be made there.
    is_set_up: bool,
    /// What has to be set so that it can be used.
    #[schema(example = "FLY_API_TOKEN, FLY_APP and FLY_IMAGE")]
    settings: &'static str,
    /// What kept it from what it was last asked for, as far as this instance knows; null when it answered.
    #[schema(required)]
    trouble: Option<ProviderTrouble>,
}

/// What keeps a provider of machines from doing what it is asked for.
#[derive(Serialize, ToSchema)]
pub(super) struct ProviderTrouble {
    /// The word for it: `denied`, `unreachable` or `invalid`.
    #[schema(example = "denied")]
    code: &'static str,
    /// The same for people, and what to do.
    detail: String,
    /// Since when it is so.
    #[schema(value_type = String, format = DateTime)]
    since: Timestamp,
    /// When it was asked last.
    #[schema(value_type = String, format = DateTime)]
    asked_at: Timestamp,
}

/// The providers of machines, which of them are set up, and what keeps one from answering
#[utoipa::path(
    get, path = "/api/workers/providers", operation_id = "list_providers", tag = "fleet",
    responses((status = 200, description = "All that there are", body = Page<MachineProvider>), Refusal)
)]
pub(super) async fn providers(State(state): State<SharedState>) -> Json<Page<MachineProvider>> {
    let providers = state.fleet.providers();
    let items = ProviderKind::ALL.map(|provider| MachineProvider {
        provider,
        is_set_up: providers.of(provider).is_some(),
        settings: provider.settings(),
        trouble: providers.of(provider).and_then(|one| one.trouble()).map(Into::into),
    });
    Json(Page { items: items.into(), next_cursor: None })
}

/// The own workers, newest first
///
/// At most 30 times a minute: follow the events instead of asking again and again.
#[utoipa::path(
    get, path = "/api/workers", operation_id = "list_workers", tag = "fleet",
    params(ListQuery),
    responses((status = 200, description = "A page of workers", body = Page<Worker>), Refusal)
)]
pub(super) async fn list(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    Query(query): Query<ListQuery>,
) -> Result<Json<Page<Worker>>, Error> {
    let after = query.cursor.as_ref().map(Cursor::as_str).map(str::parse::<Place>).transpose()?;
    let limit = u32::try_from(query.limit.items()).unwrap_or(u32::MAX);
    let part = state.fleet.list_workers(caller.user.id, after, limit).await?;
    let items = part.items.into_iter().map(Worker::from).collect();
    Ok(Json(Page { items, next_cursor: part.next.map(|place| place.to_string()) }))
}

/// Make a worker, without a machine yet
#[utoipa::path(
    post, path = "/api/workers", operation_id = "create_worker", tag = "fleet",
    request_body = WantedWorker,
    responses((status = 201, description = "It is pending", body = Worker), Refusal)
)]
pub(super) async fn create(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    CameFrom(source): CameFrom,
    Json(wanted): Json<WantedWorker>,
) -> Result<(StatusCode, Json<Worker>), Error> {
    let new = checked(&wanted)?;
    let detail = json!({"name": new.name, "provider": new.provider});
    let made =
        changed(&state, &caller, source, ("worker.create", None, detail), async |tx, out| {
            state.fleet.create_worker(tx, out, caller.user.id, new).await
        });
    Ok((StatusCode::CREATED, Json(made.await?.into())))
}

/// One of the own workers
#[utoipa::path(
    get, path = "/api/workers/{id}", operation_id = "get_worker", tag = "fleet",
    params(("id" = String, Path, description = "The worker")),
    responses((status = 200, description = "Where it stands", body = Worker), Refusal)
)]
pub(super) async fn find(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    Path(id): Path<Id>,
) -> Result<Json<Worker>, Error> {
    Ok(Json(state.fleet.find_worker(caller.user.id, id).await?.into()))
}

/// Makes a change of the own fleet with its line of the audit log, in one transaction.
pub(super) async fn changed<T>(
    state: &SharedState,
    caller: &Caller,
    source: Source,
    (action, target, detail): (&'static str, Option<Id>, Value),
    work: impl AsyncFnOnce(&mut Tx, &mut Outbox) -> Result<T, FleetError>,
) -> Result<T, Error> {
    let (accounts, events) = (&state.accounts, &state.live.events);
    let kind = action.split('.').next().unwrap_or(action);
    events
        .write(async |tx, out| {
            accounts.confirm(tx, caller, Role::Editor).await?;
            let done = work(tx, out).await?;
            accounts.note(tx, caller, source, action, (kind, target), detail).await?;
            Ok::<_, Error>(done)
        })
        .await
}

fn checked(wanted: &WantedWorker) -> Result<NewWorker, Error> {
    let name = WorkerName::parse(&wanted.name)
        .map_err(|error| Error::new(Code::InvalidName, format!("The name is {error}.")))?;
    let region = wanted.region.as_deref().map(Region::parse).transpose();
    let region =
        region.map_err(|error| Error::new(Code::InvalidRegion, sentence(&error.to_string())))?;
    let &WantedWorker { provider, category, size, .. } = wanted;
    if let Some(text) =
        sizeless(provider).filter(|_| size.is_some_and(|size| size != Size::default()))
    {
        return Err(Error::new(Code::InvalidSize, text));
    }
    Ok(NewWorker { name, provider, category, region, size: size.unwrap_or_default() })
}

/// Why the machines of a provider have no size that could be chosen, where they have none.
const fn sizeless(provider: ProviderKind) -> Option<&'static str> {
    match provider {
        ProviderKind::Process => {
            Some("A process has what this host has, so it has no size; leave size out.")
        }
        ProviderKind::Sprite => {
            Some("A sprite takes what it needs, so it has no size; leave size out.")
        }
        ProviderKind::Fly => None,
    }
}

impl FleetOperation {
    pub(super) fn of<K>(underway: &Underway<K>, kind: &'static str) -> Self {
        Self { id: underway.id, kind, since: underway.since, deadline: underway.deadline }
    }
}

impl EndedOperation {
    pub(super) fn of<K>(ended: Ended<K>, kind: &'static str) -> Self {
        let Ended { id, at: ended_at, failure, .. } = ended;
        let (code, detail) = failure.map(|failure| (failure.code.name(), failure.detail)).unzip();
        Self { id, kind, ended_at, code, detail }
    }
}

impl From<mainstay_fleet::providers::ProviderTrouble> for ProviderTrouble {
    fn from(trouble: mainstay_fleet::providers::ProviderTrouble) -> Self {
        let mainstay_fleet::providers::ProviderTrouble { code, detail, since, asked_at } = trouble;
        Self { code, detail: sentence(&detail), since, asked_at }
    }
}

impl From<Crew> for Worker {
    fn from(crew: Crew) -> Self {
        let Crew { worker, nets } = crew;
        let operation = worker.operation.as_ref();
        Self {
            id: worker.id,
            operation: operation.map(|one| FleetOperation::of(one, one.kind.name())),
            last_operation: worker.ended.map(|one| {
                let kind = one.kind.name();
                EndedOperation::of(one, kind)
            }),
            name: worker.name,
            provider: worker.provider,
            category: worker.category,
            region: worker.region,
            size: worker.size,
            status: worker.status,
            status_since: worker.status_since,
            reason: worker.reason,
            generation: worker.generation,
            provider_state: worker.provider_state,
            last_seen_at: worker.last_seen_at,
            machine_region: worker.machine.as_ref().and_then(|machine| machine.region.clone()),
            url: worker.machine.and_then(|machine| machine.address),
            created_at: worker.created_at,
            nets: nets.into_iter().map(AssignedNet::from).collect(),
        }
    }
}

impl From<mainstay_fleet::Net> for AssignedNet {
    fn from(net: mainstay_fleet::Net) -> Self {
        Self { id: net.id, name: net.name, load_state: net.load_state }
    }
}
