//! Whether anything has changed since somebody looked.

use mainstay_store::{Db, Sql, StoreError};

use crate::views::board::kept::Version;

// Events are numbered in the order of their commits, so that nothing comes before what was seen.
pub(super) const VERSION: Sql = Sql::same(
    "monitor.version",
    "SELECT (SELECT last_seq FROM event_streams WHERE name = 'org') AS told,
       (SELECT max(start) FROM latency_rollups WHERE service_no = 0 AND span = 300000) AS summed",
);

/// The version of what is shown.
pub(in crate::views) async fn now(db: &Db) -> Result<Version, StoreError> {
    let row = db.fetch_one(&VERSION, &[]).await?;
    let (told, summed): (Option<i64>, Option<i64>) = (row.get("told")?, row.get("summed")?);
    Ok(Version { told: told.unwrap_or(0), summed: summed.unwrap_or(0), graph: 0 })
}
