//! All SQL of what is wanted: what can be linked, and what is held while it is applied.

use mainstay_store::{Row, Snapshot, Sql, StoreError, Tx, values};

use super::current::HeldDependency;

macro_rules! linkable {
    ($list:literal) => {
        concat!(
            linkable!(@one "d.linked_service_no IS NOT NULL"),
            " UNION ",
            linkable!(@one "d.name ", $list),
            " ORDER BY id LIMIT $2"
        )
    };
    (@one $($which:literal),+) => {
        concat!(
            "SELECT d.id AS id, s.id AS service_id, d.name AS name, l.id AS linked_id
             FROM dependencies AS d
               JOIN services AS s ON s.number = d.service_no
               LEFT JOIN services AS l ON l.number = d.linked_service_no
             WHERE d.removed_at IS NULL AND s.removed_at IS NULL AND ",
            $($which),+
        )
    };
}
const LINKABLE: Sql = Sql::pair(
    "monitor.linkable_dependencies",
    linkable!("IN (SELECT value FROM json_each($1))"),
    linkable!("= ANY ($1)"),
);

// SQLite has one writer.
const HOLD: Sql = Sql::pair(
    "monitor.hold_for_document",
    "SELECT 1 AS one WHERE $1 IS NULL AND $2 IS NULL",
    "SELECT st.service_no FROM service_states AS st JOIN services AS s ON s.number = st.service_no
     WHERE (s.removed_at IS NULL AND s.id = ANY ($1))
       OR st.service_no IN (SELECT service_no FROM dependencies WHERE name = ANY ($2))
     ORDER BY st.service_no FOR NO KEY UPDATE",
);

/// Up to `limit` dependencies that are linked, or that are reported by one of these names.
pub(super) async fn linkable(
    snapshot: &mut Snapshot,
    names: &[String],
    limit: i64,
) -> Result<Vec<HeldDependency>, StoreError> {
    snapshot.fetch_all(&LINKABLE, values![names, limit]).await?.iter().map(read).collect()
}

/// Waits until nobody else writes these services, nor those that report one of these names, and lets
/// nobody begin. All at once and in one order, before anything else is locked: who records and who
/// edits does the same, and nobody waits in a ring.
pub(super) async fn hold(
    tx: &mut Tx,
    services: &[String],
    names: &[String],
) -> Result<(), StoreError> {
    tx.execute(&HOLD, values![services, names]).await.map(drop)
}

fn read(row: &Row) -> Result<HeldDependency, StoreError> {
    Ok(HeldDependency {
        id: row.get("id")?,
        service: row.get("service_id")?,
        name: row.get("name")?,
        linked: row.get("linked_id")?,
    })
}
