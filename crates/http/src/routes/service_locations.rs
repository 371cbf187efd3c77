//! How a service is, seen from where it is watched: here, and on the caller's own workers.

use axum::extract::State;
use mainstay_base::{Id, Timestamp};
use mainstay_fleet::{CheckKind, LocationChange, LocationStatus, SeenLocation};
use mainstay_monitor::ServiceStatus;
use mainstay_monitor::views::Service;
use serde::Serialize;
use utoipa::ToSchema;

use super::Refusal;
use super::services::no_service;
use crate::error::Error;
use crate::extract::{Json, Path, SignedIn};
use crate::router::SharedState;

/// What the server itself is called among the locations.
const HERE: &str = "this server";

/// Where a service is watched from.
#[derive(Serialize, ToSchema)]
pub(super) struct ServiceLocations {
    /// The server itself, then the workers by their names.
    items: Vec<ServiceLocation>,
    /// When one of the workers found it otherwise than before: the last 50 times within the last 24 hours, newest first.
    changes: Vec<ServiceLocationChange>,
}

/// A time at which a service turned out otherwise than before, seen from a worker.
#[derive(Serialize, ToSchema)]
pub(super) struct ServiceLocationChange {
    /// Tells it from the others: later ones have higher numbers.
    number: i64,
    /// When it was found.
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// The worker.
    #[schema(value_type = String)]
    worker_id: Id,
    /// What the worker is called.
    #[schema(example = "frankfurt-1")]
    worker: String,
    /// The net that looks.
    #[schema(value_type = String)]
    net_id: Id,
    /// What the net is called.
    net: String,
    /// What the check of the net does.
    kind: CheckKind,
    /// What the check of the net is called.
    check: String,
    /// How the service was from there, from then on.
    status: LocationStatus,
    /// What was wrong.
    #[schema(required)]
    error: Option<String>,
}

/// How a service is, seen from one place.
#[derive(Serialize, ToSchema)]
pub(super) struct ServiceLocation {
    /// The worker; `null` is the server itself.
    #[schema(value_type = Option<String>, required)]
    worker_id: Option<Id>,
    /// What the worker is called; `this server` is the server itself.
    #[schema(example = "frankfurt-1")]
    worker: String,
    /// Where the worker stands.
    #[schema(required, example = "fra")]
    region: Option<String>,
    /// The net that looks.
    #[schema(value_type = Option<String>, required)]
    net_id: Option<Id>,
    /// What the net is called.
    #[schema(required)]
    net: Option<String>,
    /// What the check of the net does: a `journey` is one that crosses the service.
    kind: CheckKind,
    /// What the check of the net is called.
    #[schema(required)]
    check: Option<String>,
    /// How the service is from there; `unknown` where nobody looks any more.
    status: LocationStatus,
    /// Since when.
    #[schema(value_type = String, format = DateTime)]
    since: Timestamp,
    /// When it was last looked at.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    checked_at: Option<Timestamp>,
    /// How long that took.
    #[schema(required)]
    latency_ms: Option<f64>,
    /// What is wrong, or why it is not known.
    #[schema(required)]
    error: Option<String>,
}

/// How a service is, seen from each place
///
/// The server itself, then each of your own workers with a net that checks the service: by its name, or
/// by the address of its health endpoint. A journey of a net shows on the services that it touches.
#[utoipa::path(
    get, path = "/api/services/{id}/locations", operation_id = "service_locations", tag = "services",
    params(("id" = String, Path, description = "The service")),
    responses((status = 200, description = "Each place", body = ServiceLocations), Refusal)
)]
pub(super) async fn list(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    Path(id): Path<Id>,
) -> Result<Json<ServiceLocations>, Error> {
    let (_, service) = state.monitor.views.service(id).await?.ok_or_else(no_service)?;
    let (user, name, endpoint) = (caller.user.id, &service.name, &service.health_endpoint);
    let found = state.fleet.locations_of(user, name, endpoint).await?;
    let changes = state.fleet.location_changes_of(user, name, endpoint).await?;
    let changes = changes.into_iter().map(ServiceLocationChange::from).collect();
    let items = std::iter::once(here(service)).chain(found.into_iter().map(ServiceLocation::from));
    Ok(Json(ServiceLocations { items: items.collect(), changes }))
}

fn here(service: Service) -> ServiceLocation {
    let last = service.last_poll;
    ServiceLocation {
        worker_id: None,
        worker: HERE.to_owned(),
        region: None,
        net_id: None,
        net: None,
        kind: CheckKind::Service,
        check: None,
        status: status(service.status),
        since: service.status_since,
        checked_at: last.as_ref().map(|poll| poll.at),
        latency_ms: last.as_ref().and_then(|poll| poll.latency_ms),
        error: last.and_then(|poll| poll.error).map(|error| error.message),
    }
}

const fn status(status: ServiceStatus) -> LocationStatus {
    match status {
        ServiceStatus::Unknown => LocationStatus::Unknown,
        ServiceStatus::Healthy => LocationStatus::Healthy,
        ServiceStatus::Degraded => LocationStatus::Degraded,
        ServiceStatus::Down => LocationStatus::Down,
    }
}

impl From<SeenLocation> for ServiceLocation {
    fn from(seen: SeenLocation) -> Self {
        Self {
            worker_id: Some(seen.worker_id),
            worker: seen.worker,
            region: seen.region,
            net_id: Some(seen.net_id),
            net: Some(seen.net),
            kind: seen.kind,
            check: Some(seen.check),
            status: seen.status,
            since: seen.since,
            checked_at: seen.checked_at,
            latency_ms: seen.latency.map(|taken| taken.as_secs_f64() * 1_000.0),
            error: seen.error,
        }
    }
}

impl From<LocationChange> for ServiceLocationChange {
    fn from(change: LocationChange) -> Self {
        let LocationChange {
            number,
            at,
            worker_id,
            worker,
            net_id,
            net,
            kind,
            check,
            status,
            error,
        } = change;
        Self { number, at, worker_id, worker, net_id, net, kind, check, status, error }
    }
}
