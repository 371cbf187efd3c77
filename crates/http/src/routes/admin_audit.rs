//! Who did what to which thing.

use axum::extract::State;
use mainstay_accounts::{AuditEntry, AuditFilter};
use mainstay_base::replace_nul;
use serde::Deserialize;

use super::Refusal;
use crate::error::Error;
use crate::extract::{Cursor, Json, Limit, Page, Query, page_ask};
use crate::router::SharedState;

/// Which lines are asked for. An empty filter is none.
#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct AuditQuery {
    /// Only those of this action.
    #[param(example = "invite.create")]
    action: Option<String>,
    /// Only those by the user with this e-mail address.
    #[param(example = "ada@example.com")]
    actor: Option<String>,
    /// Only those about the thing with this id.
    target: Option<String>,
    /// How many items at most.
    #[serde(default)]
    #[param(value_type = u16, required = false, minimum = 1, maximum = 200, default = 50)]
    limit: Limit,
    /// Where the page begins: `next_cursor` of the page before it.
    #[param(value_type = Option<String>)]
    cursor: Option<Cursor>,
}

/// The audit log, newest first
#[utoipa::path(
    get, path = "/api/admin/audit", operation_id = "list_audit", tag = "admin",
    params(AuditQuery),
    responses((status = 200, description = "Who did what", body = Page<AuditEntry>), Refusal)
)]
pub(super) async fn list(
    State(state): State<SharedState>,
    Query(query): Query<AuditQuery>,
) -> Result<Json<Page<AuditEntry>>, Error> {
    let AuditQuery { action, actor, target, limit, cursor } = query;
    let filter = AuditFilter {
        action: word(action),
        // As accounts are known.
        actor: word(actor).map(|actor| actor.to_lowercase()),
        target: word(target),
    };
    let ask = page_ask(limit, cursor.as_ref())?;
    Ok(Json(state.accounts.audit_log(&filter, ask).await?.into()))
}

fn word(given: Option<String>) -> Option<String> {
    let given = given?;
    let word = replace_nul(given.trim());
    (!word.is_empty()).then(|| word.into_owned())
}
