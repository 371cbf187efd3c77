//! What changed lately.

use axum::extract::State;
use mainstay_monitor::views::{Activity, ActivityItem, Place, Unstable};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Refusal;
use super::services::{items, page, place};
use crate::error::Error;
use crate::extract::{Cursor, Json, Limit, Page, Query};
use crate::router::SharedState;

/// Which changes are asked for.
#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ActivityQuery {
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
    let ask = Activity { after: query.after, before, limit: items(query.limit) };
    Ok(Json(page(state.monitor.views.activity(ask).await?)))
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
