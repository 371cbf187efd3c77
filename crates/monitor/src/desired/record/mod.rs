//! All SQL of what is wanted: what can be linked, and what is held while it is applied.

use mainstay_store::{Row, Snapshot, Sql, StoreError, Tx, values};
use serde::Serialize;

use super::current::HeldDependency;
use crate::record::{over_rows, rows_text};

const LINKABLE: Sql = over_rows!(
    "monitor.linkable_dependencies",
    "SELECT d.id AS id, s.id AS service_id, d.name AS name, l.id AS linked_id
     FROM dependencies AS d
       JOIN services AS s ON s.number = d.service_no AND s.removed_at IS NULL
       JOIN services AS l ON l.number = d.linked_service_no
     WHERE d.removed_at IS NULL
     UNION
     SELECT d.id AS id, s.id AS service_id, d.name AS name, l.id AS linked_id
     FROM",
    [service text, name text],
    "JOIN services AS s ON s.name_key = v.service AND s.removed_at IS NULL
       JOIN dependencies AS d ON d.service_no = s.number AND d.name = v.name
       LEFT JOIN services AS l ON l.number = d.linked_service_no
     WHERE d.removed_at IS NULL
     ORDER BY id LIMIT $2"
);

// SQLite has one writer. Who removes a service also writes what others had linked to it.
const HOLD: Sql = Sql::pair(
    "monitor.hold_for_document",
    "SELECT 1 AS one WHERE $1 IS NULL AND $2 IS NULL AND $3 IS NULL AND $4 IS NULL",
    "SELECT st.service_no FROM service_states AS st JOIN services AS s ON s.number = st.service_no
     WHERE st.service_no IN (
       SELECT number FROM services WHERE removed_at IS NULL AND id = ANY ($1)
       UNION SELECT service_no FROM dependencies WHERE name = ANY ($2)
       UNION SELECT service_no FROM dependencies WHERE id = ANY ($3)
       UNION SELECT d.service_no FROM dependencies AS d
         JOIN services AS l ON l.number = d.linked_service_no
         WHERE l.id = ANY ($4))
     ORDER BY st.service_no FOR NO KEY UPDATE",
);

/// A dependency that may be linked: the name of its service as it is compared, and its own.
#[derive(Debug, Serialize)]
pub(super) struct Asked<'a> {
    pub(super) service: &'a str,
    pub(super) name: &'a str,
}

/// Whom a plan writes.
#[derive(Debug, Default)]
pub(super) struct Touched {
    /// Services that are edited, removed or linked to.
    pub(super) services: Vec<String>,
    /// Reported names whose alias changes.
    pub(super) names: Vec<String>,
    /// Dependencies that are linked or unlinked.
    pub(super) dependencies: Vec<String>,
    /// Services that are removed.
    pub(super) removed: Vec<String>,
}

/// Up to `limit` dependencies that are linked, or that are asked for.
pub(super) async fn linkable(
    snapshot: &mut Snapshot,
    asked: &[Asked<'_>],
    limit: i64,
) -> Result<Vec<HeldDependency>, StoreError> {
    let asked = rows_text(asked);
    snapshot.fetch_all(&LINKABLE, values![&asked, limit]).await?.iter().map(read).collect()
}

/// Waits until nobody else writes services whose rows a plan touches, and lets nobody begin. All at
/// once and in one order, before anything else but the number of the edit is locked: who records and
/// who edits does the same, and nobody waits in a ring.
pub(super) async fn hold(tx: &mut Tx, touched: &Touched) -> Result<(), StoreError> {
    let Touched { services, names, dependencies, removed } = touched;
    tx.execute(&HOLD, values![services, names, dependencies, removed]).await.map(drop)
}

fn read(row: &Row) -> Result<HeldDependency, StoreError> {
    Ok(HeldDependency {
        id: row.get("id")?,
        service: row.get("service_id")?,
        name: row.get("name")?,
        linked: row.get("linked_id")?,
    })
}
