//! Links to a report.

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Db, Row, Sql, StoreError, Tx, values};

use crate::shares::{MAX_SHARES_PER_FILE, Share};

const INSERT: Sql = Sql::same(
    "reports.insert_share",
    "INSERT INTO file_shares (id, user_id, file_id, token_hash, created_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6)",
);
const LIST: Sql = Sql::same(
    "reports.list_shares",
    "SELECT id, created_at, expires_at, revoked_at FROM file_shares
     WHERE user_id = $1 AND file_id = $2 ORDER BY id DESC LIMIT $3",
);
const COUNT_LIVE: Sql = Sql::same(
    "reports.count_live_shares",
    "SELECT count(*) AS shares FROM file_shares
     WHERE user_id = $1 AND file_id = $2 AND revoked_at IS NULL AND expires_at > $3",
);
const DROP_DEAD: Sql = Sql::same(
    "reports.drop_dead_shares",
    "DELETE FROM file_shares WHERE id IN (SELECT id FROM file_shares
       WHERE user_id = $1 AND file_id = $2 AND (revoked_at IS NOT NULL OR expires_at <= $3)
       ORDER BY id DESC LIMIT $4 OFFSET $5)",
);
const REVOKE: Sql = Sql::same(
    "reports.revoke_share",
    "UPDATE file_shares SET revoked_at = coalesce(revoked_at, $4)
     WHERE id = $1 AND user_id = $2 AND file_id = $3",
);
const FIND: Sql = Sql::same(
    "reports.find_share",
    "SELECT user_id, file_id, expires_at, revoked_at FROM file_shares WHERE token_hash = $1",
);
const FORGET: Sql = Sql::same(
    "reports.forget_shares",
    "DELETE FROM file_shares WHERE id IN
       (SELECT id FROM file_shares WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)",
);

/// A share that is to be written.
pub(crate) struct NewShare<'a> {
    pub(crate) id: Id,
    pub(crate) user: Id,
    pub(crate) file: Id,
    pub(crate) hash: &'a str,
    pub(crate) created_at: Timestamp,
    pub(crate) expires_at: Timestamp,
}

/// What a token leads to.
pub(crate) struct Found {
    pub(crate) user: Id,
    pub(crate) file: Id,
    pub(crate) expires_at: Timestamp,
    pub(crate) revoked_at: Option<Timestamp>,
}

pub(crate) async fn insert(tx: &mut Tx, new: &NewShare<'_>) -> Result<(), StoreError> {
    let values = values![new.id, new.user, new.file, new.hash, new.created_at, new.expires_at];
    tx.execute(&INSERT, values).await.map(drop)
}

/// The shares of a file, newest first: the live ones are never more than the list holds.
pub(crate) async fn list(db: &Db, user: Id, file: Id) -> Result<Vec<Share>, StoreError> {
    let most = i64::from(MAX_SHARES_PER_FILE).saturating_mul(2);
    db.fetch_all(&LIST, values![user, file, most]).await?.iter().map(share).collect()
}

/// How many shares of a file can be used, after the dead ones beyond as many again are removed.
pub(crate) async fn count_live(
    tx: &mut Tx,
    (user, file): (Id, Id),
    now: Timestamp,
) -> Result<i64, StoreError> {
    let most = i64::from(MAX_SHARES_PER_FILE);
    // The newest dead ones stay to be seen; one place is for whoever is revoked next.
    let kept = most.saturating_sub(1);
    tx.execute(&DROP_DEAD, values![user, file, now, most, kept]).await?;
    tx.fetch_one(&COUNT_LIVE, values![user, file, now]).await?.get("shares")
}

/// Takes a share back, unless it was before; tells whether it is there.
pub(crate) async fn revoke(
    tx: &mut Tx,
    id: Id,
    (user, file): (Id, Id),
    now: Timestamp,
) -> Result<bool, StoreError> {
    Ok(tx.execute(&REVOKE, values![id, user, file, now]).await? == 1)
}

/// What a token leads to, whether it still does or not.
pub(crate) async fn find(db: &Db, hash: &str) -> Result<Option<Found>, StoreError> {
    let row = db.fetch_optional(&FIND, values![hash]).await?;
    row.map(|row| {
        Ok(Found {
            user: row.get("user_id")?,
            file: row.get("file_id")?,
            expires_at: row.get("expires_at")?,
            revoked_at: row.get("revoked_at")?,
        })
    })
    .transpose()
}

/// Removes at most so many that expired before a moment; tells how many.
pub(crate) async fn forget(tx: &mut Tx, before: Timestamp, most: i64) -> Result<u64, StoreError> {
    tx.execute(&FORGET, values![before, most]).await
}

fn share(row: &Row) -> Result<Share, StoreError> {
    Ok(Share {
        id: row.get("id")?,
        created_at: row.get("created_at")?,
        expires_at: row.get("expires_at")?,
        revoked_at: row.get("revoked_at")?,
    })
}
