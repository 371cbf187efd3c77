//! The aliases themselves.

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Db, Row, Snapshot, Sql, StoreError, Tx, values};
use serde::Serialize;

use crate::aliases::edit::Pair;
use crate::aliases::error::AliasesError;
use crate::aliases::handle::Alias;
use crate::record::{over_rows, rows_text};

/// Whoever records new dependencies has read the aliases in its transaction, and is done first; whoever
/// comes later reads what is written now.
const LOCK: Sql = Sql::pair(
    "monitor.lock_aliases",
    "SELECT 1 AS one",
    "LOCK TABLE aliases IN ACCESS EXCLUSIVE MODE",
);
const COUNT: Sql = Sql::same("monitor.count_aliases", "SELECT count(*) AS n FROM aliases");
const INSERT: Sql = over_rows!(
    "monitor.insert_aliases",
    "INSERT INTO aliases (id, alias, canonical_name, created_at, updated_at)
     SELECT id, alias, canonical_name, at, at FROM",
    [id text, alias text, canonical_name text, at bigint],
    "WHERE true"
);
const FIND: Sql = Sql::same(
    "monitor.find_alias",
    "SELECT id, alias, canonical_name, created_at, updated_at FROM aliases WHERE id = $1",
);
const UPDATE: Sql = over_rows!(
    "monitor.update_aliases",
    "UPDATE aliases SET alias = v.alias, canonical_name = v.canonical_name, updated_at = v.at FROM",
    [id text, alias text, canonical_name text, at bigint],
    "WHERE aliases.id = v.id"
);
const DELETE: Sql = Sql::pair(
    "monitor.delete_aliases",
    "DELETE FROM aliases WHERE id IN (SELECT value FROM json_each($1))",
    "DELETE FROM aliases WHERE id = ANY ($1)",
);
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

/// An alias as it travels.
#[derive(Debug, Serialize)]
struct AliasRow<'a> {
    id: Id,
    alias: &'a str,
    canonical_name: &'a str,
    at: i64,
}

impl<'a> From<&'a Alias> for AliasRow<'a> {
    fn from(alias: &'a Alias) -> Self {
        let (id, at) = (alias.id, alias.updated_at.as_millis());
        Self { id, alias: &alias.alias, canonical_name: &alias.canonical_name, at }
    }
}

/// Writes aliases as they will be; those that go, go first.
pub(in crate::aliases) async fn write(tx: &mut Tx, pairs: &[&Pair]) -> Result<(), AliasesError> {
    let (mut new, mut changed, mut gone) = (Vec::new(), Vec::new(), Vec::new());
    for pair in pairs {
        match (&pair.before, &pair.after) {
            (None, Some(after)) => new.push(AliasRow::from(after)),
            (Some(_), Some(after)) => changed.push(AliasRow::from(after)),
            (Some(before), None) => gone.push(before.id.to_string()),
            (None, None) => {}
        }
    }
    if !gone.is_empty() {
        tx.execute(&DELETE, values![&gone]).await?;
    }
    for (sql, rows) in [(&UPDATE, changed), (&INSERT, new)] {
        if !rows.is_empty() {
            tx.execute(sql, values![rows_text(&rows).as_str()]).await.map_err(taken)?;
        }
    }
    Ok(())
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
