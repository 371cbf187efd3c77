//! Which installation of Mainstay a database belongs to: an id made once, when it is first used.

use mainstay_base::{Id, Timestamp};

use crate::db::Db;
use crate::error::StoreError;
use crate::sql::Sql;
use crate::values;

/// The installation that a database belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Installation {
    /// Its id, the same for every instance and in every backup.
    pub id: Id,
    /// When the database was first used.
    pub created_at: Timestamp,
}

const INSERT: Sql = Sql::same(
    "installation.insert",
    "INSERT INTO installation (singleton, id, created_at) VALUES (1, $1, $2)
     ON CONFLICT (singleton) DO NOTHING",
);

const FIND: Sql =
    Sql::same("installation.find", "SELECT id, created_at FROM installation WHERE singleton = 1");

/// The installation of `db`, made with the id `fresh` when there is none yet.
///
/// # Errors
/// When the database can't be read or written.
pub async fn find_or_create(db: &Db, fresh: Id) -> Result<Installation, StoreError> {
    db.write(async |tx| {
        let now = tx.now().await?;
        tx.execute(&INSERT, values![fresh, now]).await?;
        let row = tx.fetch_one(&FIND, &[]).await?;
        Ok(Installation { id: row.get("id")?, created_at: row.get("created_at")? })
    })
    .await
}
