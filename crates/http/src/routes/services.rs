//! Services: what is watched, and how it is.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::http::StatusCode;
use mainstay_accounts::{Caller, Role, Source};
use mainstay_base::Id;
use mainstay_events::Outbox;
use mainstay_journeys::kept::FailingJourney;
use mainstay_monitor::desired::{HeaderText, read_headers};
use mainstay_monitor::services::{
    Definition, Draft, Edited, HeaderPatch, Invalid, Patch, check_address,
};
use mainstay_monitor::views::list::MAX_SEARCH_CHARS;
use mainstay_monitor::views::{ListAsk, Part, Place, Service, ServiceDetail, ServiceFilter, Sort};
use mainstay_monitor::{FailureKind, ServiceStatus};
use mainstay_store::Tx;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::Refusal;
use crate::code::Code;
use crate::error::Error;
use crate::error_of_monitor::blocked;
use crate::extract::{CameFrom, Cursor, Json, Limit, Page, Path, Query, SignedIn};
use crate::router::SharedState;

/// Which services are asked for.
#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ServicesQuery {
    /// Only those whose name, team or endpoint holds this text, in any case.
    #[param(max_length = 100, example = "orders")]
    q: Option<String>,
    /// Only those that are so.
    status: Option<ServiceStatus>,
    /// Only those of this team, in any case.
    team: Option<String>,
    /// In which order; equal ones come by name. `status` is the worst first, `last_polled` the
    /// longest ago first; a `-` turns the order around.
    #[serde(default)]
    #[param(inline, value_type = Sort, required = false)]
    sort: Sort,
    /// How many items at most.
    #[serde(default)]
    #[param(value_type = u16, required = false, minimum = 1, maximum = 200, default = 50)]
    limit: Limit,
    /// Where the page begins: `next_cursor` of the page before it, with the same `sort`.
    #[param(value_type = Option<String>)]
    cursor: Option<Cursor>,
}

/// A service to watch.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewService {
    /// Its name, which no other service has, in any case: 1 to 100 characters.
    #[schema(example = "Orders")]
    name: String,
    /// Where to ask: an http or https URL without credentials.
    #[schema(example = "https://orders.example.org/health")]
    health_endpoint: String,
    /// How to read the answer: `proactive-deps` (the default), `schema`, or `status` (any 2xx is
    /// healthy).
    #[schema(example = "proactive-deps")]
    format: Option<String>,
    /// Where in the answer the dependencies stand: for the format `schema` only.
    #[schema(value_type = Option<Object>)]
    schema_config: Option<Value>,
    /// How often to ask, from 5 000 to 3 600 000; 30 000 unless given.
    #[schema(example = 30_000)]
    poll_interval_ms: Option<i64>,
    /// How long one request may take, from 100 to 30 000; 10 000 unless given.
    #[schema(example = 10_000)]
    timeout_ms: Option<i64>,
    /// Further headers of the request, at most 20. Their values are never shown again.
    #[serde(default, deserialize_with = "new_headers")]
    #[schema(value_type = Option<BTreeMap<String, String>>)]
    headers: Option<BTreeMap<String, HeaderText>>,
    /// Whose it is.
    #[schema(example = "Shop")]
    team: Option<String>,
    /// Whether it is polled; true unless given.
    is_active: Option<bool>,
}

/// What to change of a service; what is left out stays.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ServiceChange {
    /// Its name.
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = Option<String>, nullable = false)]
    name: Option<String>,
    /// Where to ask. Another place starts with a closed breaker and no backoff.
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = Option<String>, nullable = false)]
    health_endpoint: Option<String>,
    /// How to read the answer. Another format takes `schema_config` away unless it is given too.
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = Option<String>, nullable = false)]
    format: Option<String>,
    /// Where in the answer the dependencies stand; `null` takes it away.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<Object>)]
    schema_config: Option<Option<Value>>,
    /// How often to ask.
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = Option<i64>, nullable = false)]
    poll_interval_ms: Option<i64>,
    /// How long one request may take.
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = Option<i64>, nullable = false)]
    timeout_ms: Option<i64>,
    /// Headers to set, and with `null` those to take away; the others stay. `null` in place of all
    /// takes all away.
    #[serde(default, deserialize_with = "changed_headers")]
    #[schema(value_type = Option<BTreeMap<String, Option<String>>>)]
    headers: Option<Option<BTreeMap<String, HeaderText>>>,
    /// Whose it is; `null` is nobody's.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>)]
    team: Option<Option<String>>,
    /// Whether it is polled.
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = Option<bool>, nullable = false)]
    is_active: Option<bool>,
}

