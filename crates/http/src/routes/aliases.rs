//! Aliases: several reported names for one thing.

use axum::extract::State;
use axum::http::StatusCode;
use mainstay_accounts::{Caller, Role, Source};
use mainstay_base::Id;
use mainstay_events::Outbox;
use mainstay_monitor::aliases::{Alias, AliasName, CanonicalName};
use mainstay_store::Tx;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use super::Refusal;
use crate::error::Error;
use crate::extract::{CameFrom, Json, ListQuery, Page, Path, Query, SignedIn, page_ask};
use crate::router::SharedState;

/// A reported name, and the one that it stands for.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewAlias {
    /// The name, exactly as services report it: 1 to 255 characters.
    #[schema(example = "orders-db")]
    alias: String,
    /// The name that it stands for: 1 to 255 characters.
    #[schema(example = "Orders database")]
    canonical_name: String,
}

/// What to change of an alias; what is left out stays.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AliasChange {
    /// The name, exactly as services report it.
    alias: Option<String>,
    /// The name that it stands for.
    canonical_name: Option<String>,
}

/// The aliases, newest first
#[utoipa::path(
    get, path = "/api/aliases", operation_id = "list_aliases", tag = "dependencies",
    params(ListQuery),
    responses((status = 200, description = "A page of aliases", body = Page<Alias>), Refusal)
)]
pub(super) async fn list(
    State(state): State<SharedState>,
    Query(query): Query<ListQuery>,
) -> Result<Json<Page<Alias>>, Error> {
    let ask = page_ask(query.limit, query.cursor.as_ref())?;
    // One more than asked for tells that there is more.
    let more = ask.limit.saturating_add(1);
    let mut items = state.monitor.aliases.list(ask.after, more).await?;
    let has_more = items.len() > query.limit.items();
    items.truncate(query.limit.items());
    let next_cursor = items.last().filter(|_| has_more).map(|alias| alias.id.to_string());
    Ok(Json(Page { items, next_cursor }))
}

/// Give a reported name another one
///
/// Dependencies that are known go by it at once.
#[utoipa::path(
    post, path = "/api/aliases", operation_id = "create_alias", tag = "dependencies",
    request_body = NewAlias,
    responses((status = 201, description = "The alias", body = Alias), Refusal)
)]
pub(super) async fn create(
    State(state): State<SharedState>,
    SignedIn(editor): SignedIn,
    CameFrom(source): CameFrom,
    Json(new): Json<NewAlias>,
) -> Result<(StatusCode, Json<Alias>), Error> {
    let alias = AliasName::parse(&new.alias)?;
    let canonical = CanonicalName::parse(&new.canonical_name)?;
    let aliases = &state.monitor.aliases;
    let made = edit(&state, &editor, source, "alias.create", async |tx, out| {
        Ok(aliases.create(tx, out, alias, canonical).await?)
    });
    Ok((StatusCode::CREATED, Json(made.await?)))
}

/// Change an alias
#[utoipa::path(
    patch, path = "/api/aliases/{id}", operation_id = "change_alias", tag = "dependencies",
    params(("id" = String, Path, description = "The alias")),
    request_body = AliasChange,
    responses((status = 200, description = "The alias as it is now", body = Alias), Refusal)
)]
pub(super) async fn change(
    State(state): State<SharedState>,
    SignedIn(editor): SignedIn,
    CameFrom(source): CameFrom,
    Path(id): Path<Id>,
    Json(change): Json<AliasChange>,
) -> Result<Json<Alias>, Error> {
    let alias = change.alias.as_deref().map(AliasName::parse).transpose()?;
    let canonical = change.canonical_name.as_deref().map(CanonicalName::parse).transpose()?;
    let aliases = &state.monitor.aliases;
    let changed = edit(&state, &editor, source, "alias.change", async |tx, out| {
        Ok(aliases.change(tx, out, id, alias, canonical).await?)
    });
    Ok(Json(changed.await?))
}

/// Delete an alias
///
/// Its dependencies go by their own names again.
#[utoipa::path(
    delete, path = "/api/aliases/{id}", operation_id = "delete_alias", tag = "dependencies",
    params(("id" = String, Path, description = "The alias")),
    responses((status = 204, description = "It is gone"), Refusal)
)]
pub(super) async fn remove(
    State(state): State<SharedState>,
    SignedIn(editor): SignedIn,
    CameFrom(source): CameFrom,
    Path(id): Path<Id>,
) -> Result<StatusCode, Error> {
    let aliases = &state.monitor.aliases;
    edit(&state, &editor, source, "alias.delete", async |tx, out| {
        Ok(aliases.delete(tx, out, id).await?)
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Writes an edit with its line in the audit log.
async fn edit(
    state: &SharedState,
    editor: &Caller,
    source: Source,
    action: &'static str,
    work: impl AsyncFnOnce(&mut Tx, &mut Outbox) -> Result<Alias, Error>,
) -> Result<Alias, Error> {
    let (accounts, events) = (&state.accounts, &state.live.events);
    events
        .write(async |tx, out| {
            accounts.confirm(tx, editor, Role::Editor).await?;
            let alias = work(tx, out).await?;
            let target = ("alias", Some(alias.id));
            let detail = json!({"alias": alias.alias, "canonical_name": alias.canonical_name});
            accounts.note(tx, editor, source, action, target, detail).await?;
            Ok(alias)
        })
        .await
}
