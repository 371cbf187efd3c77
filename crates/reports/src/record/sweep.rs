//! What nobody else ends or refers to.

use std::collections::{HashMap, HashSet};

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Db, Sql, StoreError, Tx, values};

use super::files;
use crate::error::ReportsError;
use crate::model::FileError;
use crate::orphans::Known;

/// On PostgreSQL an upload that is just being ended is left to whoever ends it.
pub(super) const INTERRUPT: Sql = Sql::pair(
    "reports.interrupt_uploads",
    "UPDATE files SET status = 'failed', error_code = $3, error_message = $4, updated_at = $5
     WHERE status = 'processing' AND job_id IS NULL AND created_at < $1
       AND (user_id, id) IN (SELECT user_id, id FROM files
         WHERE status = 'processing' AND job_id IS NULL AND created_at < $1
         ORDER BY created_at LIMIT $2)
     RETURNING user_id, id",
    "UPDATE files SET status = 'failed', error_code = $3, error_message = $4, updated_at = $5
     WHERE status = 'processing' AND job_id IS NULL AND created_at < $1
       AND (user_id, id) IN (SELECT user_id, id FROM files
         WHERE status = 'processing' AND job_id IS NULL AND created_at < $1
         ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED)
     RETURNING user_id, id",
);
const KNOWN: Sql = Sql::pair(
    "reports.known_files",
    "SELECT f.user_id, f.id, f.status, f.job_id, f.updated_at, f.storage_key_original,
       f.storage_key_report, f.storage_key_timeline, f.storage_key_raw_llm_output
     FROM json_each($1) AS u JOIN json_each($2) AS i ON u.key = i.key
     JOIN files AS f ON f.user_id = u.value AND f.id = i.value",
    "SELECT f.user_id, f.id, f.status, f.job_id, f.updated_at, f.storage_key_original,
       f.storage_key_report, f.storage_key_timeline, f.storage_key_raw_llm_output
     FROM unnest($1::text[], $2::text[]) AS asked (user_id, id)
     JOIN files AS f ON f.user_id = asked.user_id AND f.id = asked.id",
);
const DELETED: Sql = Sql::pair(
    "reports.deleted_files",
    "SELECT d.user_id, d.file_id FROM json_each($1) AS u JOIN json_each($2) AS i ON u.key = i.key
     JOIN deleted_files AS d ON d.user_id = u.value AND d.file_id = i.value",
    "SELECT d.user_id, d.file_id FROM unnest($1::text[], $2::text[]) AS asked (user_id, file_id)
     JOIN deleted_files AS d ON d.user_id = asked.user_id AND d.file_id = asked.file_id",
);
const FORGET_DELETED: Sql = Sql::same(
    "reports.forget_deleted_files",
    "DELETE FROM deleted_files WHERE (user_id, file_id) IN (SELECT user_id, file_id
       FROM deleted_files WHERE deleted_at < $1 ORDER BY deleted_at LIMIT $2)",
);

/// Ends at most so many uploads that began before a moment and have no job; tells whose.
pub(crate) async fn interrupt(
    tx: &mut Tx,
    before: Timestamp,
    most: i64,
    error: &FileError,
) -> Result<Vec<(Id, Id)>, ReportsError> {
    let now = tx.now().await?;
    let values = values![before, most, &error.code, &error.message, now];
    let rows = tx.fetch_all(&INTERRUPT, values).await?;
    rows.iter().map(|row| Ok((row.get("user_id")?, row.get("id")?))).collect()
}

/// What is known of the files that objects were stored for. The order matters: of a file that is deleted in
/// between both are known.
pub(crate) async fn known(
    db: &Db,
    owners: &HashSet<(Id, Id)>,
) -> Result<HashMap<(Id, Id), Known>, ReportsError> {
    let users: Vec<String> = owners.iter().map(|(user, _)| user.to_string()).collect();
    let ids: Vec<String> = owners.iter().map(|(_, id)| id.to_string()).collect();
    let mut known = HashMap::new();
    for row in &db.fetch_all(&KNOWN, values![users.as_slice(), ids.as_slice()]).await? {
        let is_lost =
            row.get::<Option<Id>>("job_id")?.is_none() && row.get::<String>("status")? == "failed";
        let keys = files::keys(row)?;
        let kept = keys.all().filter(|key| !is_lost || *key != keys.original);
        let stands = Known::Stands {
            referenced: kept.map(str::to_owned).collect(),
            changed_at: row.get("updated_at")?,
        };
        known.insert((row.get("user_id")?, row.get("id")?), stands);
    }
    for row in &db.fetch_all(&DELETED, values![users.as_slice(), ids.as_slice()]).await? {
        known.insert((row.get("user_id")?, row.get("file_id")?), Known::Deleted);
    }
    Ok(known)
}

/// Forgets at most so many files that were deleted before a moment; tells how many.
pub(crate) async fn forget_deleted(
    tx: &mut Tx,
    before: Timestamp,
    most: i64,
) -> Result<u64, StoreError> {
    tx.execute(&FORGET_DELETED, values![before, most]).await
}
