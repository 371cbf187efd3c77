//! What is set.

use axum::extract::State;

use super::Refusal;
use crate::extract::{Json, Page};
use crate::router::SharedState;
use crate::settings::SettingView;

/// Every setting of the instance that answers, where it comes from and what it means
///
/// As `mainstay serve --print-config` shows them, by key, secrets masked, without those of the command
/// line's client. They are changed by flags, the environment or the configuration file, not here.
#[utoipa::path(
    get, path = "/api/admin/settings", operation_id = "list_settings", tag = "admin",
    responses((status = 200, description = "Every setting", body = Page<SettingView>), Refusal)
)]
pub(super) async fn list(State(state): State<SharedState>) -> Json<Page<SettingView>> {
    Json(Page { items: state.settings.to_vec(), next_cursor: None })
}
