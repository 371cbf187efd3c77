//! Dependencies: how one is, how it was, and which service it is.

use std::str::FromStr;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use mainstay_accounts::{Caller, Role, Source};
use mainstay_base::{Id, Timestamp};
use mainstay_monitor::latency::{Bucket, Range, RangeError};
use mainstay_monitor::views::{Dependency, DependencyError, Timeline};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::Refusal;
use super::services::{items, page, place};
use crate::code::Code;
use crate::error::Error;
use crate::extract::{CameFrom, Json, ListQuery, Page, Path, Query, SignedIn};
use crate::router::SharedState;

/// How far back is asked for.
#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct RangeQuery {
    /// `1h`, `6h`, `24h`, `7d` or `30d`.
    #[serde(default)]
    #[param(value_type = String, required = false, example = "24h", default = "24h")]
    range: AskedRange,
}

/// A range of the query.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct AskedRange(Range);

/// The latencies of a dependency.
#[derive(Serialize, ToSchema)]
pub(super) struct LatencyChart {
    /// How far back it goes.
    #[schema(example = "24h")]
    range: &'static str,
    /// Steps of equal length, oldest first; one without any latency is left out.
    buckets: Vec<LatencyBucket>,
}

/// The latencies of one step.
#[derive(Serialize, ToSchema)]
pub(super) struct LatencyBucket {
    /// When it begins.
    #[schema(value_type = String, format = DateTime)]
    start: Timestamp,
    /// How many latencies.
    count: u64,
    /// The least.
    min_ms: f64,
    /// The mean.
    avg_ms: f64,
    /// The greatest.
    max_ms: f64,
    /// What 95 of 100 do not exceed.
    p95_ms: f64,
}

/// Which service a dependency is.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewLink {
    /// The service.
    #[schema(value_type = String)]
    service_id: Id,
}

/// A dependency
#[utoipa::path(
    get, path = "/api/dependencies/{id}", operation_id = "get_dependency", tag = "dependencies",
    params(("id" = String, Path, description = "The dependency")),
    responses((status = 200, description = "The dependency", body = Dependency), Refusal)
)]
pub(super) async fn find(
    State(state): State<SharedState>,
    Path(id): Path<Id>,
) -> Result<Json<Dependency>, Error> {
    shown(&state, id).await
}

/// How long a dependency took to answer
#[utoipa::path(
    get, path = "/api/dependencies/{id}/latency", operation_id = "get_dependency_latency",
    tag = "dependencies",
    params(("id" = String, Path, description = "The dependency"), RangeQuery),
    responses((status = 200, description = "Its latencies", body = LatencyChart), Refusal)
)]
pub(super) async fn latency(
    State(state): State<SharedState>,
    Path(id): Path<Id>,
    Query(query): Query<RangeQuery>,
) -> Result<Json<LatencyChart>, Error> {
    let range = query.range.0;
    let buckets = state.monitor.views.latencies(id, range).await?.ok_or_else(no_dependency)?;
    let buckets = buckets.iter().map(LatencyBucket::from).collect();
    Ok(Json(LatencyChart { range: words(range).0, buckets }))
}

/// What was wrong with a dependency, newest first
///
/// An item without an error is a recovery.
#[utoipa::path(
    get, path = "/api/dependencies/{id}/errors", operation_id = "list_dependency_errors",
    tag = "dependencies",
    params(("id" = String, Path, description = "The dependency"), ListQuery),
    responses((status = 200, description = "A page of errors", body = Page<DependencyError>), Refusal)
)]
pub(super) async fn errors(
    State(state): State<SharedState>,
    Path(id): Path<Id>,
    Query(query): Query<ListQuery>,
) -> Result<Json<Page<DependencyError>>, Error> {
    let after = place(query.cursor.as_ref())?;
    let part = state.monitor.views.errors(id, after, items(query.limit)).await?;
    Ok(Json(page(part.ok_or_else(no_dependency)?)))
}

