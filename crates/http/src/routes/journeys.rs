//! Journeys: whether a user's path still works.

use axum::extract::State;
use axum::http::StatusCode;
use mainstay_accounts::{Caller, Role, Source};
use mainstay_base::Id;
use mainstay_events::Outbox;
use mainstay_journeys::kept::{FailingJourney, JourneyCheck, JourneyDetail, JourneyView};
use mainstay_journeys::{EditedJourney, JourneyEdit};
use mainstay_store::Tx;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use super::Refusal;
use crate::error::Error;
use crate::extract::{CameFrom, Json, ListQuery, Page, Path, Query, SignedIn, page_ask};
use crate::router::SharedState;

/// A journey to keep.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewJourney {
    /// Its file, as YAML.
    #[schema(
        example = "journey: sign in\nevery: 1m\nsteps:\n  - id: page\n    get: \"https://shop.example.org/login\"\n    expect: { status: 200 }\n"
    )]
    source: String,
    /// Whether it runs on its schedule; true unless given.
    is_enabled: Option<bool>,
}

/// What to change of a journey; what is left out stays.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct JourneyChange {
    /// Its file, as YAML.
    source: Option<String>,
    /// Whether it runs on its schedule.
    is_enabled: Option<bool>,
    /// The generation that was edited: when somebody else has changed it since, this change is refused.
    generation: Option<i64>,
}

/// A file to look over.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct JourneySource {
    /// The file, as YAML.
    source: String,
}

/// The journeys, newest first
#[utoipa::path(
    get, path = "/api/journeys", operation_id = "list_journeys", tag = "journeys",
    params(ListQuery),
    responses((status = 200, description = "A page of journeys", body = Page<JourneyView>), Refusal)
)]
pub(super) async fn list(
    State(state): State<SharedState>,
    Query(query): Query<ListQuery>,
) -> Result<Json<Page<JourneyView>>, Error> {
    let ask = page_ask(query.limit, query.cursor.as_ref())?;
    let limit = super::services::items(query.limit);
    let part = state.journeys.list(ask.after, limit).await?;
    let next_cursor = part.next.map(|id| id.to_string());
    Ok(Json(Page { items: part.items, next_cursor }))
}

/// The journeys that are failing, the longest first
#[utoipa::path(
    get, path = "/api/journeys/failing", operation_id = "failing_journeys", tag = "journeys",
    responses((status = 200, description = "All of them", body = Page<FailingJourney>), Refusal)
)]
pub(super) async fn failing(
    State(state): State<SharedState>,
) -> Result<Json<Page<FailingJourney>>, Error> {
    Ok(Json(Page { items: state.journeys.failing().await?, next_cursor: None }))
}

/// Look a file over
///
/// Every mistake comes with its line, its column and the name that was probably meant. Nothing is kept.
#[utoipa::path(
    post, path = "/api/journeys/check", operation_id = "check_journey", tag = "journeys",
    request_body = JourneySource,
    responses((status = 200, description = "What it says, or what is wrong with it", body = JourneyCheck), Refusal)
)]
pub(super) async fn check(
    State(state): State<SharedState>,
    Json(asked): Json<JourneySource>,
) -> Result<Json<JourneyCheck>, Error> {
    Ok(Json(state.journeys.check(&asked.source)))
}

/// Keep a journey
///
/// Its first run is due at once.
#[utoipa::path(
    post, path = "/api/journeys", operation_id = "create_journey", tag = "journeys",
    request_body = NewJourney,
    responses((status = 201, description = "The journey", body = JourneyDetail), Refusal)
)]
pub(super) async fn create(
    State(state): State<SharedState>,
    SignedIn(editor): SignedIn,
    CameFrom(source): CameFrom,
    Json(new): Json<NewJourney>,
) -> Result<(StatusCode, Json<JourneyDetail>), Error> {
    let (journeys, is_enabled) = (&state.journeys, new.is_enabled.unwrap_or(true));
    let made = edit(&state, &editor, source, "journey.create", async |tx, out| {
        Ok(journeys.create(tx, out, &new.source, is_enabled).await?)
    });
    let made = made.await?;
    Ok((StatusCode::CREATED, Json(journeys.find(made.id).await?)))
}

/// A journey with its source
#[utoipa::path(
    get, path = "/api/journeys/{id}", operation_id = "get_journey", tag = "journeys",
    params(("id" = String, Path, description = "The journey")),
    responses((status = 200, description = "The journey", body = JourneyDetail), Refusal)
)]
pub(super) async fn find(
    State(state): State<SharedState>,
    Path(id): Path<Id>,
) -> Result<Json<JourneyDetail>, Error> {
    Ok(Json(state.journeys.find(id).await?))
}

/// Change a journey
#[utoipa::path(
    patch, path = "/api/journeys/{id}", operation_id = "change_journey", tag = "journeys",
    params(("id" = String, Path, description = "The journey")),
    request_body = JourneyChange,
    responses((status = 200, description = "The journey as it is now", body = JourneyDetail), Refusal)
)]
pub(super) async fn change(
    State(state): State<SharedState>,
    SignedIn(editor): SignedIn,
    CameFrom(source): CameFrom,
    Path(id): Path<Id>,
    Json(change): Json<JourneyChange>,
) -> Result<Json<JourneyDetail>, Error> {
    let JourneyChange { source: text, is_enabled, generation } = change;
    let (journeys, change) =
        (&state.journeys, JourneyEdit { source: text, is_enabled, generation });
    edit(&state, &editor, source, "journey.change", async |tx, out| {
        Ok(journeys.change(tx, out, id, change).await?)
    })
    .await?;
    Ok(Json(journeys.find(id).await?))
}

/// Delete a journey
///
/// Its runs go with it; one that is under way is ended.
#[utoipa::path(
    delete, path = "/api/journeys/{id}", operation_id = "delete_journey", tag = "journeys",
    params(("id" = String, Path, description = "The journey")),
    responses((status = 204, description = "It is gone"), Refusal)
)]
pub(super) async fn remove(
    State(state): State<SharedState>,
    SignedIn(editor): SignedIn,
    CameFrom(source): CameFrom,
    Path(id): Path<Id>,
) -> Result<StatusCode, Error> {
    let journeys = &state.journeys;
    edit(&state, &editor, source, "journey.delete", async |tx, out| {
        Ok(journeys.remove(tx, out, id).await?)
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Writes an edit with its line in the audit log.
pub(super) async fn edit(
    state: &SharedState,
    editor: &Caller,
    source: Source,
    action: &'static str,
    work: impl AsyncFnOnce(&mut Tx, &mut Outbox) -> Result<EditedJourney, Error>,
) -> Result<EditedJourney, Error> {
    let (accounts, events) = (&state.accounts, &state.live.events);
    events
        .write(async |tx, out| {
            accounts.confirm(tx, editor, Role::Editor).await?;
            let edited = work(tx, out).await?;
            let target = ("journey", Some(edited.id));
            let detail = json!({"name": edited.name});
            accounts.note(tx, editor, source, action, target, detail).await?;
            Ok(edited)
        })
        .await
}
