//! Whether most workers fail at once, so that nothing is believed of them yet.

use axum::extract::State;
use mainstay_base::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::Refusal;
use crate::error::Error;
use crate::extract::Json;
use crate::router::SharedState;

/// Whether the fleet doubts itself.
#[derive(Serialize, ToSchema)]
pub(super) struct FleetDoubt {
    /// What the last round found, while nothing is done about it; null most of the time.
    #[schema(required)]
    mass_failure: Option<MassFailure>,
}

/// Most workers of all users failed in one round.
#[derive(Serialize, ToSchema)]
pub(super) struct MassFailure {
    /// Workers that were asked in the last round.
    asked: u64,
    /// Those that did not answer.
    failed: u64,
    /// Since when it is so.
    #[schema(value_type = String, format = DateTime)]
    since: Timestamp,
}

/// Whether most workers fail at once
///
/// Then no state changes until a provider can be reached or the next round agrees. The events
/// `fleet_mass_failure` and `fleet_mass_failure_over` tell when that begins and ends.
#[utoipa::path(
    get, path = "/api/workers/mass-failure", operation_id = "get_mass_failure", tag = "fleet",
    responses((status = 200, description = "As it is now", body = FleetDoubt), Refusal)
)]
pub(super) async fn read(State(state): State<SharedState>) -> Result<Json<FleetDoubt>, Error> {
    let found = state.fleet.mass_failure().await?;
    let mass_failure = found.map(|found| {
        let mainstay_fleet::MassFailure { asked, failed, since } = found;
        MassFailure { asked, failed, since }
    });
    Ok(Json(FleetDoubt { mass_failure }))
}