/// A service with all that its page shows.
#[derive(Serialize, ToSchema)]
pub(super) struct ServicePage {
    /// The service, and what it leans on.
    #[serde(flatten)]
    detail: ServiceDetail,
    /// The journeys that cross it and are failing.
    journeys_failing: Vec<FailingJourney>,
}

/// The services
#[utoipa::path(
    get, path = "/api/services", operation_id = "list_services", tag = "services",
    params(ServicesQuery),
    responses((status = 200, description = "A page of services", body = Page<Service>), Refusal)
)]
pub(super) async fn list(
    State(state): State<SharedState>,
    Query(query): Query<ServicesQuery>,
) -> Result<Json<Page<Service>>, Error> {
    let ask = ListAsk {
        filter: ServiceFilter {
            search: search(query.q, MAX_SEARCH_CHARS)?,
            status: query.status,
            team: clean(query.team),
        },
        sort: query.sort,
        after: place(query.cursor.as_ref())?,
        limit: items(query.limit),
    };
    Ok(Json(page(state.monitor.views.services(&ask).await?)))
}

/// Watch a service
#[utoipa::path(
    post, path = "/api/services", operation_id = "create_service", tag = "services",
    request_body = NewService,
    responses((status = 201, description = "It is polled from now on", body = Service), Refusal)
)]
pub(super) async fn create(
    State(state): State<SharedState>,
    SignedIn(editor): SignedIn,
    CameFrom(source): CameFrom,
    Json(new): Json<NewService>,
) -> Result<(StatusCode, Json<Service>), Error> {
    let definition = Definition::check(new.into())?;
    judge(&state, definition.url()).await?;
    let services = &state.monitor.services;
    let made = edit(&state, &editor, source, "service.create", async |tx, out| {
        Ok(services.create(tx, out, &definition).await?)
    });
    Ok((StatusCode::CREATED, shown(&state, made.await?.id).await?))
}

/// A service with what it leans on, and why it is polled now or not
#[utoipa::path(
    get, path = "/api/services/{id}", operation_id = "get_service", tag = "services",
    params(("id" = String, Path, description = "The service")),
    responses((status = 200, description = "The service", body = ServicePage), Refusal)
)]
pub(super) async fn find(
    State(state): State<SharedState>,
    Path(id): Path<Id>,
) -> Result<Json<ServicePage>, Error> {
    let whole = state.monitor.views.whole(id).await?.ok_or_else(no_service)?;
    let schedule = state.monitor.polling.schedule(whole.number).or(whole.recorded);
    let (service, dependencies) = (whole.service, whole.dependencies);
    let polled_by = if service.is_active {
        state.monitor.instances.polled_by(&service.health_endpoint).await?
    } else {
        None
    };
    let mut journeys_failing = state.journeys.failing().await?;
    journeys_failing.retain(|journey| journey.touches(&service.name));
    let detail = ServiceDetail { service, dependencies, schedule, polled_by };
    Ok(Json(ServicePage { detail, journeys_failing }))
}

/// Change a service
#[utoipa::path(
    patch, path = "/api/services/{id}", operation_id = "change_service", tag = "services",
    params(("id" = String, Path, description = "The service")),
    request_body = ServiceChange,
    responses((status = 200, description = "The service as it is now", body = Service), Refusal)
)]
pub(super) async fn change(
    State(state): State<SharedState>,
    SignedIn(editor): SignedIn,
    CameFrom(source): CameFrom,
    Path(id): Path<Id>,
    Json(change): Json<ServiceChange>,
) -> Result<Json<Service>, Error> {
    if let Some(endpoint) = &change.health_endpoint {
        let url = check_address(endpoint).map_err(Invalid::HealthEndpoint)?;
        judge(&state, &url).await?;
    }
    let (services, patch) = (&state.monitor.services, Patch::from(change));
    edit(&state, &editor, source, "service.change", async |tx, out| {
        Ok(services.update(tx, out, id, patch).await?)
    })
    .await?;
    shown(&state, id).await
}

