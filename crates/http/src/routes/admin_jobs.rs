//! Background work: what waits, what runs, what failed, and what can be done about it.

use axum::extract::State;
use mainstay_accounts::{Caller, Role, Source};
use mainstay_base::{Id, Timestamp};
use mainstay_jobs::{JobFilter, JobView, JobsError, Kind, KindSummary, Status};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::Refusal;
use crate::error::Error;
use crate::extract::{
    CameFrom, Cursor, Json, Limit, ListQuery, Page, Path, Query, SignedIn, page_ask,
};
use crate::router::SharedState;

/// A job. Its payload is not shown: it may hold what is secret.
#[derive(Serialize, ToSchema)]
pub(super) struct Job {
    /// The id.
    #[schema(value_type = String)]
    id: Id,
    /// What kind of work.
    #[schema(example = "mail")]
    kind: String,
    /// What it is about.
    #[schema(required)]
    subject: Option<String>,
    /// Where it stands.
    status: Status,
    /// The smaller comes first.
    priority: i64,
    /// How often it was begun.
    attempts: i64,
    /// How often it may be begun.
    max_attempts: i64,
    /// How often a runner died while it ran.
    crashes: i64,
    /// When it was enqueued.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// When it was or is due.
    #[schema(value_type = String, format = DateTime)]
    next_run_at: Timestamp,
    /// When the runner that has it took it.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    locked_at: Option<Timestamp>,
    /// Which runner has it.
    #[schema(required)]
    locked_by: Option<String>,
    /// When that runner last said that it is alive.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    heartbeat_at: Option<Timestamp>,
    /// How long after that another runner takes it, in seconds.
    #[schema(required)]
    lock_ttl_seconds: Option<i64>,
    /// That time has passed, and no runner has taken it.
    stuck: bool,
    /// What went wrong last, in a stable word.
    #[schema(required, example = "attempts_exhausted")]
    last_error_code: Option<String>,
    /// What went wrong last, in a sentence.
    #[schema(required)]
    last_error_message: Option<String>,
    /// When it ended.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    finished_at: Option<Timestamp>,
    /// It has left the queue by age, and can't be tried again.
    archived: bool,
}

/// The queue at a glance.
#[derive(Serialize, ToSchema)]
pub(super) struct JobsSummary {
    /// Each kind that has jobs or a runner, is paused or has a limit, by name.
    kinds: Vec<JobKind>,
    /// Jobs whose runner was not heard of for longer than their lease.
    stuck: i64,
    /// Where counts stop: one that large may be larger.
    count_cap: i64,
}

/// One kind of job at a glance.
#[derive(Serialize, ToSchema)]
pub(super) struct JobKind {
    /// The kind.
    #[schema(example = "mail")]
    kind: String,
    /// No jobs of this kind are begun.
    paused: bool,
    /// How many may run at once over all runners.
    #[schema(required)]
    concurrency: Option<i64>,
    /// Jobs that wait, due or not.
    queued: i64,
    /// Of these, those that are due.
    due: i64,
    /// Jobs that runners have.
    processing: i64,
    /// Jobs that failed and are still in the queue.
    failed: i64,
    /// Jobs that succeeded and are still in the queue.
    succeeded: i64,
    /// For how long the first has been due.
    #[schema(required)]
    oldest_due_seconds: Option<i64>,
}

/// Which jobs are asked for.
#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct JobsQuery {
    /// Only those that stand so.
    status: Option<Status>,
    /// Only those of this kind.
    #[param(example = "mail")]
    kind: Option<String>,
    /// How many items at most.
    #[serde(default)]
    #[param(value_type = u16, required = false, minimum = 1, maximum = 200, default = 50)]
    limit: Limit,
    /// Where the page begins: `next_cursor` of the page before it.
    #[param(value_type = Option<String>)]
    cursor: Option<Cursor>,
}

/// The jobs, newest first
#[utoipa::path(
    get, path = "/api/admin/jobs", operation_id = "list_jobs", tag = "admin",
    params(JobsQuery),
    responses((status = 200, description = "A page of jobs", body = Page<Job>), Refusal)
)]
pub(super) async fn list(
    State(state): State<SharedState>,
    Query(query): Query<JobsQuery>,
) -> Result<Json<Page<Job>>, Error> {
    let kind = query.kind.as_deref().filter(|kind| !kind.is_empty()).map(Kind::new).transpose();
    let kind = kind.map_err(JobsError::from)?;
    let filter = JobFilter { status: query.status, kind, stuck: false };
    page(&state, &filter, query.limit, query.cursor.as_ref()).await
}

