//! Everything at a glance: the board, its strips, and the wallboard.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use mainstay_base::{Id, IdError};
use mainstay_monitor::answer::Answer;
use mainstay_monitor::views::board::MAX_STRIPS;
use mainstay_monitor::views::{Board, Strips, Wallboard};
use serde::Deserialize;

use super::Refusal;
use super::kept::answer;
use crate::error::Error;
use crate::extract::Query;
use crate::router::SharedState;

/// Whose strips are asked for.
#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct StripsQuery {
    /// The services, up to 100, with commas between them.
    #[param(value_type = String, example = "019a8b3c-0000-7000-8000-000000000000")]
    ids: Ids,
}

/// Ids with commas between them, each once.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct Ids(Vec<Id>);

/// A text that names no services.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum IdsError {
    #[error("`ids` names more than {MAX_STRIPS} services; ask for those on screen")]
    TooMany,
    #[error("`ids` holds what is {0}")]
    NoId(#[from] IdError),
}

/// Every service in one line
///
/// It has a tag: who sends it back as `If-None-Match` is told by 304 that nothing has changed.
#[utoipa::path(
    get, path = "/api/board", operation_id = "get_board", tag = "board",
    responses(
        (status = 200, description = "Every service, by name", body = Board),
        (status = 304, description = "Nothing has changed"),
        Refusal
    )
)]
pub(super) async fn board(
    State(state): State<SharedState>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    Ok(answer(&*state.monitor.views.board().await?, &headers))
}

/// How services were over the last day
///
/// It has a tag: who sends it back as `If-None-Match` is told by 304 that nothing has changed.
#[utoipa::path(
    get, path = "/api/board/strips", operation_id = "get_strips", tag = "board",
    params(StripsQuery),
    responses(
        (status = 200, description = "A strip for each service", body = Strips),
        (status = 304, description = "Nothing has changed"),
        Refusal
    )
)]
pub(super) async fn strips(
    State(state): State<SharedState>,
    Query(StripsQuery { ids: Ids(ids) }): Query<StripsQuery>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    let strips = state.monitor.views.strips(&ids).await?;
    Ok(answer(&Answer::written(move || strips).await?, &headers))
}

/// What everything leans on, by name, the worst first
///
/// It has a tag: who sends it back as `If-None-Match` is told by 304 that nothing has changed.
#[utoipa::path(
    get, path = "/api/wallboard", operation_id = "get_wallboard", tag = "board",
    responses(
        (status = 200, description = "Dependencies by canonical name", body = Wallboard),
        (status = 304, description = "Nothing has changed"),
        Refusal
    )
)]
pub(super) async fn wallboard(
    State(state): State<SharedState>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    Ok(answer(&*state.monitor.views.wallboard().await?, &headers))
}

impl TryFrom<String> for Ids {
    type Error = IdsError;

    fn try_from(text: String) -> Result<Self, IdsError> {
        let mut ids = Vec::new();
        for part in text.split(',') {
            let id: Id = part.parse()?;
            if !ids.contains(&id) {
                ids.push(id);
            }
            if ids.len() > MAX_STRIPS {
                return Err(IdsError::TooMany);
            }
        }
        Ok(Self(ids))
    }
}
