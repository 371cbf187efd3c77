//! The form by which strangers ask for access.

use axum::extract::State;
use axum::http::StatusCode;
use mainstay_accounts::FilledForm;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Refusal;
use crate::error::Error;
use crate::extract::{CameFrom, Json};
use crate::router::SharedState;

/// What a form carries back.
#[derive(Serialize, ToSchema)]
pub(super) struct FormStamp {
    /// When the form was loaded, signed. Valid for 24 hours.
    #[schema(example = "1794776400007.q83vEjRWeJq83vEjRWeJq83vEjRWeJq83vEjRWeJq8w")]
    client_ts: String,
}

/// A filled-in form.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AccessForm {
    /// Who asks.
    #[schema(example = "ada@example.com")]
    email: String,
    /// Their name, in up to 100 characters.
    name: Option<String>,
    /// Their company, in up to 100 characters.
    company: Option<String>,
    /// What they write, in up to 2000 characters.
    note: Option<String>,
    /// Left empty: people do not see it.
    website: Option<String>,
    /// What the form was loaded with.
    client_ts: String,
}

/// That a form was received, whatever became of it.
#[derive(Serialize, ToSchema)]
pub(super) struct Received {
    /// Always `received`.
    status: ReceivedStatus,
}

/// That a form was received.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ReceivedStatus {
    Received,
}

/// Load the form
#[utoipa::path(
    get, path = "/api/access-requests/form", operation_id = "get_access_request_form", tag = "access",
    responses((status = 200, description = "What the form carries back", body = FormStamp), Refusal)
)]
pub(super) async fn form(State(state): State<SharedState>) -> Json<FormStamp> {
    Json(FormStamp { client_ts: state.accounts.form_stamp() })
}

/// Ask for access
///
/// The answer is the same whether the request was taken, known already or dropped.
#[utoipa::path(
    post, path = "/api/access-requests", operation_id = "request_access", tag = "access",
    request_body = AccessForm,
    responses((status = 202, description = "Received", body = Received), Refusal)
)]
pub(super) async fn request(
    State(state): State<SharedState>,
    CameFrom(source): CameFrom,
    Json(form): Json<AccessForm>,
) -> Result<(StatusCode, Json<Received>), Error> {
    let AccessForm { email, name, company, note, website, client_ts } = form;
    let form = FilledForm { email, name, company, note, website, client_ts };
    state.accounts.request_access(form, source).await?;
    Ok((StatusCode::ACCEPTED, Json(Received { status: ReceivedStatus::Received })))
}
