//! Files, as their owners ask for them.

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Db, Row, Sql, Tx, values};

use crate::error::ReportsError;
use crate::model::{File, FileError, Keys, MAX_FILES_PER_USER, MadeWith, Window};
use crate::place::Place;

macro_rules! select_file {
    ($name:literal, $end:literal) => {
        Sql::same(
            $name,
            concat!(
                "SELECT user_id, id, original_name, size_bytes, status, job_id, storage_key_original,
                   storage_key_report, storage_key_timeline, storage_key_raw_llm_output,
                   prompt_version, schema_version, llm_model, report_title, window_from, window_to,
                   processing_attempts, next_run_at, error_code, error_message, created_at, queued_at,
                   started_at, processed_at
                 FROM files ",
                $end
            ),
        )
    };
}

pub(super) const FIND: Sql = select_file!("reports.find_file", "WHERE user_id = $1 AND id = $2");
pub(super) const LIST: Sql = select_file!(
    "reports.list_files",
    "WHERE user_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2"
);
pub(super) const LIST_AFTER: Sql = select_file!(
    "reports.list_files_after",
    "WHERE user_id = $1 AND (created_at, id) < ($2, $3) ORDER BY created_at DESC, id DESC LIMIT $4"
);
pub(super) const COUNT: Sql = Sql::same(
    "reports.count_files",
    "SELECT count(*) AS files FROM (SELECT 1 AS one FROM files WHERE user_id = $1 LIMIT $2) AS found",
);
const INSERT: Sql = Sql::same(
    "reports.insert_file",
    "INSERT INTO files (user_id, id, original_name, extension, status, storage_key_original,
       processing_attempts, created_at, updated_at)
     VALUES ($1, $2, $3, $4, 'processing', $5, 0, $6, $6)",
);
const QUEUE: Sql = Sql::same(
    "reports.queue_file",
    "UPDATE files SET status = 'queued', job_id = $3, size_bytes = $4, window_from = $5,
       window_to = $6, queued_at = $7, next_run_at = $7, updated_at = $7
     WHERE user_id = $1 AND id = $2 AND status = 'processing' AND job_id IS NULL",
);
const FAIL_UPLOAD: Sql = Sql::same(
    "reports.fail_upload",
    "UPDATE files SET status = 'failed', error_code = $3, error_message = $4, updated_at = $5
     WHERE user_id = $1 AND id = $2 AND status = 'processing' AND job_id IS NULL",
);
const FORGET_UPLOAD: Sql = Sql::same(
    "reports.forget_upload",
    "DELETE FROM files WHERE user_id = $1 AND id = $2 AND status = 'processing' AND job_id IS NULL",
);
const REMOVE: Sql =
    Sql::same("reports.remove_file", "DELETE FROM files WHERE user_id = $1 AND id = $2");
const REMEMBER: Sql = Sql::same(
    "reports.remember_deleted_file",
    "INSERT INTO deleted_files (user_id, file_id, deleted_at) VALUES ($1, $2, $3)
     ON CONFLICT DO NOTHING",
);

/// A file whose upload begins.
pub(crate) struct NewFile<'a> {
    pub(crate) user: Id,
    pub(crate) id: Id,
    pub(crate) name: &'a str,
    pub(crate) extension: &'static str,
    pub(crate) key: &'a str,
}

/// A file whose upload has ended well.
pub(crate) struct StoredFile {
    pub(crate) user: Id,
    pub(crate) id: Id,
    pub(crate) job: Id,
    pub(crate) size: i64,
    pub(crate) window: Option<Window>,
}

/// Writes a file down, unless its owner has too many.
pub(crate) async fn insert(tx: &mut Tx, new: &NewFile<'_>) -> Result<(), ReportsError> {
    let files = tx.fetch_one(&COUNT, values![new.user, MAX_FILES_PER_USER]).await?;
    if files.get::<i64>("files")? >= MAX_FILES_PER_USER {
        return Err(ReportsError::TooManyFiles);
    }
    let now = tx.now().await?;
    let values = values![new.user, new.id, new.name, new.extension, new.key, now];
    tx.execute(&INSERT, values).await?;
    Ok(())
}

/// Queues a file whose upload nobody has ended meanwhile; tells whether it did.
pub(crate) async fn queue(tx: &mut Tx, stored: &StoredFile) -> Result<bool, ReportsError> {
    let now = tx.now().await?;
    let (from, to) = stored.window.map(|window| (window.from, window.to)).unzip();
    let values = values![stored.user, stored.id, stored.job, stored.size, from, to, now];
    Ok(tx.execute(&QUEUE, values).await? == 1)
}

