//! What changed lately.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use mainstay_base::Id;
use mainstay_monitor::DependencyStatus;
use mainstay_monitor::views::{
    Activity, ActivityFilter, ActivityItem, ActivityOf, Moments, Place, Unstable,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Refusal;
use super::kept::answer;
use super::services::{items, page, place, search};
use crate::error::Error;
use crate::extract::{Cursor, Json, Limit, Page, Query};
use crate::router::SharedState;

/// The longest text to search for, in characters.
const MAX_SEARCH: usize = 200;

/// Which changes are asked for.
#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ActivityQuery {
    /// Only those of a service or a dependency whose name holds this, in any case.
    #[param(max_length = 200)]
    q: Option<String>,
    /// Only those to this status.
    status: Option<DependencyStatus>,
    /// Only those of this service and of what it leans on.
    #[param(value_type = Option<String>)]
    service: Option<Id>,
    /// Only those of services themselves, or only those of what they lean on.
    #[param(inline)]
    of: Option<ActivityOf>,
    /// Only those after the change of this id.
    #[param(value_type = Option<String>, example = "4711")]
    after: Option<i64>,
    /// How many items at most.
    #[serde(default)]
    #[param(value_type = u16, required = false, minimum = 1, maximum = 200, default = 50)]
    limit: Limit,
    /// Where the page begins: `next_cursor` of the page before it.
    #[param(value_type = Option<String>)]
    cursor: Option<Cursor>,
}

/// How many are asked for.
#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct UnstableQuery {
    /// How many items at most.
    #[serde(default)]
    #[param(value_type = u16, required = false, minimum = 1, maximum = 200, default = 50)]
    limit: Limit,
}

/// Who changed most.
#[derive(Serialize, ToSchema)]
pub(super) struct UnstableList {
    /// Those that changed more than once in the last 24 hours, most often first.
    items: Vec<Unstable>,
}

/// Services and dependencies that changed their status, newest first
///
/// A page may hold fewer than asked for, or none, although there is a next one.
#[utoipa::path(
    get, path = "/api/activity", operation_id = "list_activity", tag = "activity",
    params(ActivityQuery),
    responses((status = 200, description = "A page of changes", body = Page<ActivityItem>), Refusal)
)]
pub(super) async fn recent(
    State(state): State<SharedState>,
    Query(query): Query<ActivityQuery>,
) -> Result<Json<Page<ActivityItem>>, Error> {
    let before = place(query.cursor.as_ref())?.map(Place::number);
    let filter = ActivityFilter {
        search: search(query.q, MAX_SEARCH)?,
        status: query.status,
        service: query.service,
        of: query.of,
    };
    let ask = Activity { after: query.after, before, limit: items(query.limit), filter };
    Ok(Json(page(state.monitor.views.activity(ask).await?)))
}

/// The last ten moments at which something changed
///
/// What many report is told once, by its canonical name, and whoever changed because of it within a minute
/// is told with it. It has a tag: who sends it back as `If-None-Match` is told by 304 that nothing has
/// changed.
#[utoipa::path(
    get, path = "/api/activity/moments", operation_id = "list_moments", tag = "activity",
    responses(
        (status = 200, description = "The last moments, newest first", body = Moments),
        (status = 304, description = "Nothing has changed"),
        Refusal
    )
)]
pub(super) async fn moments(
    State(state): State<SharedState>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    Ok(answer(&*state.monitor.views.moments().await?, &headers))
}

/// Services and dependencies that changed their status most often
#[utoipa::path(
    get, path = "/api/activity/unstable", operation_id = "list_unstable", tag = "activity",
    params(UnstableQuery),
    responses((status = 200, description = "Who changed most", body = UnstableList), Refusal)
)]
pub(super) async fn unstable(
    State(state): State<SharedState>,
    Query(query): Query<UnstableQuery>,
) -> Result<Json<UnstableList>, Error> {
    let items = state.monitor.views.unstable(items(query.limit)).await?;
    Ok(Json(UnstableList { items }))
}
