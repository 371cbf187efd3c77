//! Which pepper this database's hashes were made with.

use mainstay_store::{Db, Sql, StoreError, Tx, values};

const KEEP: Sql = Sql::same(
    "accounts.keep_pepper_check",
    "INSERT INTO pepper_check (singleton, check_hash) VALUES (1, $1)
     ON CONFLICT (singleton) DO NOTHING",
);
const FIND: Sql = Sql::same(
    "accounts.find_pepper_check",
    "SELECT check_hash FROM pepper_check WHERE singleton = 1",
);
const REPLACE: Sql = Sql::same(
    "accounts.replace_pepper_check",
    "INSERT INTO pepper_check (singleton, check_hash) VALUES (1, $1)
     ON CONFLICT (singleton) DO UPDATE SET check_hash = excluded.check_hash",
);

/// The check of the pepper in use, which is `fresh` where none was kept before.
pub(crate) async fn find_or_keep(db: &Db, fresh: &str) -> Result<String, StoreError> {
    if let Some(row) = db.fetch_optional(&FIND, &[]).await? {
        return row.get("check_hash");
    }
    db.write(async |tx| {
        tx.execute(&KEEP, values![fresh]).await?;
        tx.fetch_one(&FIND, &[]).await?.get("check_hash")
    })
    .await
}

pub(crate) async fn replace(tx: &mut Tx, check: &str) -> Result<(), StoreError> {
    tx.execute(&REPLACE, values![check]).await.map(drop)
}
