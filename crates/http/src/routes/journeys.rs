//! Journeys: whether a user's path still works.

use axum::extract::State;
use axum::http::StatusCode;
use mainstay_accounts::{Caller, Role, Source};
use mainstay_base::Id;
use mainstay_events::Outbox;
use mainstay_journeys::kept::{FailingJourney, JourneyCheck, JourneyDetail, JourneyView};
use mainstay_journeys::{EditedJourney, JourneyEdit, ReadSource};
use mainstay_store::Tx;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::Refusal;
use crate::error::Error;
use crate::extract::{CameFrom, Cursor, Json, LargeJson, Limit, Page, Path, Query, SignedIn};
use crate::limits::MAX_JOURNEY_BODY_BYTES;
use crate::router::SharedState;

/// The longest text that journeys are searched for.
const MAX_SEARCH_CHARS: usize = 100;

/// Which journeys are asked for.
#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct JourneysQuery {
    /// Only those in whose name, state, last failure or services every word of this text is found, in any case.
    #[param(max_length = 100, example = "failing payments")]
    q: Option<String>,
    /// How many items at most.
    #[serde(default)]
    #[param(value_type = u16, required = false, minimum = 1, maximum = 200, default = 50)]
    limit: Limit,
    /// Where the page begins: `next_cursor` of the page before it.
    #[param(value_type = Option<String>)]
    cursor: Option<Cursor>,
}

/// A journey with all that its page shows.
#[derive(Serialize, ToSchema)]
pub(super) struct JourneyPage {
    /// The journey, with its source.
    #[serde(flatten)]
    detail: JourneyDetail,
    /// What is no mistake and still makes its runs fail, or their failure show nowhere.
    warnings: Vec<String>,
}

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

/// The journeys, the failing ones first
///
/// Then those that never ran, those that pass and those that are switched off, of each the newest first.
#[utoipa::path(
    get, path = "/api/journeys", operation_id = "list_journeys", tag = "journeys",
    params(JourneysQuery),
    responses((status = 200, description = "A page of journeys", body = Page<JourneyView>), Refusal)
)]
pub(super) async fn list(
    State(state): State<SharedState>,
    Query(query): Query<JourneysQuery>,
) -> Result<Json<Page<JourneyView>>, Error> {
    let search = super::services::search(query.q, MAX_SEARCH_CHARS)?.unwrap_or_default();
    let after = query.cursor.as_ref().map(|cursor| cursor.as_str().parse()).transpose()?;
    let limit = super::services::items(query.limit);
    let part = state.journeys.list(&search, after, limit).await?;
    let next_cursor = part.next.map(|place| place.to_string());
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
    LargeJson(asked): LargeJson<JourneySource, MAX_JOURNEY_BODY_BYTES>,
) -> Result<Json<JourneyCheck>, Error> {
    let mut check = state.journeys.check(&asked.source);
    if let Some(journey) = &check.journey {
        check.warnings.extend(unknown_services(&state, &journey.touches).await?);
    }
    Ok(Json(check))
}

/// Keep a journey
///
/// Its first run is due at once.
#[utoipa::path(
    post, path = "/api/journeys", operation_id = "create_journey", tag = "journeys",
    request_body = NewJourney,
    responses((status = 201, description = "The journey", body = JourneyPage), Refusal)
)]
pub(super) async fn create(
    State(state): State<SharedState>,
    SignedIn(editor): SignedIn,
    CameFrom(source): CameFrom,
    LargeJson(new): LargeJson<NewJourney, MAX_JOURNEY_BODY_BYTES>,
) -> Result<(StatusCode, Json<JourneyPage>), Error> {
    let (journeys, is_enabled) = (&state.journeys, new.is_enabled.unwrap_or(true));
    let read = ReadSource::read(&new.source)?;
    let made = edit(&state, &editor, source, "journey.create", async |tx, out| {
        Ok(journeys.create(tx, out, &read, is_enabled).await?)
    });
    let made = made.await?;
    Ok((StatusCode::CREATED, Json(whole(&state, made.id).await?)))
}

/// A journey with its source
#[utoipa::path(
    get, path = "/api/journeys/{id}", operation_id = "get_journey", tag = "journeys",
    params(("id" = String, Path, description = "The journey")),
    responses((status = 200, description = "The journey", body = JourneyPage), Refusal)
)]
pub(super) async fn find(
    State(state): State<SharedState>,
    Path(id): Path<Id>,
) -> Result<Json<JourneyPage>, Error> {
    Ok(Json(whole(&state, id).await?))
}

/// Change a journey
#[utoipa::path(
    patch, path = "/api/journeys/{id}", operation_id = "change_journey", tag = "journeys",
    params(("id" = String, Path, description = "The journey")),
    request_body = JourneyChange,
    responses((status = 200, description = "The journey as it is now", body = JourneyPage), Refusal)
)]
pub(super) async fn change(
    State(state): State<SharedState>,
    SignedIn(editor): SignedIn,
    CameFrom(source): CameFrom,
    Path(id): Path<Id>,
    LargeJson(change): LargeJson<JourneyChange, MAX_JOURNEY_BODY_BYTES>,
) -> Result<Json<JourneyPage>, Error> {
    let JourneyChange { source: text, is_enabled, generation } = change;
    let read = text.as_deref().map(ReadSource::read).transpose()?;
    let (journeys, change) =
        (&state.journeys, JourneyEdit { source: read, is_enabled, generation });
    edit(&state, &editor, source, "journey.change", async |tx, out| {
        Ok(journeys.change(tx, out, id, change).await?)
    })
    .await?;
    Ok(Json(whole(&state, id).await?))
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

/// The journey with what there is to say of it.
async fn whole(state: &SharedState, id: Id) -> Result<JourneyPage, Error> {
    let detail = state.journeys.find(id).await?;
    let mut warnings = state.journeys.warnings(&detail.source);
    warnings.extend(unknown_services(state, &detail.journey.touches).await?);
    Ok(JourneyPage { detail, warnings })
}

/// What is said of services that a journey names and nobody knows.
async fn unknown_services(state: &SharedState, touches: &[String]) -> Result<Vec<String>, Error> {
    let unknown = state.monitor.views.unknown(touches).await?;
    let warning = |name: &&str| {
        format!(
            "No service is called {name}, so that a failure of the journey does not show there. See touches."
        )
    };
    Ok(unknown.iter().map(warning).collect())
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
