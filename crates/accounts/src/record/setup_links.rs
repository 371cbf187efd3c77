//! Links to the first account.

use mainstay_base::Timestamp;
use mainstay_store::{Db, Sql, StoreError, Tx, values};

const INSERT: Sql = Sql::same(
    "accounts.insert_setup_link",
    "INSERT INTO setup_links (token_hash, created_at, expires_at) VALUES ($1, $2, $3)",
);
const FIND: Sql = Sql::same(
    "accounts.find_setup_link",
    "SELECT expires_at FROM setup_links WHERE token_hash = $1",
);
const CLEAR: Sql = Sql::same("accounts.clear_setup_links", "DELETE FROM setup_links");

pub(crate) async fn insert(
    tx: &mut Tx,
    hash: &str,
    now: Timestamp,
    expires_at: Timestamp,
) -> Result<(), StoreError> {
    tx.execute(&INSERT, values![hash, now, expires_at]).await.map(drop)
}

/// When the link with this hash ends, if there is one.
pub(crate) async fn expiry(db: &Db, hash: &str) -> Result<Option<Timestamp>, StoreError> {
    let row = db.fetch_optional(&FIND, values![hash]).await?;
    row.map(|row| row.get("expires_at")).transpose()
}

pub(crate) async fn expiry_in(tx: &mut Tx, hash: &str) -> Result<Option<Timestamp>, StoreError> {
    let row = tx.fetch_optional(&FIND, values![hash]).await?;
    row.map(|row| row.get("expires_at")).transpose()
}

pub(crate) async fn clear(tx: &mut Tx) -> Result<(), StoreError> {
    tx.execute(&CLEAR, &[]).await.map(drop)
}
