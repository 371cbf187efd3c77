//! API tokens.

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Db, Row, Sql, StoreError, Tx, values};
use serde::Serialize;
use utoipa::ToSchema;

use super::{above, one_more};
use crate::decide::seen_every;
use crate::error::AccountsError;
use crate::model::{Identity, PageAsk, Part, Scope, UserStatus};

/// An API token, as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ApiToken {
    /// The id.
    #[schema(value_type = String)]
    pub id: Id,
    /// What its owner calls it.
    #[schema(example = "deploy script")]
    pub name: String,
    /// What it may do.
    pub scope: Scope,
    /// Its first characters.
    #[schema(example = "mst_a1B2")]
    pub prefix: String,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it ends, if it does.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub expires_at: Option<Timestamp>,
    /// When it was used last, to the minute.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub last_used_at: Option<Timestamp>,
}

/// A token joined with its owner, as each request looks it up.
#[derive(Debug, Clone)]
pub(crate) struct HeldToken {
    pub(crate) id: Id,
    pub(crate) scope: Scope,
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) last_used_at: Option<Timestamp>,
    pub(crate) user: Identity,
    pub(crate) status: UserStatus,
}

const HELD: Sql = Sql::same(
    "accounts.token_with_user",
    "SELECT t.id AS token_id, t.scope, t.expires_at, t.last_used_at, u.id AS user_id, u.email, u.role,
       u.status
     FROM api_tokens t JOIN users u ON u.id = t.user_id WHERE t.token_hash = $1",
);
const INSERT: Sql = Sql::same(
    "accounts.insert_token",
    "INSERT INTO api_tokens (id, token_hash, user_id, name, prefix, scope, created_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
);
const COUNT: Sql = Sql::same(
    "accounts.count_tokens",
    "SELECT count(*) AS tokens FROM api_tokens WHERE user_id = $1",
);
const LIST: Sql = Sql::same(
    "accounts.list_tokens",
    "SELECT id, name, scope, prefix, created_at, expires_at, last_used_at FROM api_tokens
     WHERE user_id = $1 AND id > $2 ORDER BY id LIMIT $3",
);
const REVOKE: Sql =
    Sql::same("accounts.revoke_token", "DELETE FROM api_tokens WHERE id = $1 AND user_id = $2");
const REVOKE_ALL_OF: Sql =
    Sql::same("accounts.revoke_tokens_of_user", "DELETE FROM api_tokens WHERE user_id = $1");
const REVOKE_ALL: Sql = Sql::same("accounts.revoke_all_tokens", "DELETE FROM api_tokens");
const USED: Sql = Sql::same(
    "accounts.token_used",
    "UPDATE api_tokens SET last_used_at = $2
     WHERE id = $1 AND (last_used_at IS NULL OR last_used_at <= $2 - $3)",
);
const ALIVE: Sql = Sql::same(
    "accounts.token_is_alive",
    "SELECT id FROM api_tokens
     WHERE id = $1 AND user_id = $2 AND (expires_at IS NULL OR expires_at > $3)",
);

pub(crate) async fn held(db: &Db, hash: &str) -> Result<Option<HeldToken>, AccountsError> {
    let row = db.fetch_optional(&HELD, values![hash]).await?;
    row.as_ref().map(read_held).transpose()
}

fn read_held(row: &Row) -> Result<HeldToken, AccountsError> {
    Ok(HeldToken {
        id: row.get("token_id")?,
        scope: row.get::<String>("scope")?.parse()?,
        expires_at: row.get("expires_at")?,
        last_used_at: row.get("last_used_at")?,
        user: Identity {
            id: row.get("user_id")?,
            email: row.get::<String>("email")?.parse()?,
            role: row.get::<String>("role")?.parse()?,
        },
        status: row.get::<String>("status")?.parse()?,
    })
}

pub(crate) async fn insert(
    tx: &mut Tx,
    token: &ApiToken,
    hash: &str,
    user_id: Id,
) -> Result<(), StoreError> {
    let values = values![
        token.id,
        hash,
        user_id,
        token.name.as_str(),
        token.prefix.as_str(),
        token.scope.name(),
        token.created_at,
        token.expires_at,
    ];
    tx.execute(&INSERT, values).await.map(drop)
}

pub(crate) async fn count(tx: &mut Tx, user_id: Id) -> Result<i64, StoreError> {
    tx.fetch_one(&COUNT, values![user_id]).await?.get("tokens")
}

pub(crate) async fn list(
    db: &Db,
    user_id: Id,
    ask: PageAsk,
) -> Result<Part<ApiToken>, AccountsError> {
    let rows = db.fetch_all(&LIST, values![user_id, &above(ask), one_more(ask)]).await?;
    let tokens: Result<Vec<_>, AccountsError> = rows
        .iter()
        .map(|row| {
            Ok(ApiToken {
                id: row.get("id")?,
                name: row.get("name")?,
                scope: row.get::<String>("scope")?.parse()?,
                prefix: row.get("prefix")?,
                created_at: row.get("created_at")?,
                expires_at: row.get("expires_at")?,
                last_used_at: row.get("last_used_at")?,
            })
        })
        .collect();
    Ok(Part::cut(tokens?, ask.limit, |token| token.id))
}

pub(crate) async fn revoke(tx: &mut Tx, id: Id, user_id: Id) -> Result<bool, StoreError> {
    Ok(tx.execute(&REVOKE, values![id, user_id]).await? == 1)
}

pub(crate) async fn revoke_all_of(tx: &mut Tx, user_id: Id) -> Result<u64, StoreError> {
    tx.execute(&REVOKE_ALL_OF, values![user_id]).await
}

pub(crate) async fn revoke_all(tx: &mut Tx) -> Result<u64, StoreError> {
    tx.execute(&REVOKE_ALL, &[]).await
}

pub(crate) async fn used(tx: &mut Tx, id: Id, now: Timestamp) -> Result<(), StoreError> {
    tx.execute(&USED, values![id, now, seen_every()]).await.map(drop)
}

pub(crate) async fn is_alive(
    tx: &mut Tx,
    id: Id,
    user_id: Id,
    now: Timestamp,
) -> Result<bool, StoreError> {
    Ok(tx.fetch_optional(&ALIVE, values![id, user_id, now]).await?.is_some())
}
