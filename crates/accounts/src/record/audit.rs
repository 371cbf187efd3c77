//! Who did what to which thing.

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Db, Row, Sql, StoreError, Tx, values};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{below, one_more};
use crate::error::AccountsError;
use crate::model::{Actor, By, Caller, Means, PageAsk, Part};

/// One line of the audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AuditEntry {
    /// The id.
    #[schema(value_type = String)]
    pub id: Id,
    /// When it was done.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// Who did it.
    pub actor: AuditActor,
    /// What was done.
    #[schema(example = "invite.create")]
    pub action: String,
    /// To which thing.
    pub target: AuditTarget,
    /// More about it.
    #[schema(value_type = Object)]
    pub detail: Map<String, Value>,
    /// From which address.
    #[schema(required)]
    pub address: Option<String>,
    /// In which request, as the log names it.
    #[schema(required)]
    pub request_id: Option<String>,
}

/// Who did something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AuditActor {
    /// `user`, `token`, `cli` or `public`.
    #[schema(example = "user")]
    pub kind: String,
    /// The user's id.
    #[schema(required)]
    pub id: Option<String>,
    /// The user's e-mail address at that time.
    #[schema(required)]
    pub email: Option<String>,
}

/// What something was done to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AuditTarget {
    /// What kind of thing.
    #[schema(example = "invite")]
    pub kind: String,
    /// Its id.
    #[schema(required)]
    pub id: Option<String>,
}

/// Which lines are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Of this action.
    pub action: Option<String>,
    /// By the user with this e-mail address.
    pub actor: Option<String>,
    /// About the thing with this id.
    pub target: Option<String>,
}

/// What was done, for a line that is to be written.
pub(crate) struct Deed<'a> {
    pub(crate) action: &'static str,
    pub(crate) target: (&'static str, Option<Id>),
    pub(crate) by: &'a By,
    pub(crate) detail: Value,
}

const INSERT: Sql = Sql::same(
    "accounts.insert_audit",
    "INSERT INTO audit_log
       (id, at, actor_kind, actor_id, actor_email, action, target_kind, target_id, detail, address,
        request_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
);
const LIST: Sql = Sql::same(
    "accounts.list_audit",
    "SELECT id, at, actor_kind, actor_id, actor_email, action, target_kind, target_id, detail, address,
       request_id
     FROM audit_log
     WHERE id < $1 AND ($3 = '' OR action = $3) AND ($4 = '' OR actor_email = $4)
       AND ($5 = '' OR target_id = $5)
     ORDER BY id DESC LIMIT $2",
);

/// Writes a line, in the transaction of what it tells of.
pub(crate) async fn write(
    tx: &mut Tx,
    id: Id,
    now: Timestamp,
    deed: Deed<'_>,
) -> Result<(), StoreError> {
    let (kind, actor_id, email) = match &deed.by.actor {
        Actor::Cli => ("cli", None, None),
        Actor::Public => ("public", None, None),
        Actor::Caller(caller) => {
            let kind = match caller.means {
                Means::Session { .. } => "user",
                Means::Token { .. } => "token",
            };
            (kind, Some(caller.user.id), Some(caller.user.email.as_str()))
        }
    };
    let (target_kind, target_id) = deed.target;
    let mut detail = deed.detail;
    if let (Actor::Caller(Caller { means: Means::Token { id, .. }, .. }), Some(detail)) =
        (&deed.by.actor, detail.as_object_mut())
    {
        detail.insert("by_token".to_owned(), Value::String(id.to_string()));
    }
    let detail = detail.to_string();
    let address = deed.by.source.address.map(|address| address.to_string());
    let values = values![
        id,
        now,
        kind,
        actor_id,
        email,
        deed.action,
        target_kind,
        target_id,
        detail.as_str(),
        address.as_deref(),
        deed.by.source.request_id.as_deref(),
    ];
    tx.execute(&INSERT, values).await.map(drop)
}

pub(crate) async fn list(
    db: &Db,
    filter: &AuditFilter,
    ask: PageAsk,
) -> Result<Part<AuditEntry>, AccountsError> {
    let word = |word: &Option<String>| word.clone().unwrap_or_default();
    let (action, actor, target) = (word(&filter.action), word(&filter.actor), word(&filter.target));
    let below = below(ask);
    let values = values![&below, one_more(ask), &action, &actor, &target];
    let rows = db.fetch_all(&LIST, values).await?;
    let entries: Result<Vec<_>, _> = rows.iter().map(read).collect();
    Ok(Part::cut(entries?, ask.limit, |entry| entry.id))
}

fn read(row: &Row) -> Result<AuditEntry, AccountsError> {
    let detail: String = row.get("detail")?;
    Ok(AuditEntry {
        id: row.get("id")?,
        at: row.get("at")?,
        actor: AuditActor {
            kind: row.get("actor_kind")?,
            id: row.get("actor_id")?,
            email: row.get("actor_email")?,
        },
        action: row.get("action")?,
        target: AuditTarget { kind: row.get("target_kind")?, id: row.get("target_id")? },
        // We wrote it; were it damaged, the line itself would still be worth showing.
        detail: serde_json::from_str(&detail).unwrap_or_default(),
        address: row.get("address")?,
        request_id: row.get("request_id")?,
    })
}