/// Marks a file whose upload failed; tells whether it was still being uploaded.
pub(crate) async fn fail_upload(
    tx: &mut Tx,
    (user, id): (Id, Id),
    error: &FileError,
) -> Result<bool, ReportsError> {
    let now = tx.now().await?;
    let values = values![user, id, &error.code, &error.message, now];
    Ok(tx.execute(&FAIL_UPLOAD, values).await? == 1)
}

/// Removes a file whose upload was refused or abandoned; tells whether it was there.
pub(crate) async fn forget_upload(tx: &mut Tx, file: (Id, Id)) -> Result<bool, ReportsError> {
    take_out(tx, &FORGET_UPLOAD, file).await
}

/// Removes a file with its shares; tells whether it was there.
pub(crate) async fn remove(tx: &mut Tx, user: Id, id: Id) -> Result<bool, ReportsError> {
    take_out(tx, &REMOVE, (user, id)).await
}

/// Removes a file, and keeps in mind that it was here: only then the sweeper may take what is left of it.
async fn take_out(tx: &mut Tx, sql: &Sql, (user, id): (Id, Id)) -> Result<bool, ReportsError> {
    let is_gone = tx.execute(sql, values![user, id]).await? == 1;
    if is_gone {
        let now = tx.now().await?;
        tx.execute(&REMEMBER, values![user, id, now]).await?;
    }
    Ok(is_gone)
}

/// The file of this user with this id.
pub(crate) async fn find(db: &Db, user: Id, id: Id) -> Result<Option<File>, ReportsError> {
    let row = db.fetch_optional(&FIND, values![user, id]).await?;
    row.as_ref().map(file).transpose()
}

/// The same in a transaction.
pub(crate) async fn find_in(tx: &mut Tx, user: Id, id: Id) -> Result<Option<File>, ReportsError> {
    let row = tx.fetch_optional(&FIND, values![user, id]).await?;
    row.as_ref().map(file).transpose()
}

/// The files of a user, newest first.
pub(crate) async fn list(
    db: &Db,
    user: Id,
    after: Option<Place>,
    limit: i64,
) -> Result<Vec<File>, ReportsError> {
    let rows = match after {
        None => db.fetch_all(&LIST, values![user, limit]).await?,
        Some(place) => {
            let values = values![user, place.created_at, place.id, limit];
            db.fetch_all(&LIST_AFTER, values).await?
        }
    };
    rows.iter().map(file).collect()
}

fn file(row: &Row) -> Result<File, ReportsError> {
    Ok(File {
        user_id: row.get("user_id")?,
        id: row.get("id")?,
        name: row.get("original_name")?,
        size_bytes: row.get("size_bytes")?,
        status: row.get::<String>("status")?.parse()?,
        job_id: row.get("job_id")?,
        keys: keys(row)?,
        title: row.get("report_title")?,
        made_with: made_with(row)?,
        window: window(row)?,
        attempts: row.get("processing_attempts")?,
        next_run_at: row.get("next_run_at")?,
        error: error(row)?,
        created_at: row.get("created_at")?,
        queued_at: row.get("queued_at")?,
        started_at: row.get("started_at")?,
        processed_at: row.get("processed_at")?,
    })
}

pub(super) fn keys(row: &Row) -> Result<Keys, ReportsError> {
    Ok(Keys {
        original: row.get("storage_key_original")?,
        report: row.get("storage_key_report")?,
        timeline: row.get("storage_key_timeline")?,
        raw: row.get("storage_key_raw_llm_output")?,
    })
}

fn made_with(row: &Row) -> Result<Option<MadeWith>, ReportsError> {
    let (prompt, schema): (Option<String>, Option<String>) =
        (row.get("prompt_version")?, row.get("schema_version")?);
    let model: Option<String> = row.get("llm_model")?;
    Ok(prompt.zip(schema).map(|(prompt_version, schema_version)| MadeWith {
        prompt_version,
        schema_version,
        model: model.unwrap_or_default(),
    }))
}

fn window(row: &Row) -> Result<Option<Window>, ReportsError> {
    let (from, to): (Option<Timestamp>, Option<Timestamp>) =
        (row.get("window_from")?, row.get("window_to")?);
    Ok(from.zip(to).map(|(from, to)| Window { from, to }))
}

fn error(row: &Row) -> Result<Option<FileError>, ReportsError> {
    let (code, message): (Option<String>, Option<String>) =
        (row.get("error_code")?, row.get("error_message")?);
    Ok(code.map(|code| FileError { code, message: message.unwrap_or_default() }))
}
