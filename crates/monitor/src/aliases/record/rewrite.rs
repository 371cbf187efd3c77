//! What an alias changes of dependencies that are known.

use mainstay_base::Timestamp;
use mainstay_store::{Sql, StoreError, Tx, values};

use crate::names::compared;
use crate::record::histories::{ChangeRow, write_changes};
use crate::record::states;

// Those of removed services too: they come back under the name that holds then.
const RENAME: Sql = Sql::same(
    "monitor.rename_dependencies",
    "UPDATE dependencies SET canonical_name = $2, canonical_key = $3
     WHERE name = $1 AND canonical_name <> $2 RETURNING number, service_no,
       (SELECT s.removed_at FROM services AS s WHERE s.number = dependencies.service_no) AS removed_at",
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

/// Dependencies that are reported as `name` go by `after` from now on.
pub(in crate::aliases) async fn rewrite(
    tx: &mut Tx,
    name: &str,
    before: &str,
    after: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    let key = compared(after);
    let (mut services, mut changes) = (Vec::new(), Vec::new());
    for row in tx.fetch_all(&RENAME, values![name, after, &key]).await? {
        let service_no: i64 = row.get("service_no")?;
        services.push(service_no);
        // A closed one may be reported again; what a removed service leaned on never is.
        if row.get::<Option<i64>>("removed_at")?.is_none() {
            changes.push(ChangeRow {
                at: now.as_millis(),
                kind: "alias",
                service_no: Some(service_no),
                dependency_no: row.get("number")?,
                before: Some(before.to_owned()),
                after: Some(after.to_owned()),
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