/// Jobs whose runner was not heard of for longer than their lease
///
/// Runners take them over by themselves, so that one which stays here says that no runner works.
#[utoipa::path(
    get, path = "/api/admin/jobs/stuck", operation_id = "list_stuck_jobs", tag = "admin",
    params(ListQuery),
    responses((status = 200, description = "A page of jobs", body = Page<Job>), Refusal)
)]
pub(super) async fn stuck(
    State(state): State<SharedState>,
    Query(query): Query<ListQuery>,
) -> Result<Json<Page<Job>>, Error> {
    let filter = JobFilter { stuck: true, ..JobFilter::default() };
    page(&state, &filter, query.limit, query.cursor.as_ref()).await
}

async fn page(
    state: &SharedState,
    filter: &JobFilter,
    limit: Limit,
    cursor: Option<&Cursor>,
) -> Result<Json<Page<Job>>, Error> {
    let ask = page_ask(limit, cursor)?;
    let part = state.jobs.list(filter, mainstay_jobs::Page { after: ask.after, limit: ask.limit });
    let part = part.await?;
    let now = state.live.events.db().now().await?;
    let items = part.items.into_iter().map(|view| Job::new(view, now)).collect();
    Ok(Json(Page { items, next_cursor: part.next.map(|id| id.to_string()) }))
}

/// The queue at a glance
#[utoipa::path(
    get, path = "/api/admin/jobs/summary", operation_id = "summarise_jobs", tag = "admin",
    responses((status = 200, description = "Counts by kind", body = JobsSummary), Refusal)
)]
pub(super) async fn summary(State(state): State<SharedState>) -> Result<Json<JobsSummary>, Error> {
    let summary = state.jobs.summary().await?;
    Ok(Json(JobsSummary {
        kinds: summary.kinds.into_iter().map(JobKind::from).collect(),
        stuck: summary.stuck,
        count_cap: summary.count_cap,
    }))
}

/// One job
#[utoipa::path(
    get, path = "/api/admin/jobs/{id}", operation_id = "get_job", tag = "admin",
    params(("id" = String, Path, description = "The job")),
    responses((status = 200, description = "The job", body = Job), Refusal)
)]
pub(super) async fn find(
    State(state): State<SharedState>,
    Path(id): Path<Id>,
) -> Result<Json<Job>, Error> {
    find_one(&state, id).await
}

async fn find_one(state: &SharedState, id: Id) -> Result<Json<Job>, Error> {
    let found = state.jobs.find(id).await?.ok_or(JobsError::NotFound)?;
    Ok(Json(Job::new(found, state.live.events.db().now().await?)))
}

/// Try a failed job again
#[utoipa::path(
    post, path = "/api/admin/jobs/{id}/retry", operation_id = "retry_job", tag = "admin",
    params(("id" = String, Path, description = "The job")),
    responses((status = 200, description = "It is queued", body = Job), Refusal)
)]
pub(super) async fn retry(
    State(state): State<SharedState>,
    SignedIn(admin): SignedIn,
    CameFrom(source): CameFrom,
    Path(id): Path<Id>,
) -> Result<Json<Job>, Error> {
    change_one(&state, &admin, source, id, Action::Retry).await
}

/// Give an unfinished job up
///
/// A runner that works on it is told and stops; whatever it still writes is refused.
#[utoipa::path(
    post, path = "/api/admin/jobs/{id}/cancel", operation_id = "cancel_job", tag = "admin",
    params(("id" = String, Path, description = "The job")),
    responses((status = 200, description = "It is failed, with the code cancelled", body = Job), Refusal)
)]
pub(super) async fn cancel(
    State(state): State<SharedState>,
    SignedIn(admin): SignedIn,
    CameFrom(source): CameFrom,
    Path(id): Path<Id>,
) -> Result<Json<Job>, Error> {
    change_one(&state, &admin, source, id, Action::Cancel).await
}

#[derive(Clone, Copy)]
enum Action {
    Retry,
    Cancel,
}

