//! Uploads of transcripts, streamed into the storage as they come.

use axum::extract::State;
use axum::http::StatusCode;
use bytes::Bytes;
use mainstay_accounts::{Caller, Role, Source};
use mainstay_base::{Id, Timestamp};
use mainstay_reports::{
    Beside, BesideError, FileName, FileStatus, MAX_FILE_BYTES, ReportsError, Upload, Window,
};
use mainstay_store::Tx;
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use super::Refusal;
use crate::code::Code;
use crate::error::{Error, echo};
use crate::extract::{CameFrom, Json, Multipart, Part, SignedIn};
use crate::router::{SharedState, State as Shared};

/// Where files are uploaded: the one route that may take minutes.
pub(crate) const UPLOAD_PATH: &str = "/api/files/upload";

/// A file and the time of its incident, as a form sends them.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only the OpenAPI document reads it")]
pub(super) struct UploadForm {
    /// The transcript, of at most 10 485 760 bytes; its name ends in `.txt` or `.vtt`.
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
    /// When the incident began; give `to` too.
    #[schema(value_type = Option<String>, format = DateTime)]
    from: Option<String>,
    /// When it ended: at most 7 days later.
    #[schema(value_type = Option<String>, format = DateTime)]
    to: Option<String>,
}

/// A file that was stored.
#[derive(Serialize, ToSchema)]
pub(super) struct Uploaded {
    /// It went well.
    ok: bool,
    /// The file.
    #[schema(value_type = String)]
    file_id: Id,
    /// Where it stands: its report is queued.
    status: FileStatus,
}

/// Upload a transcript, and have a report made of it
///
/// The file is stored as it comes. With `from` and `to`, what Mainstay recorded in that time is told to
/// the language model and kept beside the report. A user may do this 20 times a minute, and 4 times at
/// once (429 `too_many_uploads`).
#[utoipa::path(
    post, path = "/api/files/upload", operation_id = "upload_file", tag = "files",
    request_body(content = UploadForm, content_type = "multipart/form-data"),
    responses((status = 201, description = "It is stored, and its report is queued", body = Uploaded), Refusal)
)]
pub(super) async fn upload(
    State(state): State<SharedState>,
    SignedIn(caller): SignedIn,
    CameFrom(source): CameFrom,
    // Last, so that nothing is read for who is refused.
    form: Multipart<MAX_FILE_BYTES>,
) -> Result<(StatusCode, Json<Uploaded>), Error> {
    if !state.reports.is_configured() {
        return Err(ReportsError::NotConfigured.into());
    }
    let Form { upload, name, window } = read(&state, caller.user.id, form).await?;
    let beside = noted(&state, caller, source, upload.id(), name);
    let file_id = upload.finish(window, beside).await?;
    let uploaded = Uploaded { ok: true, file_id, status: FileStatus::Queued };
    Ok((StatusCode::CREATED, Json(uploaded)))
}

/// A form that was read to its end.
struct Form {
    upload: Upload,
    name: String,
    window: Option<Window>,
}

/// What has come of a form.
#[derive(Default)]
struct Fields {
    file: Option<(Upload, String)>,
    from: Option<Timestamp>,
    to: Option<Timestamp>,
}

/// Reads the form. What is refused is undone before anybody is told; whoever hangs up drops the upload, and
/// that undoes it too.
async fn read(state: &Shared, user: Id, form: Multipart<MAX_FILE_BYTES>) -> Result<Form, Error> {
    let mut fields = Fields::default();
    let window = fields.read(state, user, form).await;
    match (window, fields.file) {
        (Ok(window), Some((upload, name))) => Ok(Form { upload, name, window }),
        (Ok(_), None) => Err(invalid("There is no field `file`.")),
        (Err(refusal), file) => {
            if let Some((upload, _)) = file {
                upload.undo().await;
            }
            Err(refusal)
        }
    }
}

impl Fields {
    async fn read(
        &mut self,
        state: &Shared,
        user: Id,
        mut form: Multipart<MAX_FILE_BYTES>,
    ) -> Result<Option<Window>, Error> {
        while let Some(part) = form.next().await? {
            let name = part.name().to_owned();
            let is_taken = match name.as_str() {
                "file" => self.file.is_some(),
                "from" => self.from.is_some(),
                "to" => self.to.is_some(),
                other => return Err(invalid(&format!("There is a field `{}`.", echo(other)))),
            };
            if is_taken {
                return Err(invalid(&format!("There are two fields `{}`.", echo(&name))));
            }
            match name.as_str() {
                "file" => self.file = Some(store(state, user, part).await?),
                "from" => self.from = Some(moment(part).await?),
                _ => self.to = Some(moment(part).await?),
            }
        }
        window(self.from, self.to, state.live.events.db().now().await?)
    }
}

/// Stores a file as it comes. Nothing is written down before its first byte is there.
async fn store(state: &Shared, user: Id, mut part: Part) -> Result<(Upload, String), Error> {
    let name = part.file_name().unwrap_or_default();
    let name = FileName::parse(&name).map_err(ReportsError::from)?;
    let shown = name.as_str().to_owned();
    let first = loop {
        match part.chunk().await? {
            None => return Err(ReportsError::Empty.into()),
            Some(chunk) if chunk.is_empty() => {}
            Some(chunk) => break chunk,
        }
    };
    let mut upload = state.reports.upload(user, name)?;
    match fill(&mut upload, first, part).await {
        Ok(()) => Ok((upload, shown)),
        Err(refusal) => {
            upload.undo().await;
            Err(refusal)
        }
    }
}

async fn fill(upload: &mut Upload, first: Bytes, mut part: Part) -> Result<(), Error> {
    upload.write(first).await?;
    while let Some(chunk) = part.chunk().await? {
        upload.write(chunk).await?;
    }
    Ok(())
}

async fn moment(part: Part) -> Result<Timestamp, Error> {
    let name = part.name().to_owned();
    let text = part.text().await?;
    serde_json::from_value(json!(text)).map_err(|_| {
        let given = echo(&text);
        let detail = format!(
            "`{name}` is `{given}`. Give a time such as 2026-11-15T21:00:00.000Z, or leave both out."
        );
        Error::new(Code::InvalidWindow, detail).with("field", name)
    })
}

fn window(
    from: Option<Timestamp>,
    to: Option<Timestamp>,
    now: Timestamp,
) -> Result<Option<Window>, Error> {
    match (from, to) {
        (None, None) => Ok(None),
        (Some(from), Some(to)) => Ok(Some(Window::new(from, to, now).map_err(ReportsError::from)?)),
        _ => {
            let detail = "Only one of `from` and `to` was given. Give both, or none.";
            Err(Error::new(Code::InvalidWindow, detail))
        }
    }
}

/// The line of the audit log, and that the caller still may.
fn noted(state: &SharedState, caller: Caller, source: Source, file: Id, name: String) -> Beside {
    let accounts = state.accounts.clone();
    let note = async move |tx: &mut Tx| {
        accounts.confirm(tx, &caller, Role::Viewer).await?;
        let target = ("file", Some(file));
        let detail = json!({"name": name});
        accounts.note(tx, &caller, source, "file.upload", target, detail).await?;
        Ok::<(), Error>(())
    };
    Box::new(move |tx| Box::pin(async move { note(tx).await.map_err(told_apart) }))
}

/// A refusal of the caller, or a failure of ours.
fn told_apart(error: Error) -> BesideError {
    if error.code().status().is_client_error() {
        BesideError::Refused(error.into())
    } else {
        BesideError::Failed(error.into())
    }
}

fn invalid(reason: &str) -> Error {
    crate::extract::invalid_multipart(reason)
}
