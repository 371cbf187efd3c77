//! What this Mainstay is and how it fares.

use axum::extract::State;
use mainstay_base::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::Refusal;
use crate::error::Error;
use crate::extract::Json;
use crate::router::SharedState;
use crate::surface::{SystemCheck, SystemDatabase};

/// What this Mainstay is and how it fares.
#[derive(Serialize, ToSchema)]
pub(super) struct System {
    /// The version of the release.
    #[schema(example = "0.1.0")]
    version: &'static str,
    /// The commit it was built from, where that is known.
    #[schema(required)]
    commit: Option<&'static str>,
    /// Whether what it watches is made up: `mainstay demo`.
    is_demo: bool,
    /// When it started.
    #[schema(value_type = String, format = DateTime)]
    started_at: Timestamp,
    /// What its clock says.
    #[schema(value_type = String, format = DateTime)]
    now: Timestamp,
    /// The database that is in use.
    database: SystemDatabase,
    /// What was looked at.
    checks: Vec<SystemCheck>,
}

/// What is this Mainstay, and how does it fare?
#[utoipa::path(
    get, path = "/api/system", operation_id = "get_system", tag = "system",
    responses((status = 200, description = "Its build, its database and its checks", body = System), Refusal)
)]
pub(super) async fn system(State(state): State<SharedState>) -> Result<Json<System>, Error> {
    let checks = state.shared_probe.checks().await?.to_vec();
    Ok(Json(System {
        version: state.build.version,
        commit: state.build.commit,
        is_demo: state.site.is_demo,
        started_at: state.started_at,
        now: state.clock.now(),
        database: state.probe.database(),
        checks,
    }))
}
