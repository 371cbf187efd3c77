//! How everything is recorded now, a portion at a time.

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Row, Snapshot, Sql, StoreError, values};

use crate::past::state::{PastDependency, PastService, PastState};
use crate::report::DependencyStatus;
use crate::status::ServiceStatus;

// The signs keep SQLite from going by the other table, or by the names, and sorting all that for every
// portion.
pub(super) const SERVICES: Sql = Sql::same(
    "monitor.services_of_keyframe",
    "SELECT s.number, s.id, s.name, st.status, st.status_since, st.stale_since
     FROM services AS s JOIN service_states AS st ON st.service_no = +s.number
     WHERE +s.removed_at IS NULL AND s.number > $1 ORDER BY s.number LIMIT $2",
);
// Closed ones are among them: they may be reported again, under the names and links they had.
pub(super) const DEPENDENCIES: Sql = Sql::same(
    "monitor.dependencies_of_keyframe",
    "SELECT d.number, d.id, d.service_no, d.name, d.canonical_name, d.status, d.status_since,
       d.missing_since, d.removed_at, l.id AS linked_id
     FROM dependencies AS d JOIN services AS s ON s.number = +d.service_no
     LEFT JOIN services AS l ON l.number = d.linked_service_no
     WHERE +s.removed_at IS NULL AND d.number > $1 ORDER BY d.number LIMIT $2",
);

/// Where reading everything has come to: the last number of either kind.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::past) struct Reading {
    services: i64,
    dependencies: i64,
    has_services: bool,
}

/// The next portion of up to `limit` things; `None` when all were read.
pub(in crate::past) async fn portion(
    snapshot: &mut Snapshot,
    reading: &mut Reading,
    limit: usize,
) -> Result<Option<PastState>, StoreError> {
    let most = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut portion = PastState::default();
    if !reading.has_services {
        for row in snapshot.fetch_all(&SERVICES, values![reading.services, most]).await? {
            reading.services = row.get("number")?;
            portion.services.insert(reading.services, service(&row)?);
        }
        reading.has_services = portion.services.len() < limit;
        return Ok(Some(portion));
    }
    for row in snapshot.fetch_all(&DEPENDENCIES, values![reading.dependencies, most]).await? {
        reading.dependencies = row.get("number")?;
        portion.dependencies.insert(reading.dependencies, dependency(&row)?);
    }
    Ok((!portion.dependencies.is_empty()).then_some(portion))
}

fn service(row: &Row) -> Result<PastService, StoreError> {
    let status: String = row.get("status")?;
    Ok(PastService {
        id: row.get("id")?,
        name: row.get("name")?,
        status: ServiceStatus::from_name(&status).unwrap_or(ServiceStatus::Unknown),
        status_since: row.get("status_since")?,
        stale_since: row.get("stale_since")?,
    })
}

fn dependency(row: &Row) -> Result<PastDependency, StoreError> {
    let status: String = row.get("status")?;
    Ok(PastDependency {
        id: row.get("id")?,
        service_no: row.get("service_no")?,
        name: row.get("name")?,
        canonical_name: row.get("canonical_name")?,
        said: DependencyStatus::from_name(&status).unwrap_or(DependencyStatus::Unknown),
        said_since: row.get("status_since")?,
        missing_since: row.get("missing_since")?,
        linked_service_id: row.get::<Option<Id>>("linked_id")?,
        is_closed: row.get::<Option<Timestamp>>("removed_at")?.is_some(),
    })
}
