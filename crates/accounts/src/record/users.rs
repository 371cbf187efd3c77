//! Users.

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Db, Row, Snapshot, Sql, StoreError, Tx, values};
use serde::Serialize;
use utoipa::ToSchema;

use super::{above, one_more};
use crate::email::Email;
use crate::error::AccountsError;
use crate::model::{Identity, PageAsk, Part, Role, UserStatus};

/// A user, as admins see one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct User {
    /// The id.
    #[schema(value_type = String)]
    pub id: Id,
    /// The e-mail address.
    #[schema(example = "ada@example.com")]
    pub email: String,
    /// What the user may do.
    pub role: Role,
    /// Whether the user may sign in.
    pub status: UserStatus,
    /// When the account was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When the user signed in last.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub last_login_at: Option<Timestamp>,
}

/// A user with the hash of the password.
pub(crate) struct Kept {
    pub(crate) user: User,
    pub(crate) password_hash: String,
}

macro_rules! select_user {
    ($name:literal, $end:literal) => {
        Sql::same(
            $name,
            concat!(
                "SELECT id, email, role, status, password_hash, created_at, last_login_at FROM users ",
                $end
            ),
        )
    };
}

const BY_EMAIL: Sql = select_user!("accounts.user_by_email", "WHERE email = $1");
const BY_ID: Sql = select_user!("accounts.user_by_id", "WHERE id = $1");
const LIST: Sql = select_user!("accounts.list_users", "WHERE id > $1 ORDER BY id LIMIT $2");
const ANY: Sql = Sql::same("accounts.any_user", "SELECT id FROM users LIMIT 1");
const INSERT: Sql = Sql::same(
    "accounts.insert_user",
    "INSERT INTO users (id, email, role, status, password_hash, created_at)
     VALUES ($1, $2, $3, 'active', $4, $5) ON CONFLICT (email) DO NOTHING",
);
const CHANGE: Sql =
    Sql::same("accounts.change_user", "UPDATE users SET role = $2, status = $3 WHERE id = $1");
const SET_PASSWORD: Sql =
    Sql::same("accounts.set_password", "UPDATE users SET password_hash = $2 WHERE id = $1");
const SIGNED_IN: Sql =
    Sql::same("accounts.user_signed_in", "UPDATE users SET last_login_at = $2 WHERE id = $1");
const OTHER_ADMIN: Sql = Sql::same(
    "accounts.other_active_admin",
    "SELECT id FROM users WHERE role = 'admin' AND status = 'active' AND id <> $1 LIMIT 1",
);
const ADMINS: Sql = Sql::same(
    "accounts.active_admins",
    "SELECT email FROM users WHERE role = 'admin' AND status = 'active' ORDER BY id LIMIT $1",
);
/// Until the end of the transaction nobody else changes the user.
const LOCK: Sql = Sql::pair(
    "accounts.lock_user",
    "SELECT role, status FROM users WHERE id = $1",
    "SELECT role, status FROM users WHERE id = $1 FOR UPDATE",
);
/// Whoever changes accounts does so one after the other: who is the last admin, how many tokens one
/// has and which invite replaces which are questions that two at once would both answer wrongly.
const ALONE: Sql = Sql::pair(
    "accounts.alone_with_users",
    "SELECT 'SQLite has one writer' AS held",
    "SELECT pg_advisory_xact_lock(5177260402)::text AS held",
);

fn read(row: &Row) -> Result<Kept, AccountsError> {
    let user = User {
        id: row.get("id")?,
        email: row.get("email")?,
        role: row.get::<String>("role")?.parse()?,
        status: row.get::<String>("status")?.parse()?,
        created_at: row.get("created_at")?,
        last_login_at: row.get("last_login_at")?,
    };
    Ok(Kept { user, password_hash: row.get("password_hash")? })
}

