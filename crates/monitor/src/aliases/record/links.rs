//! Which service a dependency is.

use std::collections::HashMap;

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Row, Sql, StoreError, Tx, values};
use serde::Serialize;

use crate::record::histories::{ChangeRow, write_changes};
use crate::record::{over_rows, rows_text, states};

macro_rules! dependencies {
    ($list:literal, $lock:literal) => {
        concat!(
            "SELECT d.number, d.id, d.name, d.service_no, s.id AS service_id, s.name AS service_name,
               d.linked_service_no,
               (SELECT l.id FROM services AS l WHERE l.number = d.linked_service_no) AS linked_id
             FROM dependencies AS d JOIN services AS s ON s.number = d.service_no
             WHERE d.removed_at IS NULL AND s.removed_at IS NULL AND d.id ",
            $list,
            $lock
        )
    };
}
const DEPENDENCIES: Sql = Sql::pair(
    "monitor.lock_dependencies",
    dependencies!("IN (SELECT value FROM json_each($1))", ""),
    dependencies!("= ANY ($1)", " ORDER BY d.number FOR NO KEY UPDATE OF d"),
);
// Held until the end, so that a service can't be removed while something is linked to it.
const SERVICES: Sql = Sql::pair(
    "monitor.hold_services",
    "SELECT number, id FROM services
     WHERE removed_at IS NULL AND id IN (SELECT value FROM json_each($1))",
    "SELECT number, id FROM services WHERE removed_at IS NULL AND id = ANY ($1)
     ORDER BY number FOR SHARE",
);
const LINK: Sql = over_rows!(
    "monitor.link_dependencies",
    "UPDATE dependencies SET linked_service_no = v.linked FROM",
    [number bigint, linked bigint],
    "WHERE dependencies.number = v.number"
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

/// A dependency and the service that it is from now on, as they travel.
#[derive(Debug, Serialize)]
struct LinkRow {
    number: i64,
    linked: Option<i64>,
}

/// The dependencies of these ids, which nobody else writes until the transaction ends.
pub(in crate::aliases) async fn lock(
    tx: &mut Tx,
    ids: &[String],
) -> Result<HashMap<Id, Linkable>, StoreError> {
    let rows = tx.fetch_all(&DEPENDENCIES, values![ids]).await?;
    rows.iter().map(|row| Ok((row.get("id")?, read(row)?))).collect()
}

/// The numbers of services that stay until the end of the transaction.
pub(in crate::aliases) async fn hold(
    tx: &mut Tx,
    ids: &[String],
) -> Result<HashMap<Id, i64>, StoreError> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = tx.fetch_all(&SERVICES, values![ids]).await?;
    rows.iter().map(|row| Ok((row.get("id")?, row.get("number")?))).collect()
}

/// Says which services dependencies are, if any.
pub(in crate::aliases) async fn link(
    tx: &mut Tx,
    links: &[(&Linkable, Option<(i64, Id)>)],
    now: Timestamp,
) -> Result<(), StoreError> {
    let (mut rows, mut changes) = (Vec::new(), Vec::new());
    for (dependency, to) in links {
        rows.push(LinkRow { number: dependency.number, linked: to.map(|(number, _)| number) });
        changes.push(ChangeRow {
            at: now.as_millis(),
            kind: "link",
            service_no: Some(dependency.service_no),
            dependency_no: Some(dependency.number),
            before: dependency.linked.map(|(_, id)| id.to_string()),
            after: to.map(|(_, id)| id.to_string()),
        });
    }
    tx.execute(&LINK, values![rows_text(&rows).as_str()]).await?;
    write_changes(tx, &changes).await
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
