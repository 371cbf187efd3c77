//! Takes services away; their history stays.

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Sql, StoreError, Tx, values};
use serde::Serialize;

use super::states::reschedule;
use crate::record::histories::ChangeRow;
use crate::record::{over_rows, rows_text};

const REMOVE: Sql = over_rows!(
    "monitor.remove_services",
    "UPDATE services SET removed_at = v.at, updated_at = v.at, revision = v.revision,
       generation = generation + 1
     FROM",
    [number bigint, revision bigint, at bigint],
    "WHERE services.number = v.number"
);
macro_rules! remove_dependencies {
    ($list:literal) => {
        concat!(
            "UPDATE dependencies SET removed_at = $2 WHERE removed_at IS NULL AND service_no ",
            $list
        )
    };
}
const REMOVE_DEPENDENCIES: Sql = Sql::pair(
    "monitor.remove_dependencies",
    remove_dependencies!("IN (SELECT value FROM json_each($1))"),
    remove_dependencies!("= ANY ($1)"),
);
macro_rules! linked {
    ($list:literal) => {
        concat!(
            "SELECT d.number, d.service_no, l.id AS linked_id
             FROM dependencies AS d JOIN services AS l ON l.number = d.linked_service_no
             WHERE d.linked_service_no ",
            $list,
            " ORDER BY d.number"
        )
    };
}
const LINKED: Sql = Sql::pair(
    "monitor.linked_to_services",
    linked!("IN (SELECT value FROM json_each($1))"),
    linked!("= ANY ($1)"),
);
const UNLINK: Sql = Sql::pair(
    "monitor.unlink_dependencies",
    "UPDATE dependencies SET linked_service_no = NULL
     WHERE linked_service_no IN (SELECT value FROM json_each($1))",
    "UPDATE dependencies SET linked_service_no = NULL WHERE linked_service_no = ANY ($1)",
);

/// A service that goes, as it travels.
#[derive(Debug, Serialize)]
struct Gone {
    number: i64,
    revision: i64,
    at: i64,
}

/// Closes services and their dependencies. The number of the first one's edit is `revision`.
pub(in crate::services) async fn remove(
    tx: &mut Tx,
    numbers: &[i64],
    revision: i64,
    now: Timestamp,
) -> Result<(), StoreError> {
    let at = now.as_millis();
    let rows: Vec<_> = (revision..)
        .zip(numbers)
        .map(|(revision, number)| Gone { number: *number, revision, at })
        .collect();
    tx.execute(&REMOVE, values![rows_text(&rows).as_str()]).await?;
    // A result that waits for this row is compared anew then, and finds that its service is gone:
    // PostgreSQL looks again only at rows that changed while it waited.
    reschedule(tx, numbers, None).await?;
    tx.execute(&REMOVE_DEPENDENCIES, values![numbers, now]).await.map(drop)
}

/// Unlinks the dependencies of others that were linked to services, and tells what changed. Nobody
/// else links meanwhile: who does so takes a number before.
pub(in crate::services) async fn unlink(
    tx: &mut Tx,
    numbers: &[i64],
    now: Timestamp,
) -> Result<Vec<ChangeRow>, StoreError> {
    let mut changes = Vec::new();
    for row in tx.fetch_all(&LINKED, values![numbers]).await? {
        changes.push(ChangeRow {
            at: now.as_millis(),
            kind: "link",
            service_no: row.get("service_no")?,
            dependency_no: row.get("number")?,
            before: Some(row.get::<Id>("linked_id")?.to_string()),
            after: None,
        });
    }
    if !changes.is_empty() {
        tx.execute(&UNLINK, values![numbers]).await?;
    }
    Ok(changes)
}
