//! What an alias changes of dependencies that are known.

use std::collections::HashMap;

use mainstay_base::Timestamp;
use mainstay_store::{Sql, StoreError, Tx, values};
use serde::Serialize;

use crate::aliases::edit::Rename;
use crate::names::compared;
use crate::record::histories::{ChangeRow, write_changes};
use crate::record::{over_rows, rows_text, states};

// Those of removed services too: they come back under the name that holds then.
const RENAME: Sql = over_rows!(
    "monitor.rename_dependencies",
    "UPDATE dependencies SET canonical_name = v.canonical_name, canonical_key = v.canonical_key FROM",
    [raw_name text, canonical_name text, canonical_key text],
    "WHERE dependencies.name = v.raw_name AND dependencies.canonical_name <> v.canonical_name
     RETURNING dependencies.number AS number, dependencies.service_no AS service_no,
       dependencies.name AS name,
       (SELECT s.removed_at FROM services AS s WHERE s.number = dependencies.service_no) AS removed_at"
);

// SQLite has one writer.
const HOLD: Sql = Sql::pair(
    "monitor.hold_services_of_names",
    "SELECT 1 AS one WHERE $1 IS NULL",
    "SELECT service_no FROM service_states
     WHERE service_no IN (SELECT service_no FROM dependencies WHERE name = ANY ($1))
     ORDER BY service_no FOR NO KEY UPDATE",
);

/// Waits until nobody records results of the services that report one of these names, and lets nobody
/// begin: who records holds its services first and reads the aliases then, and so does who changes
/// aliases, or the two would wait for each other in a ring.
pub(in crate::aliases) async fn hold(tx: &mut Tx, names: &[String]) -> Result<(), StoreError> {
    tx.execute(&HOLD, values![names]).await.map(drop)
}

/// By which name dependencies go, as it travels.
#[derive(Debug, Serialize)]
struct RenameRow<'a> {
    raw_name: &'a str,
    canonical_name: &'a str,
    canonical_key: String,
}

/// Dependencies go by other names from now on.
pub(in crate::aliases) async fn rewrite(
    tx: &mut Tx,
    renames: &[Rename],
    now: Timestamp,
) -> Result<(), StoreError> {
    if renames.is_empty() {
        return Ok(());
    }
    let rows: Vec<_> = renames.iter().map(RenameRow::from).collect();
    let named: HashMap<&str, &Rename> =
        renames.iter().map(|rename| (rename.name.as_str(), rename)).collect();
    let (mut services, mut changes) = (Vec::new(), Vec::new());
    for row in tx.fetch_all(&RENAME, values![rows_text(&rows).as_str()]).await? {
        let service_no: i64 = row.get("service_no")?;
        services.push(service_no);
        let name: String = row.get("name")?;
        let rename = named.get(name.as_str());
        // A closed one may be reported again; what a removed service leaned on never is.
        if row.get::<Option<i64>>("removed_at")?.is_none() {
            changes.push(ChangeRow {
                at: now.as_millis(),
                kind: "alias",
                service_no: Some(service_no),
                dependency_no: row.get("number")?,
                before: rename.map(|rename| rename.before.clone()),
                after: rename.map(|rename| rename.after.clone()),
            });
        }
    }
    if services.is_empty() {
        return Ok(());
    }
    // In the order in which results are recorded, so that neither waits for the other in a ring.
    services.sort_unstable();
    states::touch(tx, &services).await?;
    write_changes(tx, &changes).await
}

impl<'a> From<&'a Rename> for RenameRow<'a> {
    fn from(rename: &'a Rename) -> Self {
        let (raw_name, canonical_name) = (rename.name.as_str(), rename.after.as_str());
        Self { raw_name, canonical_name, canonical_key: compared(canonical_name) }
    }
}
