//! Which service a dependency is.

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Row, Sql, StoreError, Tx, values};

use crate::record::histories::{ChangeRow, write_changes};
use crate::record::states;

macro_rules! dependency {
    ($lock:literal) => {
        concat!(
            "SELECT d.number, d.name, d.service_no, s.id AS service_id, s.name AS service_name,
               d.linked_service_no,
               (SELECT l.id FROM services AS l WHERE l.number = d.linked_service_no) AS linked_id
             FROM dependencies AS d JOIN services AS s ON s.number = d.service_no
             WHERE d.id = $1 AND d.removed_at IS NULL AND s.removed_at IS NULL",
            $lock
        )
    };
}
macro_rules! service {
    ($lock:literal) => {
        concat!("SELECT number FROM services WHERE id = $1 AND removed_at IS NULL", $lock)
    };
}
const DEPENDENCY: Sql =
    Sql::pair("monitor.lock_dependency", dependency!(""), dependency!(" FOR NO KEY UPDATE OF d"));
// Held until the end, so that a service can't be removed while something is linked to it.
const SERVICE: Sql = Sql::pair("monitor.hold_service", service!(""), service!(" FOR SHARE"));
const LINK: Sql = Sql::same(
    "monitor.link_dependency",
    "UPDATE dependencies SET linked_service_no = $2 WHERE number = $1",
);

const REPORTERS: Sql = Sql::same(
    "monitor.reporters_of_key",
    "SELECT DISTINCT d.service_no FROM dependencies AS d
     JOIN services AS s ON s.number = d.service_no
     WHERE d.canonical_key = $1 AND d.removed_at IS NULL AND s.removed_at IS NULL
       AND d.linked_service_no IS NULL AND d.service_no <> $2
     ORDER BY d.service_no",
);
const LINK_KEY: Sql = Sql::pair(
    "monitor.link_key",
    "UPDATE dependencies SET linked_service_no = $2
     WHERE canonical_key = $1 AND removed_at IS NULL AND linked_service_no IS NULL
       AND service_no IN (SELECT value FROM json_each($3))
     RETURNING number, service_no",
    "UPDATE dependencies SET linked_service_no = $2
     WHERE canonical_key = $1 AND removed_at IS NULL AND linked_service_no IS NULL
       AND service_no = ANY ($3)
     RETURNING number, service_no",
);
const NAME: Sql =
    Sql::same("monitor.name_of_service", "SELECT name FROM services WHERE number = $1");

/// A dependency that is about to be linked.
#[derive(Debug)]
pub(in crate::aliases) struct Linkable {
    pub(in crate::aliases) number: i64,
    pub(in crate::aliases) name: String,
    pub(in crate::aliases) service_no: i64,
    pub(in crate::aliases) service_id: Id,
    pub(in crate::aliases) service_name: String,
    /// The service that it is now.
    pub(in crate::aliases) linked: Option<(i64, Id)>,
}

pub(in crate::aliases) async fn lock(tx: &mut Tx, id: Id) -> Result<Option<Linkable>, StoreError> {
    let row = tx.fetch_optional(&DEPENDENCY, values![id]).await?;
    row.as_ref().map(read).transpose()
}

/// The number of a service that stays until the end of the transaction.
pub(in crate::aliases) async fn hold(tx: &mut Tx, id: Id) -> Result<Option<i64>, StoreError> {
    tx.fetch_optional(&SERVICE, values![id]).await?.map(|row| row.get("number")).transpose()
}

/// Says which service a dependency is, if any.
pub(in crate::aliases) async fn link(
    tx: &mut Tx,
    dependency: &Linkable,
    to: Option<(i64, Id)>,
    now: Timestamp,
) -> Result<(), StoreError> {
    let number = to.map(|(number, _)| number);
    tx.execute(&LINK, values![dependency.number, number]).await?;
    let change = ChangeRow {
        at: now.as_millis(),
        kind: "link",
        service_no: Some(dependency.service_no),
        dependency_no: Some(dependency.number),
        before: dependency.linked.map(|(_, id)| id.to_string()),
        after: to.map(|(_, id)| id.to_string()),
    };
    write_changes(tx, &[change]).await
}

/// The name of a service.
pub(in crate::aliases) async fn name(tx: &mut Tx, number: i64) -> Result<String, StoreError> {
    tx.fetch_one(&NAME, values![number]).await?.get("name")
}

/// Says which service every dependency of a key is that others report and nobody has linked. Tells how
/// many.
pub(in crate::aliases) async fn link_key(
    tx: &mut Tx,
    key: &str,
    to: (i64, Id),
    now: Timestamp,
) -> Result<usize, StoreError> {
    let (number, id) = to;
    let rows = tx.fetch_all(&REPORTERS, values![key, number]).await?;
    let services = rows.iter().map(|row| row.get("service_no")).collect::<Result<Vec<i64>, _>>()?;
    states::hold(tx, &services).await?;
    let mut changes = Vec::new();
    for row in tx.fetch_all(&LINK_KEY, values![key, number, &services]).await? {
        changes.push(ChangeRow {
            at: now.as_millis(),
            kind: "link",
            service_no: row.get("service_no")?,
            dependency_no: row.get("number")?,
            before: None,
            after: Some(id.to_string()),
        });
    }
    write_changes(tx, &changes).await?;
    Ok(changes.len())
}

fn read(row: &Row) -> Result<Linkable, StoreError> {
    let number: Option<i64> = row.get("linked_service_no")?;
    let id: Option<Id> = row.get("linked_id")?;
    Ok(Linkable {
        number: row.get("number")?,
        name: row.get("name")?,
        service_no: row.get("service_no")?,
        service_id: row.get("service_id")?,
        service_name: row.get("service_name")?,
        linked: number.zip(id),
    })
}
