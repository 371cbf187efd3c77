//! The own files: transcripts, where each stands, and the reports made of them.

use axum::extract::State;
use axum::http::StatusCode;
use mainstay_accounts::{Caller, Role, Source};
use mainstay_base::{Id, Timestamp};
use mainstay_events::Outbox;
use mainstay_reports::model::{MAX_ATTEMPTS, MAX_WINDOW};
use mainstay_reports::{
    Extension, FileError, FileStatus, MAX_FILE_BYTES, MadeWith, Place, Read, ReportsError, Window,
};
use mainstay_store::Tx;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::Refusal;
use crate::error::Error;
use crate::extract::{CameFrom, Cursor, Json, ListQuery, Page, Path, Query, SignedIn};
use crate::router::SharedState;

/// Whether reports can be made, and of what.
#[derive(Serialize, ToSchema)]
pub(super) struct ReportsState {
    /// Whether a language model is configured; while none is, uploads are refused, and what is queued waits for a
    /// server or a runner that has one.
    configured: bool,
    /// How to switch reports on; `null` when they are.
    #[schema(required)]
    how_to_configure: Option<&'static str>,
    /// The most bytes of a transcript.
    #[schema(example = 10_485_760)]
    max_file_bytes: u64,
    /// What the name of a transcript ends with.
    extensions: Vec<Extension>,
    /// The longest time of an incident, in seconds.
    max_window_seconds: u64,
}

const HOW_TO_CONFIGURE: &str = "Set LLM_API_KEY (and LLM_MODEL if you like), or LLM_PROVIDER=openai \
                                with LLM_BASE_URL for a server of your own, and restart Mainstay.";

/// A transcript that was uploaded.
#[derive(Serialize, ToSchema)]
pub(super) struct File {
    /// The id.
    #[schema(value_type = String)]
    id: Id,
    /// What its owner called it.
    #[schema(example = "incident-call.vtt")]
    name: String,
    /// What its report is called; `null` until there is one.
    #[schema(required, example = "Checkout was down for half an hour")]
    title: Option<String>,
    /// How large it is; `null` while it is uploaded.
    #[schema(required)]
    size_bytes: Option<i64>,
    /// Where it stands.
    status: FileStatus,
    /// The time of the incident, if its owner said it.
    #[schema(required)]
    window: Option<Window>,
    /// How often its report was begun.
    attempts: i64,
    /// How often that is done before it is given up.
    max_attempts: u32,
    /// When it is begun next, while it waits.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    next_run_at: Option<Timestamp>,
    /// What went wrong last, or what it waits for where it was put off (`llm_left_alone`, `s3_left_alone`): that
    /// uses no attempt.
    #[schema(required)]
    last_error: Option<FileError>,
    /// What its report was made with.
    #[schema(required)]
    made_with: Option<MadeWith>,
    /// When its upload began.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// When it was stored and queued.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    queued_at: Option<Timestamp>,
    /// When its report was last begun.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    started_at: Option<Timestamp>,
    /// When its report was made.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    processed_at: Option<Timestamp>,
}

/// A report, with what Mainstay recorded in the time of the incident.
#[derive(Serialize, ToSchema)]
pub(super) struct Report {
    /// The file it was made of.
    #[schema(value_type = String)]
    file_id: Id,
    /// What its owner called that.
    file_name: String,
    /// When it was made.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    processed_at: Option<Timestamp>,
    /// What it was made with.
    #[schema(required)]
    made_with: Option<MadeWith>,
    /// The report, as `schemas/report/v1.json` has it.
    #[schema(value_type = Object)]
    report: Value,
    /// JSON pointers to evidence in `report`, such as `/timeline/0/evidence/1`, whose quote stands neither in
    /// the transcript nor in the recorded timeline, has fewer than 8 characters of a longer line, or a timecode
    /// that is not that line's; `null` for a report that was made before this was looked at.
    #[schema(required)]
    evidence_not_found: Option<Vec<String>>,
    /// Lines in the middle of a transcript of more than 400 000 characters that the model was not told;
    /// `null` for a report that was made before they were counted.
    #[schema(required)]
    transcript_lines_left_out: Option<u64>,
    /// What the monitor recorded: `from` and `to` as they were asked for, `covered` (the part of that time
    /// there are records of, or `null`) and `entries`; `null` when nobody said when the incident was.
    #[schema(value_type = Option<Object>, required)]
    recorded_timeline: Option<Value>,
    /// Whether that was kept and can't be read from the storage, so that `recorded_timeline` is `null`.
    recorded_timeline_unreadable: bool,
}

/// Whether reports can be made, and of what
#[utoipa::path(
    get, path = "/api/reports", operation_id = "get_reports_state", tag = "files",
    responses((status = 200, description = "What can be uploaded", body = ReportsState), Refusal)
)]
pub(super) async fn reports(State(state): State<SharedState>) -> Json<ReportsState> {
    let configured = state.reports.is_configured();
    Json(ReportsState {
        configured,
        how_to_configure: (!configured).then_some(HOW_TO_CONFIGURE),
        max_file_bytes: MAX_FILE_BYTES,
        extensions: Extension::ALL.to_vec(),
        max_window_seconds: MAX_WINDOW.as_secs(),
    })
}