/// How a dependency was: its state when the range begins, and each change since
#[utoipa::path(
    get, path = "/api/dependencies/{id}/timeline", operation_id = "get_dependency_timeline",
    tag = "dependencies",
    params(("id" = String, Path, description = "The dependency"), RangeQuery),
    responses((status = 200, description = "How it was", body = Timeline), Refusal)
)]
pub(super) async fn timeline(
    State(state): State<SharedState>,
    Path(id): Path<Id>,
    Query(query): Query<RangeQuery>,
) -> Result<Json<Timeline>, Error> {
    let timeline = state.monitor.views.timeline(id, words(query.range.0).1).await?;
    Ok(Json(timeline.ok_or_else(no_dependency)?))
}

/// Say which service a dependency is
#[utoipa::path(
    post, path = "/api/dependencies/{id}/link", operation_id = "link_dependency",
    tag = "dependencies",
    params(("id" = String, Path, description = "The dependency")),
    request_body = NewLink,
    responses((status = 200, description = "The dependency as it is now", body = Dependency), Refusal)
)]
pub(super) async fn link(
    State(state): State<SharedState>,
    SignedIn(editor): SignedIn,
    CameFrom(source): CameFrom,
    Path(id): Path<Id>,
    Json(NewLink { service_id }): Json<NewLink>,
) -> Result<Json<Dependency>, Error> {
    set_link(&state, &editor, source, id, Some(service_id)).await?;
    shown(&state, id).await
}

/// Say that a dependency is no service
#[utoipa::path(
    delete, path = "/api/dependencies/{id}/link", operation_id = "unlink_dependency",
    tag = "dependencies",
    params(("id" = String, Path, description = "The dependency")),
    responses((status = 204, description = "It is linked to no service"), Refusal)
)]
pub(super) async fn unlink(
    State(state): State<SharedState>,
    SignedIn(editor): SignedIn,
    CameFrom(source): CameFrom,
    Path(id): Path<Id>,
) -> Result<StatusCode, Error> {
    set_link(&state, &editor, source, id, None).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn set_link(
    state: &SharedState,
    editor: &Caller,
    source: Source,
    id: Id,
    service: Option<Id>,
) -> Result<(), Error> {
    let (accounts, aliases) = (&state.accounts, &state.monitor.aliases);
    let action = if service.is_some() { "dependency.link" } else { "dependency.unlink" };
    let events = &state.live.events;
    events
        .write(async |tx, out| {
            accounts.confirm(tx, editor, Role::Editor).await?;
            let linked = aliases.link(tx, out, id, service).await?;
            let detail = json!({
                "dependency": linked.dependency_name,
                "service": linked.service_name,
                "service_id": service,
            });
            accounts.note(tx, editor, source, action, ("dependency", Some(id)), detail).await?;
            Ok(())
        })
        .await
}

async fn shown(state: &SharedState, id: Id) -> Result<Json<Dependency>, Error> {
    let found = state.monitor.views.dependency(id).await?;
    Ok(Json(found.ok_or_else(no_dependency)?))
}

pub(super) fn no_dependency() -> Error {
    let detail = "There is no dependency with this id. Its service may have been removed.";
    Error::new(Code::NotFound, detail)
}

/// A range as people write it, and how long it is.
const fn words(range: Range) -> (&'static str, Duration) {
    match range {
        Range::Hour => ("1h", Duration::from_hours(1)),
        Range::SixHours => ("6h", Duration::from_hours(6)),
        Range::Day => ("24h", Duration::from_hours(24)),
        Range::Week => ("7d", Duration::from_hours(7 * 24)),
        Range::Month => ("30d", Duration::from_hours(30 * 24)),
    }
}

impl Default for AskedRange {
    fn default() -> Self {
        Self(Range::Day)
    }
}

impl TryFrom<String> for AskedRange {
    type Error = RangeError;

    fn try_from(text: String) -> Result<Self, RangeError> {
        Range::from_str(&text).map(Self)
    }
}

impl From<&Bucket> for LatencyBucket {
    fn from(bucket: &Bucket) -> Self {
        let millis = |duration: Duration| duration.as_secs_f64() * 1_000.0;
        Self {
            start: bucket.start,
            count: bucket.count,
            min_ms: millis(bucket.min),
            avg_ms: millis(bucket.avg),
            max_ms: millis(bucket.max),
            p95_ms: millis(bucket.p95),
        }
    }
}