async fn change_one(
    state: &SharedState,
    admin: &Caller,
    source: Source,
    id: Id,
    action: Action,
) -> Result<Json<Job>, Error> {
    state
        .live
        .events
        .write(async |tx, out| {
            state.accounts.confirm(tx, admin, Role::Admin).await?;
            let (name, change) = match action {
                Action::Retry => ("job.retry", state.jobs.retry(tx, out, id).await?),
                Action::Cancel => ("job.cancel", state.jobs.cancel(tx, out, id).await?),
            };
            let detail = json!({"kind": change.kind.as_str(), "subject": change.subject});
            state.accounts.note(tx, admin, source, name, ("job", Some(id)), detail).await?;
            Ok::<_, Error>(())
        })
        .await?;
    find_one(state, id).await
}

/// Begin no more jobs of a kind
#[utoipa::path(
    post, path = "/api/admin/jobs/kinds/{kind}/pause", operation_id = "pause_job_kind", tag = "admin",
    params(("kind" = String, Path, description = "The kind")),
    responses((status = 200, description = "The kind is paused", body = JobKind), Refusal)
)]
pub(super) async fn pause(
    State(state): State<SharedState>,
    SignedIn(admin): SignedIn,
    CameFrom(source): CameFrom,
    Path(kind): Path<String>,
) -> Result<Json<JobKind>, Error> {
    change_kind(&state, &admin, source, &kind, true).await
}

/// Begin jobs of a kind again
#[utoipa::path(
    post, path = "/api/admin/jobs/kinds/{kind}/resume", operation_id = "resume_job_kind", tag = "admin",
    params(("kind" = String, Path, description = "The kind")),
    responses((status = 200, description = "The kind is not paused", body = JobKind), Refusal)
)]
pub(super) async fn resume(
    State(state): State<SharedState>,
    SignedIn(admin): SignedIn,
    CameFrom(source): CameFrom,
    Path(kind): Path<String>,
) -> Result<Json<JobKind>, Error> {
    change_kind(&state, &admin, source, &kind, false).await
}

async fn change_kind(
    state: &SharedState,
    admin: &Caller,
    source: Source,
    kind: &str,
    paused: bool,
) -> Result<Json<JobKind>, Error> {
    let kind = Kind::new(kind).map_err(JobsError::from)?;
    state
        .live
        .events
        .write(async |tx, _| {
            state.accounts.confirm(tx, admin, Role::Admin).await?;
            let name = if paused {
                state.jobs.pause(tx, &kind).await?;
                "job_kind.pause"
            } else {
                state.jobs.resume(tx, &kind).await?;
                "job_kind.resume"
            };
            let detail = json!({"kind": kind.as_str()});
            state.accounts.note(tx, admin, source, name, ("job_kind", None), detail).await?;
            Ok::<_, Error>(())
        })
        .await?;
    let summary = state.jobs.summary().await?;
    let found = summary.kinds.into_iter().find(|one| one.kind == kind);
    Ok(Json(found.map_or_else(|| JobKind::empty(&kind, paused), JobKind::from)))
}

impl JobKind {
    /// A kind that nobody has anything to say about.
    fn empty(kind: &Kind, paused: bool) -> Self {
        Self {
            kind: kind.to_string(),
            paused,
            concurrency: None,
            queued: 0,
            due: 0,
            processing: 0,
            failed: 0,
            succeeded: 0,
            oldest_due_seconds: None,
        }
    }
}

impl From<KindSummary> for JobKind {
    fn from(summary: KindSummary) -> Self {
        Self {
            kind: summary.kind.to_string(),
            paused: summary.paused,
            concurrency: summary.concurrency,
            queued: summary.queued,
            due: summary.due,
            processing: summary.processing,
            failed: summary.failed,
            succeeded: summary.succeeded,
            oldest_due_seconds: summary.oldest_due_ms.map(|millis| millis / 1000),
        }
    }
}

impl Job {
    fn new(view: JobView, now: Timestamp) -> Self {
        let stuck = view.is_stuck(now);
        let (last_error_code, last_error_message) =
            view.last_error.map(|failure| (failure.code, failure.message)).unzip();
        Self {
            id: view.id,
            kind: view.kind.to_string(),
            subject: view.subject,
            status: view.status,
            priority: view.priority,
            attempts: view.attempts,
            max_attempts: view.max_attempts,
            crashes: view.crashes,
            created_at: view.created_at,
            next_run_at: view.next_run_at,
            locked_at: view.locked_at,
            locked_by: view.locked_by,
            heartbeat_at: view.heartbeat_at,
            lock_ttl_seconds: view.lock_ttl_seconds,
            stuck,
            last_error_code,
            last_error_message,
            finished_at: view.finished_at,
            archived: view.archived,
        }
    }
}
