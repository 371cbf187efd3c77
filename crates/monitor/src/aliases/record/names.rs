//! The aliases themselves.

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Db, Row, Snapshot, Sql, StoreError, Tx, values};

use crate::aliases::error::AliasesError;
use crate::aliases::handle::Alias;

/// Whoever records new dependencies has read the aliases in its transaction, and is done first; whoever
/// comes later reads what is written now.
const LOCK: Sql = Sql::pair(
    "monitor.lock_aliases",
    "SELECT 1 AS one",
    "LOCK TABLE aliases IN ACCESS EXCLUSIVE MODE",
);
const COUNT: Sql = Sql::same("monitor.count_aliases", "SELECT count(*) AS n FROM aliases");
const INSERT: Sql = Sql::same(
    "monitor.insert_alias",
    "INSERT INTO aliases (id, alias, canonical_name, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $4)",
);
const FIND: Sql = Sql::same(
    "monitor.find_alias",
    "SELECT id, alias, canonical_name, created_at, updated_at FROM aliases WHERE id = $1",
);
const UPDATE: Sql = Sql::same(
    "monitor.update_alias",
    "UPDATE aliases SET alias = $2, canonical_name = $3, updated_at = $4 WHERE id = $1",
);
const DELETE: Sql = Sql::same("monitor.delete_alias", "DELETE FROM aliases WHERE id = $1");
const LIST: Sql = Sql::same(
    "monitor.list_aliases",
    "SELECT id, alias, canonical_name, created_at, updated_at FROM aliases
     WHERE id < $1 ORDER BY id DESC LIMIT $2",
);
const ALL: Sql = Sql::same(
    "monitor.all_aliases",
    "SELECT id, alias, canonical_name, created_at, updated_at FROM aliases ORDER BY alias LIMIT $1",
);

/// Sorts after every id.
const AFTER_EVERY_ID: &str = "~";

/// Nobody else changes aliases, nor records by them, until the transaction ends.
pub(in crate::aliases) async fn lock(tx: &mut Tx) -> Result<(), StoreError> {
    tx.execute(&LOCK, &[]).await.map(drop)
}

pub(in crate::aliases) async fn count(tx: &mut Tx) -> Result<i64, StoreError> {
    tx.fetch_one(&COUNT, &[]).await?.get("n")
}

pub(in crate::aliases) async fn find(tx: &mut Tx, id: Id) -> Result<Option<Alias>, StoreError> {
    tx.fetch_optional(&FIND, values![id]).await?.as_ref().map(read).transpose()
}

pub(in crate::aliases) async fn insert(tx: &mut Tx, alias: &Alias) -> Result<(), AliasesError> {
    let values = values![alias.id, &alias.alias, &alias.canonical_name, alias.created_at];
    tx.execute(&INSERT, values).await.map(drop).map_err(taken)
}

pub(in crate::aliases) async fn update(tx: &mut Tx, alias: &Alias) -> Result<(), AliasesError> {
    let values = values![alias.id, &alias.alias, &alias.canonical_name, alias.updated_at];
    tx.execute(&UPDATE, values).await.map(drop).map_err(taken)
}

pub(in crate::aliases) async fn delete(tx: &mut Tx, id: Id) -> Result<(), StoreError> {
    tx.execute(&DELETE, values![id]).await.map(drop)
}

/// Up to `limit` aliases before `before`, newest first.
pub(in crate::aliases) async fn list(
    db: &Db,
    before: Option<Id>,
    limit: i64,
) -> Result<Vec<Alias>, StoreError> {
    let before = before.map_or_else(|| AFTER_EVERY_ID.to_owned(), |id| id.to_string());
    db.fetch_all(&LIST, values![&before, limit]).await?.iter().map(read).collect()
}

/// Up to `limit` aliases in the order of their names.
pub(in crate::aliases) async fn all(
    snapshot: &mut Snapshot,
    limit: i64,
) -> Result<Vec<Alias>, StoreError> {
    snapshot.fetch_all(&ALL, values![limit]).await?.iter().map(read).collect()
}

fn read(row: &Row) -> Result<Alias, StoreError> {
    Ok(Alias {
        id: row.get("id")?,
        alias: row.get("alias")?,
        canonical_name: row.get("canonical_name")?,
        created_at: row.get::<Timestamp>("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}

fn taken(error: StoreError) -> AliasesError {
    match error {
        StoreError::Unique { .. } => AliasesError::Taken,
        error => error.into(),
    }
}