/// The own files, newest first
#[utoipa::path(
    get, path = "/api/files", operation_id = "list_files", tag = "files",
    params(ListQuery),
    responses((status = 200, description = "A page of files", body = Page<File>), Refusal)
)]
pub(super) async fn list(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    Query(query): Query<ListQuery>,
) -> Result<Json<Page<File>>, Error> {
    let after = query.cursor.as_ref().map(Cursor::as_str).map(str::parse::<Place>).transpose()?;
    let limit = u32::try_from(query.limit.items()).unwrap_or(u32::MAX);
    let files = state.reports.list(caller.user.id, after, limit).await?;
    let items = files.items.into_iter().map(File::from).collect();
    Ok(Json(Page { items, next_cursor: files.next.map(|place| place.to_string()) }))
}

/// One of the own files
#[utoipa::path(
    get, path = "/api/files/{id}", operation_id = "get_file", tag = "files",
    params(("id" = String, Path, description = "The file")),
    responses((status = 200, description = "Where it stands", body = File), Refusal)
)]
pub(super) async fn find(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    Path(id): Path<Id>,
) -> Result<Json<File>, Error> {
    Ok(Json(state.reports.find(caller.user.id, id).await?.into()))
}

/// The report of one of the own files
///
/// 409 `report_not_ready` until it is there, and for a file that failed.
#[utoipa::path(
    get, path = "/api/files/{id}/report", operation_id = "get_report", tag = "files",
    params(("id" = String, Path, description = "The file")),
    responses((status = 200, description = "The report", body = Report), Refusal)
)]
pub(super) async fn report(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    Path(id): Path<Id>,
) -> Result<Json<Report>, Error> {
    Ok(Json(state.reports.read(caller.user.id, id).await?.into()))
}

/// Try a failed file again, or make a report anew that is lost
///
/// A file whose report is there is refused (409 `file_not_failed`). One whose report is gone from the storage, or
/// garbled there, has it made anew of its transcript. A user may do this, and upload, 20 times a minute.
#[utoipa::path(
    post, path = "/api/files/{id}/retry", operation_id = "retry_file", tag = "files",
    params(("id" = String, Path, description = "The file")),
    responses((status = 200, description = "It is queued", body = File), Refusal)
)]
pub(super) async fn retry(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    CameFrom(source): CameFrom,
    Path(id): Path<Id>,
) -> Result<Json<File>, Error> {
    let user = caller.user.id;
    let lost = state.reports.lost_report(user, id).await?;
    changed(&state, &caller, source, ("file.retry", id, json!({})), async |tx, out| match &lost {
        Some(lost) => state.reports.remake(tx, out, (user, id), lost).await,
        None => state.reports.retry(tx, out, user, id).await,
    })
    .await?;
    Ok(Json(state.reports.find(user, id).await?.into()))
}

/// Delete one of the own files, with its report and its shares
#[utoipa::path(
    delete, path = "/api/files/{id}", operation_id = "delete_file", tag = "files",
    params(("id" = String, Path, description = "The file")),
    responses((status = 204, description = "It is gone"), Refusal)
)]
pub(super) async fn remove(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    CameFrom(source): CameFrom,
    Path(id): Path<Id>,
) -> Result<StatusCode, Error> {
    let removed =
        changed(&state, &caller, source, ("file.delete", id, json!({})), async |tx, out| {
            state.reports.remove(tx, out, caller.user.id, id).await
        });
    removed.await?.objects_gone().await;
    Ok(StatusCode::NO_CONTENT)
}

/// Makes a change of an own file with its line of the audit log, in one transaction.
pub(super) async fn changed<T>(
    state: &SharedState,
    caller: &Caller,
    source: Source,
    (action, file, detail): (&'static str, Id, Value),
    work: impl AsyncFnOnce(&mut Tx, &mut Outbox) -> Result<T, ReportsError>,
) -> Result<T, Error> {
    let accounts = &state.accounts;
    let events = &state.live.events;
    events
        .write(async |tx, out| {
            accounts.confirm(tx, caller, Role::Viewer).await?;
            let done = work(tx, out).await?;
            accounts.note(tx, caller, source, action, ("file", Some(file)), detail).await?;
            Ok::<_, Error>(done)
        })
        .await
}

impl From<mainstay_reports::File> for File {
    fn from(file: mainstay_reports::File) -> Self {
        Self {
            id: file.id,
            name: file.name,
            title: file.title,
            size_bytes: file.size_bytes,
            status: file.status,
            window: file.window,
            attempts: file.attempts,
            max_attempts: MAX_ATTEMPTS,
            next_run_at: file.next_run_at,
            last_error: file.error,
            made_with: file.made_with,
            created_at: file.created_at,
            queued_at: file.queued_at,
            started_at: file.started_at,
            processed_at: file.processed_at,
        }
    }
}

impl From<Read> for Report {
    fn from(read: Read) -> Self {
        Self {
            file_id: read.file.id,
            file_name: read.file.name,
            processed_at: read.file.processed_at,
            made_with: read.file.made_with,
            report: read.report,
            evidence_not_found: read.not_found,
            transcript_lines_left_out: read.lines_left_out,
            recorded_timeline: read.recorded,
            recorded_timeline_unreadable: read.is_recorded_unreadable,
        }
    }
}
