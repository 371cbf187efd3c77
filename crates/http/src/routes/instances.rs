//! Who shares the polling.

use axum::extract::State;
use mainstay_monitor::shards::InstancesView;

use super::Refusal;
use crate::error::Error;
use crate::extract::Json;
use crate::router::SharedState;

/// Who polls what, how old their leases are, and how late they are
///
/// All hosts are divided into 64 shards, and each shard has one owner. Those that are gone are kept for
/// a day.
#[utoipa::path(
    get, path = "/api/instances", operation_id = "list_instances", tag = "instances",
    responses((status = 200, description = "Every instance", body = InstancesView), Refusal)
)]
pub(super) async fn list(State(state): State<SharedState>) -> Result<Json<InstancesView>, Error> {
    Ok(Json(state.monitor.instances.list().await?))
}
