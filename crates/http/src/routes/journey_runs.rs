//! Runs of journeys.

use axum::extract::State;
use axum::http::StatusCode;
use mainstay_base::Id;
use mainstay_journeys::EditedJourney;
use mainstay_journeys::kept::{RunDetail, RunView};

use super::Refusal;
use super::journeys::edit;
use crate::error::Error;
use crate::extract::{CameFrom, Json, ListQuery, NoBody, Page, Path, Query, SignedIn, page_ask};
use crate::router::SharedState;

/// Run a journey now
///
/// Whatever its schedule says, also when it is switched off. One run of a journey goes at a time.
#[utoipa::path(
    post, path = "/api/journeys/{id}/run", operation_id = "run_journey", tag = "journeys",
    params(("id" = String, Path, description = "The journey")),
    responses((status = 202, description = "The run, which waits for a runner", body = RunView), Refusal)
)]
pub(super) async fn run(
    State(state): State<SharedState>,
    SignedIn(editor): SignedIn,
    CameFrom(source): CameFrom,
    Path(id): Path<Id>,
    NoBody: NoBody,
) -> Result<(StatusCode, Json<RunView>), Error> {
    let (journeys, mut begun) = (&state.journeys, None);
    edit(&state, &editor, source, "journey.run", async |tx, _| {
        let run = journeys.run_now(tx, id).await?;
        let name = run.journey_name.clone();
        begun = Some(run);
        Ok(EditedJourney { id, name })
    })
    .await?;
    let run = begun.ok_or_else(|| Error::internal("a run was begun and is not there"))?;
    Ok((StatusCode::ACCEPTED, Json(run)))
}

/// Cancel a run
///
/// Whether it waits or is under way, and on whichever instance; it is `aborted` at once. The record of what was done
/// by then is added within a second or two, and told by `journey:run_progressed`. A run that has ended is refused
/// with `run_ended`.
#[utoipa::path(
    post, path = "/api/runs/{id}/cancel", operation_id = "cancel_run", tag = "journeys",
    params(("id" = String, Path, description = "The run")),
    responses((status = 200, description = "The run as it is now", body = RunView), Refusal)
)]
pub(super) async fn cancel(
    State(state): State<SharedState>,
    SignedIn(editor): SignedIn,
    CameFrom(source): CameFrom,
    Path(id): Path<Id>,
    NoBody: NoBody,
) -> Result<Json<RunView>, Error> {
    let (journeys, mut ended) = (&state.journeys, None);
    edit(&state, &editor, source, "journey.cancel", async |tx, out| {
        let run = journeys.cancel(tx, out, id).await?;
        let edited = EditedJourney { id: run.journey_id, name: run.journey_name.clone() };
        ended = Some(run);
        Ok(edited)
    })
    .await?;
    let run = ended.ok_or_else(|| Error::internal("a run was cancelled and is not there"))?;
    Ok(Json(run))
}

/// The runs of a journey, newest first
#[utoipa::path(
    get, path = "/api/journeys/{id}/runs", operation_id = "list_journey_runs", tag = "journeys",
    params(("id" = String, Path, description = "The journey"), ListQuery),
    responses((status = 200, description = "A page of runs", body = Page<RunView>), Refusal)
)]
pub(super) async fn list(
    State(state): State<SharedState>,
    Path(id): Path<Id>,
    Query(query): Query<ListQuery>,
) -> Result<Json<Page<RunView>>, Error> {
    let ask = page_ask(query.limit, query.cursor.as_ref())?;
    let limit = super::services::items(query.limit);
    let part = state.journeys.runs(id, ask.after, limit).await?;
    let next_cursor = part.next.map(|id| id.to_string());
    Ok(Json(Page { items: part.items, next_cursor }))
}

/// A run with what came of each step
///
/// While it is under way, how far it is stands in `progress`, and `journey:run_progressed` tells when there is more.
#[utoipa::path(
    get, path = "/api/runs/{id}", operation_id = "get_run", tag = "journeys",
    params(("id" = String, Path, description = "The run")),
    responses((status = 200, description = "The run", body = RunDetail), Refusal)
)]
pub(super) async fn find(
    State(state): State<SharedState>,
    Path(id): Path<Id>,
) -> Result<Json<RunDetail>, Error> {
    Ok(Json(state.journeys.run(id).await?))
}
