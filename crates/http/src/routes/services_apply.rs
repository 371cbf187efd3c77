//! Configuration as code: everything that is watched as one document, read and applied.

use std::collections::HashSet;

use axum::extract::State;
use mainstay_accounts::Role;
use mainstay_monitor::desired::{
    Action, Applied, Desired, DesiredError, Document, MAX_DOCUMENT_BYTES, Plan, PlanView, Wanted,
};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::Refusal;
use super::judging::{JUDGING_TIME, first_blocked};
use crate::error::{Error, echo};
use crate::extract::{CameFrom, Json, LargeJson, SignedIn};
use crate::router::SharedState;

/// The most changes that the audit log names.
const MAX_NOTED: usize = 20;

/// A document to apply.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ServicesApply {
    /// What is wanted.
    document: Document,
    /// Only tell what would change.
    #[serde(default)]
    #[schema(required = false)]
    dry_run: bool,
    /// Also remove services, aliases and links that the document does not name, from each part that
    /// names something.
    #[serde(default)]
    #[schema(required = false)]
    prune: bool,
}

/// Everything that is watched, as one document
///
/// Values of headers are never in it: `null` stands in their place, which keeps them when the document
/// is applied where they are stored.
#[utoipa::path(
    get, path = "/api/services/export", operation_id = "export_services", tag = "services",
    responses((status = 200, description = "The whole document", body = Document), Refusal)
)]
pub(super) async fn export(State(state): State<SharedState>) -> Result<Json<Document>, Error> {
    Ok(Json(desired(&state).export().await?))
}

/// Apply a document
///
/// All of it or nothing, in one transaction. An error names the item that it is about.
#[utoipa::path(
    post, path = "/api/services/apply", operation_id = "apply_services", tag = "services",
    request_body = ServicesApply,
    responses((status = 200, description = "What was changed, or would be", body = Applied), Refusal)
)]
pub(super) async fn apply(
    State(state): State<SharedState>,
    SignedIn(editor): SignedIn,
    CameFrom(source): CameFrom,
    LargeJson(ask): LargeJson<ServicesApply, MAX_DOCUMENT_BYTES>,
) -> Result<Json<Applied>, Error> {
    let ServicesApply { document, dry_run, prune } = ask;
    let wanted = Wanted::check(document)?;
    let desired = desired(&state);
    let plan = desired.look(&wanted, prune).await?;
    let judged = judge(&state, &plan).await?;
    if dry_run || plan.is_empty() {
        return Ok(Json(Applied { applied: false, plan: plan.view() }));
    }
    let (accounts, events) = (&state.accounts, &state.live.events);
    let done = events.write(async |tx, out| {
        accounts.confirm(tx, &editor, Role::Editor).await?;
        let done = desired.apply(tx, out, &wanted, prune, &judged).await?.view();
        let target = ("services", None);
        // Somebody else may have done all of it meanwhile.
        if !done.changes.is_empty() {
            let detail = noted(&done, prune);
            accounts.note(tx, &editor, source, "services.apply", target, detail).await?;
        }
        Ok::<_, Error>(done)
    });
    let plan = done.await?;
    Ok(Json(Applied { applied: !plan.changes.is_empty(), plan }))
}

fn desired(state: &SharedState) -> Desired {
    Desired::new(state.monitor.services.clone(), state.monitor.aliases.clone())
}

/// Refuses addresses that would never be called, and tells which were looked at.
async fn judge(state: &SharedState, plan: &Plan) -> Result<HashSet<String>, Error> {
    let mut looked_at = HashSet::new();
    let mut addresses = Vec::new();
    for (item, url) in plan.addresses() {
        if looked_at.insert(url.to_owned()) {
            addresses.push((item, url.to_owned()));
        }
    }
    match first_blocked(&*state.monitor.fetch, addresses, JUDGING_TIME).await {
        Some((item, failure)) => {
            let why = failure.message.trim_end_matches('.').to_owned();
            Err(DesiredError::blocked(item, why).into())
        }
        None => Ok(looked_at),
    }
}

/// What the audit log keeps of it.
fn noted(plan: &PlanView, prune: bool) -> Value {
    let names = plan.changes.iter().take(MAX_NOTED);
    let names = names.map(|change| format!("{} {}", change.kind, echo(&change.name)));
    json!({
        "added": plan.count(Action::Add),
        "changed": plan.count(Action::Change),
        "removed": plan.count(Action::Remove),
        "prune": prune,
        "names": names.collect::<Vec<_>>(),
    })
}
