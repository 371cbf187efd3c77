//! Requests for access.

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Db, Row, Sql, StoreError, Tx, values};
use serde::Serialize;
use utoipa::ToSchema;

use super::{below, one_more};
use crate::error::AccountsError;
use crate::model::{PageAsk, Part, RequestStatus};

/// A request for access, as admins see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AccessRequest {
    /// The id.
    #[schema(value_type = String)]
    pub id: Id,
    /// Who asks.
    #[schema(example = "ada@example.com")]
    pub email: String,
    /// Their name.
    #[schema(required)]
    pub name: Option<String>,
    /// Their company.
    #[schema(required)]
    pub company: Option<String>,
    /// What they wrote.
    #[schema(required)]
    pub note: Option<String>,
    /// Where it stands.
    pub status: RequestStatus,
    /// When it came.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// The admin who changed its status last.
    #[schema(required)]
    pub handled_by: Option<String>,
    /// When that was.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub handled_at: Option<Timestamp>,
}

macro_rules! select_request {
    ($name:literal, $end:literal) => {
        Sql::same(
            $name,
            concat!(
                "SELECT r.id, r.email, r.name, r.company, r.note, r.status, r.created_at, r.handled_at,
                   u.email AS handled_by
                 FROM access_requests r LEFT JOIN users u ON u.id = r.handled_by ",
                $end
            ),
        )
    };
}

const LIST: Sql =
    select_request!("accounts.list_access_requests", "WHERE r.id < $1 ORDER BY r.id DESC LIMIT $2");
const LIST_OF_STATUS: Sql = select_request!(
    "accounts.list_access_requests_of_status",
    "WHERE r.status = $3 AND r.id < $1 ORDER BY r.id DESC LIMIT $2"
);
const BY_ID: Sql = select_request!("accounts.access_request_by_id", "WHERE r.id = $1");
const RECENT: Sql = Sql::same(
    "accounts.recent_access_request",
    "SELECT id FROM access_requests
     WHERE email = $1 AND created_at > $2 AND status IN ('new', 'contacted', 'approved') LIMIT 1",
);
const INSERT: Sql = Sql::same(
    "accounts.insert_access_request",
    "INSERT INTO access_requests (id, email, name, company, note, status, created_at)
     VALUES ($1, $2, $3, $4, $5, 'new', $6)",
);
const HANDLE: Sql = Sql::same(
    "accounts.handle_access_request",
    "UPDATE access_requests SET status = $2, handled_by = $3, handled_at = $4 WHERE id = $1",
);

fn read(row: &Row) -> Result<AccessRequest, AccountsError> {
    Ok(AccessRequest {
        id: row.get("id")?,
        email: row.get("email")?,
        name: row.get("name")?,
        company: row.get("company")?,
        note: row.get("note")?,
        status: row.get::<String>("status")?.parse()?,
        created_at: row.get("created_at")?,
        handled_by: row.get("handled_by")?,
        handled_at: row.get("handled_at")?,
    })
}

pub(crate) async fn list(
    db: &Db,
    status: Option<RequestStatus>,
    ask: PageAsk,
) -> Result<Part<AccessRequest>, AccountsError> {
    let rows = match status {
        None => db.fetch_all(&LIST, values![&below(ask), one_more(ask)]).await?,
        Some(status) => {
            let below = below(ask);
            let values = values![&below, one_more(ask), status.name()];
            db.fetch_all(&LIST_OF_STATUS, values).await?
        }
    };
    let requests: Result<Vec<_>, _> = rows.iter().map(read).collect();
    Ok(Part::cut(requests?, ask.limit, |request| request.id))
}

pub(crate) async fn find(tx: &mut Tx, id: Id) -> Result<Option<AccessRequest>, AccountsError> {
    tx.fetch_optional(&BY_ID, values![id]).await?.as_ref().map(read).transpose()
}

pub(crate) async fn has_recent(
    tx: &mut Tx,
    email: &str,
    since: Timestamp,
) -> Result<bool, StoreError> {
    Ok(tx.fetch_optional(&RECENT, values![email, since]).await?.is_some())
}

pub(crate) async fn insert(tx: &mut Tx, request: &AccessRequest) -> Result<(), StoreError> {
    let values = values![
        request.id,
        request.email.as_str(),
        request.name.as_deref(),
        request.company.as_deref(),
        request.note.as_deref(),
        request.created_at,
    ];
    tx.execute(&INSERT, values).await.map(drop)
}

pub(crate) async fn handle(
    tx: &mut Tx,
    id: Id,
    status: RequestStatus,
    by: Id,
    now: Timestamp,
) -> Result<bool, StoreError> {
    Ok(tx.execute(&HANDLE, values![id, status.name(), by, now]).await? == 1)
}