impl Kept {
    pub(crate) fn identity(&self) -> Result<Identity, AccountsError> {
        let User { id, email, role, .. } = &self.user;
        Ok(Identity { id: *id, email: email.parse()?, role: *role })
    }

    pub(crate) fn is_active(&self) -> bool {
        self.user.status == UserStatus::Active
    }
}

pub(crate) async fn any(db: &Db) -> Result<bool, StoreError> {
    Ok(db.fetch_optional(&ANY, &[]).await?.is_some())
}

pub(crate) async fn by_email(db: &Db, email: &Email) -> Result<Option<Kept>, AccountsError> {
    db.fetch_optional(&BY_EMAIL, values![email.as_str()]).await?.as_ref().map(read).transpose()
}

pub(crate) async fn list(db: &Db, ask: PageAsk) -> Result<Part<User>, AccountsError> {
    let rows = db.fetch_all(&LIST, values![&above(ask), one_more(ask)]).await?;
    let users: Result<Vec<_>, _> = rows.iter().map(|row| read(row).map(|kept| kept.user)).collect();
    Ok(Part::cut(users?, ask.limit, |user| user.id))
}

pub(crate) async fn admins(tx: &mut Snapshot, limit: i64) -> Result<Vec<Email>, AccountsError> {
    let rows = tx.fetch_all(&ADMINS, values![limit]).await?;
    rows.iter().map(|row| Ok(row.get::<String>("email")?.parse()?)).collect()
}

pub(crate) async fn alone(tx: &mut Tx) -> Result<(), StoreError> {
    tx.fetch_optional(&ALONE, &[]).await.map(drop)
}

/// What the user may do now, if there is one; it stays so until the end of the transaction.
pub(crate) async fn lock(tx: &mut Tx, id: Id) -> Result<Option<(Role, UserStatus)>, AccountsError> {
    let Some(row) = tx.fetch_optional(&LOCK, values![id]).await? else { return Ok(None) };
    Ok(Some((row.get::<String>("role")?.parse()?, row.get::<String>("status")?.parse()?)))
}

pub(crate) async fn any_in(tx: &mut Tx) -> Result<bool, StoreError> {
    Ok(tx.fetch_optional(&ANY, &[]).await?.is_some())
}

pub(crate) async fn find(tx: &mut Snapshot, id: Id) -> Result<Option<Kept>, AccountsError> {
    tx.fetch_optional(&BY_ID, values![id]).await?.as_ref().map(read).transpose()
}

pub(crate) async fn find_by_email(
    tx: &mut Snapshot,
    email: &Email,
) -> Result<Option<Kept>, AccountsError> {
    tx.fetch_optional(&BY_EMAIL, values![email.as_str()]).await?.as_ref().map(read).transpose()
}

/// Whether it was made: an account with this address may be there already.
pub(crate) async fn insert(
    tx: &mut Tx,
    user: &Identity,
    password_hash: &str,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let values = values![user.id, user.email.as_str(), user.role.name(), password_hash, now];
    Ok(tx.execute(&INSERT, values).await? == 1)
}

pub(crate) async fn change(
    tx: &mut Tx,
    id: Id,
    role: Role,
    status: UserStatus,
) -> Result<(), StoreError> {
    tx.execute(&CHANGE, values![id, role.name(), status.name()]).await.map(drop)
}

pub(crate) async fn set_password(tx: &mut Tx, id: Id, hash: &str) -> Result<(), StoreError> {
    tx.execute(&SET_PASSWORD, values![id, hash]).await.map(drop)
}

pub(crate) async fn signed_in(tx: &mut Tx, id: Id, now: Timestamp) -> Result<(), StoreError> {
    tx.execute(&SIGNED_IN, values![id, now]).await.map(drop)
}

pub(crate) async fn has_other_admin(tx: &mut Tx, id: Id) -> Result<bool, StoreError> {
    Ok(tx.fetch_optional(&OTHER_ADMIN, values![id]).await?.is_some())
}
