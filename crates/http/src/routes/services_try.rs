//! Polls at once, how polls turned out, and a mapping tried out.

use axum::extract::State;
use mainstay_accounts::Role;
use mainstay_base::Id;
use mainstay_monitor::polling::{PollAnswer, PollErrorView};
use mainstay_monitor::services::definition::format_of;
use mainstay_monitor::services::{AddressError, check_address};
use mainstay_monitor::views::PollHistoryItem;
use mainstay_monitor::{DependencyStatus, FailureKind, Format, PollFailure, Report, Reported};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::Refusal;
use super::services::{items, no_service, page, place};
use crate::code::Code;
use crate::error::Error;
use crate::extract::{CameFrom, Json, ListQuery, Page, Path, Query, SignedIn};
use crate::router::SharedState;

/// A mapping to try out, on what an address answers or on a sample.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SchemaTrial {
    /// Where to ask; give this or `body`.
    #[schema(example = "https://orders.example.org/health")]
    url: Option<String>,
    /// A sample of an answer, as text; give this or `url`.
    body: Option<String>,
    /// How to read it: `proactive-deps` (the default), `schema` or `status`.
    #[schema(example = "schema")]
    format: Option<String>,
    /// Where in the answer the dependencies stand: for the format `schema` only.
    #[schema(value_type = Option<Object>)]
    schema_config: Option<Value>,
}

/// What a mapping makes of an answer.
#[derive(Serialize, ToSchema)]
pub(super) struct SchemaTrialAnswer {
    /// Whether the answer could be read.
    success: bool,
    /// The dependencies that it names.
    dependencies: Vec<TriedDependency>,
    /// What of it could not be read.
    warnings: Vec<String>,
    /// Why it could not be read at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<PollErrorView>,
}

/// A dependency as it would be recorded.
#[derive(Serialize, ToSchema)]
pub(super) struct TriedDependency {
    /// Its name.
    name: String,
    /// What kind of thing it is.
    #[serde(rename = "type")]
    kind: String,
    /// How it is.
    status: DependencyStatus,
    /// What the service says of it.
    healthy: bool,
    /// How bad it is: 0 fine, 1 degraded, 2 down.
    state: i64,
    /// The status code of the check.
    code: i64,
    /// How long the check took; 0 when the service does not say.
    latency_ms: f64,
    /// Whether the service leaves it out of its judgement.
    skipped: bool,
    /// What it is for.
    #[schema(required)]
    description: Option<String>,
    /// What breaks without it.
    #[schema(required)]
    impact: Option<String>,
    /// What went wrong, in words.
    #[schema(required)]
    error_message: Option<String>,
}

/// Poll a service now
///
/// It waits until the result is recorded. An open breaker is no obstacle: this is its probe.
#[utoipa::path(
    post, path = "/api/services/{id}/poll", operation_id = "poll_service", tag = "services",
    params(("id" = String, Path, description = "The service")),
    responses((status = 200, description = "What the poll brought", body = PollAnswer), Refusal)
)]
pub(super) async fn poll(
    State(state): State<SharedState>,
    SignedIn(editor): SignedIn,
    CameFrom(source): CameFrom,
    Path(id): Path<Id>,
) -> Result<Json<PollAnswer>, Error> {
    let (number, service) = state.monitor.views.service(id).await?.ok_or_else(no_service)?;
    let answer = state.monitor.polling.poll_now(number).await?;
    let detail = json!({"name": service.name, "success": answer.success});
    let accounts = &state.accounts;
    let noted = state.live.events.write(async |tx, _| {
        accounts.confirm(tx, &editor, Role::Editor).await?;
        let target = ("service", Some(id));
        accounts.note(tx, &editor, source, "service.poll", target, detail).await?;
        Ok::<_, Error>(())
    });
    noted.await?;
    Ok(Json(answer))
}

/// How polls of a service turned out, newest first
///
/// Only those that turned out otherwise than the one before are kept.
#[utoipa::path(
    get, path = "/api/services/{id}/poll-history", operation_id = "list_poll_history",
    tag = "services",
    params(("id" = String, Path, description = "The service"), ListQuery),
    responses((status = 200, description = "A page of polls", body = Page<PollHistoryItem>), Refusal)
)]
pub(super) async fn poll_history(
    State(state): State<SharedState>,
    Path(id): Path<Id>,
    Query(query): Query<ListQuery>,
) -> Result<Json<Page<PollHistoryItem>>, Error> {
    let after = place(query.cursor.as_ref())?;
    let part = state.monitor.views.poll_history(id, after, items(query.limit)).await?;
    Ok(Json(page(part.ok_or_else(no_service)?)))
}

/// Try a mapping out
///
/// Nothing is stored. What is wrong with the answer is part of this answer; only a mapping that can't
/// be used is refused.
#[utoipa::path(
    post, path = "/api/services/test-schema", operation_id = "test_schema", tag = "services",
    request_body = SchemaTrial,
    responses((status = 200, description = "What was read", body = SchemaTrialAnswer), Refusal)
)]
pub(super) async fn test_schema(
    State(state): State<SharedState>,
    Json(trial): Json<SchemaTrial>,
) -> Result<Json<SchemaTrialAnswer>, Error> {
    let format = format_of(trial.format.as_deref(), trial.schema_config.as_ref())?;
    let read = match (trial.url, trial.body) {
        (Some(url), None) => {
            let url = check_address(&url).map_err(|error| bad_url(&error))?;
            let fetched = state.monitor.fetch.fetch(&url).await;
            fetched.and_then(|body| read(&state, &format, &body))
        }
        (None, Some(body)) => read(&state, &format, body.as_bytes()),
        _ => {
            let detail = "Give either `url`, which is asked, or `body`, a sample of an answer.";
            return Err(Error::new(Code::InvalidBody, detail).with("field", "url"));
        }
    };
    Ok(Json(
        read.map_or_else(|failure| SchemaTrialAnswer::failed(&failure), SchemaTrialAnswer::read),
    ))
}

fn bad_url(error: &AddressError) -> Error {
    Error::new(Code::InvalidHealthEndpoint, format!("`url` is {error}.")).with("field", "url")
}

fn read(state: &SharedState, format: &Format, body: &[u8]) -> Result<Report, PollFailure> {
    let read = format.read(body, state.clock.now());
    read.map_err(|bad| PollFailure { kind: FailureKind::BadBody, message: bad.to_string() })
}

impl SchemaTrialAnswer {
    fn read(report: Report) -> Self {
        Self {
            success: true,
            warnings: report.warnings.iter().map(ToString::to_string).collect(),
            dependencies: report.dependencies.into_iter().map(TriedDependency::from).collect(),
            error: None,
        }
    }

    fn failed(failure: &PollFailure) -> Self {
        let error = Some(PollErrorView::from(failure));
        Self { success: false, dependencies: Vec::new(), warnings: Vec::new(), error }
    }
}

impl From<Reported> for TriedDependency {
    fn from(reported: Reported) -> Self {
        Self {
            status: reported.status(),
            name: reported.name,
            kind: reported.kind,
            healthy: reported.healthy,
            state: reported.state.number(),
            code: reported.code,
            latency_ms: reported.latency.as_secs_f64() * 1_000.0,
            skipped: reported.skipped,
            description: reported.description,
            impact: reported.impact,
            error_message: reported.error_message,
        }
    }
}
