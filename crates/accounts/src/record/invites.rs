//! Invites.

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Db, Row, Sql, StoreError, Tx, values};
use serde::Serialize;
use utoipa::ToSchema;

use super::{below, one_more};
use crate::decide;
use crate::error::AccountsError;
use crate::model::{InviteStatus, PageAsk, Part, Role};

/// An invite, as admins see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Invite {
    /// The id.
    #[schema(value_type = String)]
    pub id: Id,
    /// Who is invited.
    #[schema(example = "ada@example.com")]
    pub email: String,
    /// What the user will be allowed to do.
    pub role: Role,
    /// Where it stands.
    pub status: InviteStatus,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// Until when it can be accepted.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
    /// The admin who made it.
    #[schema(example = "root@example.com")]
    pub created_by: String,
}

/// An invite that is to be written.
pub(crate) struct NewInvite<'a> {
    pub(crate) id: Id,
    pub(crate) hash: &'a str,
    pub(crate) email: &'a str,
    pub(crate) role: Role,
    pub(crate) access_request_id: Option<Id>,
    pub(crate) created_by: Id,
    pub(crate) now: Timestamp,
    pub(crate) expires_at: Timestamp,
}

macro_rules! select_invite {
    ($name:literal, $end:literal) => {
        Sql::same(
            $name,
            concat!(
                "SELECT i.id, i.email, i.role, i.created_at, i.expires_at, i.accepted_at, i.revoked_at,
                   u.email AS created_by
                 FROM invites i JOIN users u ON u.id = i.created_by ",
                $end
            ),
        )
    };
}

const LIST: Sql =
    select_invite!("accounts.list_invites", "WHERE i.id < $1 ORDER BY i.id DESC LIMIT $2");
const BY_ID: Sql = select_invite!("accounts.invite_by_id", "WHERE i.id = $1");
const BY_HASH: Sql = select_invite!("accounts.invite_by_token", "WHERE i.token_hash = $1");
const INSERT: Sql = Sql::same(
    "accounts.insert_invite",
    "INSERT INTO invites
       (id, token_hash, email, role, access_request_id, created_by, created_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
);
const CLAIM: Sql = Sql::same(
    "accounts.claim_invite",
    "UPDATE invites SET accepted_at = $2
     WHERE token_hash = $1 AND accepted_at IS NULL AND revoked_at IS NULL AND expires_at > $2
     RETURNING id",
);
const REVOKE: Sql = Sql::same(
    "accounts.revoke_invite",
    "UPDATE invites SET revoked_at = $2
     WHERE id = $1 AND accepted_at IS NULL AND revoked_at IS NULL AND expires_at > $2",
);
const REVOKE_FOR_EMAIL: Sql = Sql::same(
    "accounts.revoke_invites_for_email",
    "UPDATE invites SET revoked_at = $2
     WHERE email = $1 AND accepted_at IS NULL AND revoked_at IS NULL",
);
const REVOKE_OF_ADMIN: Sql = Sql::same(
    "accounts.revoke_invites_of_admin",
    "UPDATE invites SET revoked_at = $2
     WHERE created_by = $1 AND accepted_at IS NULL AND revoked_at IS NULL",
);
const REVOKE_ALL: Sql = Sql::same(
    "accounts.revoke_all_invites",
    "UPDATE invites SET revoked_at = $1 WHERE accepted_at IS NULL AND revoked_at IS NULL",
);

fn read(row: &Row, now: Timestamp) -> Result<Invite, AccountsError> {
    let expires_at = row.get("expires_at")?;
    let status =
        decide::invite_status(row.get("accepted_at")?, row.get("revoked_at")?, expires_at, now);
    Ok(Invite {
        id: row.get("id")?,
        email: row.get("email")?,
        role: row.get::<String>("role")?.parse()?,
        status,
        created_at: row.get("created_at")?,
        expires_at,
        created_by: row.get("created_by")?,
    })
}

pub(crate) async fn list(
    db: &Db,
    ask: PageAsk,
    now: Timestamp,
) -> Result<Part<Invite>, AccountsError> {
    let rows = db.fetch_all(&LIST, values![&below(ask), one_more(ask)]).await?;
    let invites: Result<Vec<_>, _> = rows.iter().map(|row| read(row, now)).collect();
    Ok(Part::cut(invites?, ask.limit, |invite| invite.id))
}

pub(crate) async fn by_hash(
    db: &Db,
    hash: &str,
    now: Timestamp,
) -> Result<Option<Invite>, AccountsError> {
    let row = db.fetch_optional(&BY_HASH, values![hash]).await?;
    row.as_ref().map(|row| read(row, now)).transpose()
}

pub(crate) async fn find(
    tx: &mut Tx,
    id: Id,
    now: Timestamp,
) -> Result<Option<Invite>, AccountsError> {
    let row = tx.fetch_optional(&BY_ID, values![id]).await?;
    row.as_ref().map(|row| read(row, now)).transpose()
}

pub(crate) async fn insert(tx: &mut Tx, new: &NewInvite<'_>) -> Result<(), StoreError> {
    let values = values![
        new.id,
        new.hash,
        new.email,
        new.role.name(),
        new.access_request_id,
        new.created_by,
        new.now,
        new.expires_at,
    ];
    tx.execute(&INSERT, values).await.map(drop)
}

/// Takes the invite for oneself: of two at once, one gets it.
pub(crate) async fn claim(tx: &mut Tx, hash: &str, now: Timestamp) -> Result<bool, StoreError> {
    Ok(tx.fetch_optional(&CLAIM, values![hash, now]).await?.is_some())
}

pub(crate) async fn revoke(tx: &mut Tx, id: Id, now: Timestamp) -> Result<bool, StoreError> {
    Ok(tx.execute(&REVOKE, values![id, now]).await? == 1)
}

pub(crate) async fn revoke_for_email(
    tx: &mut Tx,
    email: &str,
    now: Timestamp,
) -> Result<u64, StoreError> {
    tx.execute(&REVOKE_FOR_EMAIL, values![email, now]).await
}

pub(crate) async fn revoke_of_admin(
    tx: &mut Tx,
    admin: Id,
    now: Timestamp,
) -> Result<u64, StoreError> {
    tx.execute(&REVOKE_OF_ADMIN, values![admin, now]).await
}

pub(crate) async fn revoke_all(tx: &mut Tx, now: Timestamp) -> Result<u64, StoreError> {
    tx.execute(&REVOKE_ALL, values![now]).await
}
