//! What nobody else ends or refers to.

use std::collections::HashSet;

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Db, Sql, Tx, values};

use super::files;
use crate::error::ReportsError;
use crate::model::FileError;

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
const REFERENCED: Sql = Sql::pair(
    "reports.referenced_keys",
    "SELECT f.status, f.job_id, f.storage_key_original, f.storage_key_report,
       f.storage_key_timeline, f.storage_key_raw_llm_output
     FROM json_each($1) AS u JOIN json_each($2) AS i ON u.key = i.key
     JOIN files AS f ON f.user_id = u.value AND f.id = i.value",
    "SELECT f.status, f.job_id, f.storage_key_original, f.storage_key_report,
       f.storage_key_timeline, f.storage_key_raw_llm_output
     FROM unnest($1::text[], $2::text[]) AS asked (user_id, id)
     JOIN files AS f ON f.user_id = asked.user_id AND f.id = asked.id",
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

/// Which keys the files of `owners` refer to. The original of a file that has no job and never will is
/// not referred to: nobody can make a report of it.
pub(crate) async fn referenced(
    db: &Db,
    owners: &HashSet<(Id, Id)>,
) -> Result<HashSet<String>, ReportsError> {
    let users: Vec<String> = owners.iter().map(|(user, _)| user.to_string()).collect();
    let ids: Vec<String> = owners.iter().map(|(_, id)| id.to_string()).collect();
    let rows = db.fetch_all(&REFERENCED, values![users.as_slice(), ids.as_slice()]).await?;
    let mut referenced = HashSet::new();
    for row in &rows {
        let keys = files::keys(row)?;
        let is_lost =
            row.get::<Option<Id>>("job_id")?.is_none() && row.get::<String>("status")? == "failed";
        let kept = keys.all().filter(|key| !is_lost || *key != keys.original);
        referenced.extend(kept.map(str::to_owned));
    }
    Ok(referenced)
}
