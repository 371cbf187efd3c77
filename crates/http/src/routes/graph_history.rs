//! A span of the past, for whoever goes to and fro in it.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use mainstay_base::Timestamp;
use mainstay_monitor::answer::Answer;
use mainstay_monitor::past::history::Place;
use mainstay_monitor::past::{Asked, HistoryPage};
use serde::Deserialize;

use super::Refusal;
use super::kept::answer;
use crate::code::Code;
use crate::error::Error;
use crate::extract::{Cursor, Query};
use crate::router::SharedState;

/// Which span is asked for.
#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct HistoryQuery {
    /// Where it begins.
    #[param(value_type = String, format = DateTime, example = "2026-11-15T21:00:00.000Z")]
    from: Timestamp,
    /// Where it ends: up to 31 days later, and not after now.
    #[param(value_type = String, format = DateTime, example = "2026-11-15T22:00:00.000Z")]
    to: Timestamp,
    /// Where the page begins: `next_cursor` of the page before it.
    #[param(value_type = Option<String>)]
    cursor: Option<Cursor>,
    /// Of more changes than these, up to 100 000, only the newest: the span begins later then, as `from` of the first
    /// page says.
    #[param(minimum = 1, maximum = 100_000)]
    most: Option<u32>,
}

/// How everything was when a span begins, and what changed in it
///
/// The first page has the state, and all of them what changed, oldest first. Before there were records
/// the state is empty; `records_since` tells since when there are.
#[utoipa::path(
    get, path = "/api/graph/history", operation_id = "get_graph_history", tag = "graph",
    params(HistoryQuery),
    responses(
        (status = 200, description = "A page of the span", body = HistoryPage),
        (status = 304, description = "It is as it was when it was last asked for"),
        Refusal
    )
)]
pub(super) async fn history(
    State(state): State<SharedState>,
    Query(HistoryQuery { from, to, cursor, most }): Query<HistoryQuery>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    let after = cursor.map(|cursor| cursor.as_str().parse::<Place>()).transpose();
    let after = after.map_err(|error| {
        Error::new(Code::InvalidQuery, format!("The query is not as expected: {error}."))
    })?;
    let page = state.monitor.past.history(Asked { from, to, after, most }).await?;
    Ok(answer(&Answer::written(move || page).await?, &headers))
}
