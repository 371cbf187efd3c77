//! Sessions.

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Db, Row, Sql, StoreError, Tx, values};

use crate::decide::seen_every;
use crate::error::AccountsError;
use crate::model::{Identity, MAX_SESSIONS, Source, UserStatus};

/// A session, as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// The id.
    pub id: Id,
    /// When the user signed in.
    pub created_at: Timestamp,
    /// When it was used last, to the minute.
    pub last_seen_at: Timestamp,
    /// When it ends.
    pub expires_at: Timestamp,
    /// The address that signed in.
    pub address: Option<String>,
    /// What the client called itself.
    pub user_agent: Option<String>,
}

/// A session joined with its user, as each request looks it up.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    pub(crate) id: Id,
    pub(crate) expires_at: Timestamp,
    pub(crate) last_seen_at: Timestamp,
    pub(crate) user: Identity,
    pub(crate) status: UserStatus,
}

const HELD: Sql = Sql::same(
    "accounts.session_with_user",
    "SELECT s.id AS session_id, s.expires_at, s.last_seen_at, u.id AS user_id, u.email, u.role, u.status
     FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.token_hash = $1",
);
const INSERT: Sql = Sql::same(
    "accounts.insert_session",
    "INSERT INTO sessions
       (id, token_hash, user_id, created_at, last_seen_at, expires_at, address, user_agent)
     VALUES ($1, $2, $3, $4, $4, $5, $6, $7)",
);
/// Keeps room for one more below the bound.
const TRIM: Sql = Sql::same(
    "accounts.trim_sessions",
    "DELETE FROM sessions WHERE id IN
       (SELECT id FROM sessions WHERE user_id = $1 ORDER BY created_at DESC, id DESC
        LIMIT 1000 OFFSET $2)",
);
const LIST: Sql = Sql::same(
    "accounts.list_sessions",
    "SELECT id, created_at, last_seen_at, expires_at, address, user_agent FROM sessions
     WHERE user_id = $1 AND expires_at > $2 ORDER BY last_seen_at DESC, id DESC LIMIT 1000",
);
const END_BY_HASH: Sql = Sql::same(
    "accounts.end_session_by_token",
    "DELETE FROM sessions WHERE token_hash = $1 RETURNING id",
);
const END_ONE: Sql =
    Sql::same("accounts.end_session", "DELETE FROM sessions WHERE id = $1 AND user_id = $2");
const END_OTHERS: Sql = Sql::same(
    "accounts.end_other_sessions",
    "DELETE FROM sessions WHERE user_id = $1 AND id <> $2",
);
const END_ALL_OF: Sql =
    Sql::same("accounts.end_sessions_of_user", "DELETE FROM sessions WHERE user_id = $1");
const END_ALL: Sql = Sql::same("accounts.end_all_sessions", "DELETE FROM sessions");
const SEEN: Sql = Sql::same(
    "accounts.session_seen",
    "UPDATE sessions SET last_seen_at = $2 WHERE id = $1 AND last_seen_at <= $2 - $3",
);
const ALIVE: Sql = Sql::same(
    "accounts.session_is_alive",
    "SELECT id FROM sessions WHERE id = $1 AND user_id = $2 AND expires_at > $3",
);

/// A session that is to be written.
pub(crate) struct NewSession<'a> {
    pub(crate) id: Id,
    pub(crate) hash: &'a str,
    pub(crate) user_id: Id,
    pub(crate) now: Timestamp,
    pub(crate) expires_at: Timestamp,
    pub(crate) source: &'a Source,
}

pub(crate) async fn held(db: &Db, hash: &str) -> Result<Option<Held>, AccountsError> {
    let row = db.fetch_optional(&HELD, values![hash]).await?;
    row.as_ref().map(read_held).transpose()
}

fn read_held(row: &Row) -> Result<Held, AccountsError> {
    Ok(Held {
        id: row.get("session_id")?,
        expires_at: row.get("expires_at")?,
        last_seen_at: row.get("last_seen_at")?,
        user: Identity {
            id: row.get("user_id")?,
            email: row.get::<String>("email")?.parse()?,
            role: row.get::<String>("role")?.parse()?,
        },
        status: row.get::<String>("status")?.parse()?,
    })
}

/// Writes a session; beyond the bound of one user's sessions the oldest end.
pub(crate) async fn insert(tx: &mut Tx, new: &NewSession<'_>) -> Result<(), StoreError> {
    tx.execute(&TRIM, values![new.user_id, MAX_SESSIONS - 1]).await?;
    let address = new.source.address.map(|address| address.to_string());
    let values = values![
        new.id,
        new.hash,
        new.user_id,
        new.now,
        new.expires_at,
        address.as_deref(),
        new.source.user_agent.as_deref(),
    ];
    tx.execute(&INSERT, values).await.map(drop)
}

pub(crate) async fn list(db: &Db, user_id: Id, now: Timestamp) -> Result<Vec<Session>, StoreError> {
    let rows = db.fetch_all(&LIST, values![user_id, now]).await?;
    rows.iter()
        .map(|row| {
            Ok(Session {
                id: row.get("id")?,
                created_at: row.get("created_at")?,
                last_seen_at: row.get("last_seen_at")?,
                expires_at: row.get("expires_at")?,
                address: row.get("address")?,
                user_agent: row.get("user_agent")?,
            })
        })
        .collect()
}

/// The session that ended, if there was one.
pub(crate) async fn end_by_hash(tx: &mut Tx, hash: &str) -> Result<Option<Id>, StoreError> {
    let row = tx.fetch_optional(&END_BY_HASH, values![hash]).await?;
    row.map(|row| row.get("id")).transpose()
}

pub(crate) async fn end_one(tx: &mut Tx, id: Id, user_id: Id) -> Result<bool, StoreError> {
    Ok(tx.execute(&END_ONE, values![id, user_id]).await? == 1)
}

pub(crate) async fn end_others(tx: &mut Tx, user_id: Id, but: Id) -> Result<u64, StoreError> {
    tx.execute(&END_OTHERS, values![user_id, but]).await
}

pub(crate) async fn end_all_of(tx: &mut Tx, user_id: Id) -> Result<u64, StoreError> {
    tx.execute(&END_ALL_OF, values![user_id]).await
}

pub(crate) async fn end_all(tx: &mut Tx) -> Result<u64, StoreError> {
    tx.execute(&END_ALL, &[]).await
}

pub(crate) async fn seen(tx: &mut Tx, id: Id, now: Timestamp) -> Result<(), StoreError> {
    tx.execute(&SEEN, values![id, now, seen_every()]).await.map(drop)
}

pub(crate) async fn is_alive(
    tx: &mut Tx,
    id: Id,
    user_id: Id,
    now: Timestamp,
) -> Result<bool, StoreError> {
    Ok(tx.fetch_optional(&ALIVE, values![id, user_id, now]).await?.is_some())
}