/// Watch a service no more
///
/// Its history stays until it is too old.
#[utoipa::path(
    delete, path = "/api/services/{id}", operation_id = "delete_service", tag = "services",
    params(("id" = String, Path, description = "The service")),
    responses((status = 204, description = "It is polled and shown no more"), Refusal)
)]
pub(super) async fn remove(
    State(state): State<SharedState>,
    SignedIn(editor): SignedIn,
    CameFrom(source): CameFrom,
    Path(id): Path<Id>,
) -> Result<StatusCode, Error> {
    let services = &state.monitor.services;
    edit(&state, &editor, source, "service.delete", async |tx, out| {
        Ok(services.delete(tx, out, id).await?)
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Where a page of the monitor begins.
pub(super) fn place(cursor: Option<&Cursor>) -> Result<Option<Place>, Error> {
    let place = cursor.map(|cursor| cursor.as_str().parse::<Place>()).transpose();
    place.map_err(|error| {
        Error::new(Code::InvalidQuery, format!("The query is not as expected: {error}."))
    })
}

/// How many items a page of the monitor has at most.
pub(super) fn items(limit: Limit) -> u32 {
    u32::try_from(limit.items()).unwrap_or(u32::MAX)
}

/// A part of a list as a page.
pub(super) fn page<T>(part: Part<T>) -> Page<T> {
    Page { items: part.items, next_cursor: part.next.map(|place| place.to_string()) }
}

/// There is no such service.
pub(super) fn no_service() -> Error {
    let detail = "There is no service with this id. It may have been removed.";
    Error::new(Code::NotFound, detail)
}

async fn shown(state: &SharedState, id: Id) -> Result<Json<Service>, Error> {
    let found = state.monitor.views.service(id).await?.ok_or_else(no_service)?;
    Ok(Json(found.1))
}

/// Writes an edit with its line in the audit log.
async fn edit(
    state: &SharedState,
    editor: &Caller,
    source: Source,
    action: &'static str,
    work: impl AsyncFnOnce(&mut Tx, &mut Outbox) -> Result<Edited, Error>,
) -> Result<Edited, Error> {
    let (accounts, events) = (&state.accounts, &state.live.events);
    events
        .write(async |tx, out| {
            accounts.confirm(tx, editor, Role::Editor).await?;
            let edited = work(tx, out).await?;
            let target = ("service", Some(edited.id));
            let detail = json!({"name": edited.name});
            accounts.note(tx, editor, source, action, target, detail).await?;
            Ok(edited)
        })
        .await
}

/// Refuses an address that would never be called. One that merely can't be reached now is watched.
async fn judge(state: &SharedState, url: &str) -> Result<(), Error> {
    match state.monitor.fetch.judge(url).await {
        Err(failure) if failure.kind == FailureKind::BlockedAddress => Err(blocked(&failure)),
        _ => Ok(()),
    }
}

/// What `q` asks for, of so many characters at most.
pub(super) fn search(q: Option<String>, most: usize) -> Result<Option<String>, Error> {
    if q.as_ref().is_some_and(|text| text.chars().nth(most).is_some()) {
        let detail = format!("`q` is longer than {most} characters. Shorten it.");
        return Err(Error::new(Code::InvalidQuery, detail));
    }
    Ok(clean(q))
}

/// An empty field of a form asks for nothing.
fn clean(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}

/// Tells `null` from what is left out.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// Headers of a new service: there is no value that could stay.
fn new_headers<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<BTreeMap<String, HeaderText>>, D::Error> {
    let headers = read_headers(deserializer)?;
    if headers.iter().flatten().any(|(_, text)| text.0.is_none()) {
        return Err(D::Error::custom("expected a text as a header's value"));
    }
    Ok(headers)
}

/// Tells `null` in place of all headers from what is left out.
fn changed_headers<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<BTreeMap<String, HeaderText>>>, D::Error> {
    read_headers(deserializer).map(Some)
}

/// What can't be taken away may be left out, but is not `null`.
pub(super) fn not_null<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl From<NewService> for Draft {
    fn from(new: NewService) -> Self {
        let headers = new.headers.unwrap_or_default();
        Self {
            name: new.name,
            team: new.team,
            health_endpoint: new.health_endpoint,
            format: new.format,
            schema_config: new.schema_config,
            poll_interval_ms: new.poll_interval_ms,
            timeout_ms: new.timeout_ms,
            headers: headers
                .into_iter()
                .filter_map(|(name, HeaderText(value))| Some((name, value?)))
                .collect(),
            is_active: new.is_active,
        }
    }
}

impl From<ServiceChange> for Patch {
    fn from(change: ServiceChange) -> Self {
        let headers = change.headers.map(|headers| match headers {
            None => HeaderPatch::Clear,
            Some(headers) => HeaderPatch::Merge(
                headers.into_iter().map(|(name, HeaderText(value))| (name, value)).collect(),
            ),
        });
        Self {
            name: change.name,
            team: change.team,
            health_endpoint: change.health_endpoint,
            format: change.format,
            schema_config: change.schema_config,
            poll_interval_ms: change.poll_interval_ms,
            timeout_ms: change.timeout_ms,
            headers,
            is_active: change.is_active,
        }
    }
}
