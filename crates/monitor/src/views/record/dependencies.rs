//! Dependencies as they are shown.

use std::collections::HashMap;

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Db, Row, Sql, StoreError, values};

use super::services::json;
use super::{overdue, timed};
use crate::report::{DependencyStatus, HealthState};
use crate::views::dependency::Dependency;

macro_rules! columns {
    ($now:literal) => {
        concat!(
            "SELECT d.number, d.id, d.service_no, d.slot, s.id AS service_id, d.name,
               d.canonical_name, d.kind, d.description, d.impact, d.contact, d.check_details,
               d.healthy, d.state, d.code, d.skipped, d.error, d.error_message, d.status_since, d.failing_since,
               d.missing_since, l.id AS linked_service_id, st.last_success_at, st.stale_since,
               CASE WHEN ",
            overdue!($now),
            " THEN st.next_poll_at + 2 * s.poll_interval_ms END AS overdue_since
             FROM dependencies AS d
             JOIN services AS s ON s.number = d.service_no
             JOIN service_states AS st ON st.service_no = d.service_no
             LEFT JOIN services AS l ON l.number = d.linked_service_no
             WHERE s.removed_at IS NULL AND "
        )
    };
}
macro_rules! of_service {
    ($now:literal) => {
        concat!(
            columns!($now),
            "d.service_no = $2 AND d.removed_at IS NULL AND (d.missing_since IS NULL OR d.missing_since + $3 > ",
            $now,
            ") ORDER BY CASE WHEN d.missing_since IS NULL THEN 0 ELSE 1 END, d.name LIMIT $4"
        )
    };
}
macro_rules! one {
    ($now:literal) => {
        concat!(columns!($now), "d.id = $2")
    };
}
macro_rules! some {
    ($now:literal, $which:literal) => {
        concat!(columns!($now), "d.removed_at IS NULL AND d.id ", $which)
    };
}
const OF_SERVICE: Sql = timed!("monitor.dependencies_of_service", of_service);
const ONE: Sql = timed!("monitor.dependency", one);
pub(super) const SOME: Sql = Sql::pair(
    "monitor.dependencies_by_ids",
    some!("$1", "IN (SELECT value FROM json_each($2))"),
    some!("((extract(epoch FROM statement_timestamp()) * 1000)::bigint + $1)", "= ANY ($2)"),
);

/// The most dependencies of one service that are shown: an answer names fewer, and what is missing
/// fills the rest.
const MOST_SHOWN: i64 = 10_000;

/// A dependency with its numbers.
#[derive(Debug)]
pub(in crate::views) struct Shown {
    pub(in crate::views) number: i64,
    pub(in crate::views) service_no: i64,
    pub(in crate::views) slot: u32,
    pub(in crate::views) dependency: Dependency,
}

/// The dependencies of a service by name. One that it does not report any more is shown for
/// `missing_for_ms` yet.
pub(in crate::views) async fn of_service(
    db: &Db,
    tick: i64,
    service_no: i64,
    missing_for_ms: i64,
) -> Result<Vec<Shown>, StoreError> {
    let values = values![tick, service_no, missing_for_ms, MOST_SHOWN];
    let rows = db.fetch_all(&OF_SERVICE, values).await?;
    let mut all = rows.iter().map(shown).collect::<Result<Vec<_>, _>>()?;
    all.sort_by(|one, other| one.dependency.name.cmp(&other.dependency.name));
    Ok(all)
}

/// The dependency of this id, unless it was removed with its service.
pub(in crate::views) async fn find(
    db: &Db,
    tick: i64,
    id: Id,
) -> Result<Option<Shown>, StoreError> {
    db.fetch_optional(&ONE, values![tick, id]).await?.as_ref().map(shown).transpose()
}

/// The dependencies of these ids that are there.
pub(in crate::views) async fn some(
    db: &Db,
    tick: i64,
    ids: &[String],
) -> Result<Vec<Shown>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    db.fetch_all(&SOME, values![tick, ids]).await?.iter().map(shown).collect()
}

/// Gives each dependency the latency of its slot.
pub(in crate::views) fn set_latencies(all: &mut [Shown], points: &[(u32, std::time::Duration)]) {
    let by_slot: HashMap<_, _> = points.iter().copied().collect();
    for one in all {
        let latency = by_slot.get(&one.slot);
        one.dependency.latency_ms = latency.map(|latency| latency.as_secs_f64() * 1_000.0);
    }
}

fn shown(row: &Row) -> Result<Shown, StoreError> {
    let (status, status_since) = status(row)?;
    let missing_since: Option<Timestamp> = row.get("missing_since")?;
    let last_success_at: Option<Timestamp> = row.get("last_success_at")?;
    let dependency = Dependency {
        id: row.get("id")?,
        service_id: row.get("service_id")?,
        name: row.get("name")?,
        canonical_name: row.get("canonical_name")?,
        kind: row.get("kind")?,
        description: row.get("description")?,
        impact: row.get("impact")?,
        contact: json(row.get("contact")?),
        check_details: json(row.get("check_details")?),
        healthy: row.get("healthy")?,
        state: row.get("state")?,
        code: row.get("code")?,
        latency_ms: None,
        skipped: row.get("skipped")?,
        error: json(row.get("error")?),
        error_message: row.get("error_message")?,
        status,
        status_since,
        failing_since: status
            .is_unhealthy()
            .then_some(row.get::<Option<_>>("failing_since")?.unwrap_or(status_since)),
        last_seen_at: last_success_at.filter(|_| missing_since.is_none()),
        missing_since,
        linked_service_id: row.get("linked_service_id")?,
    };
    Ok(Shown {
        number: row.get("number")?,
        service_no: row.get("service_no")?,
        slot: u32::try_from(row.get::<i64>("slot")?).unwrap_or(u32::MAX),
        dependency,
    })
}

/// How it is and since when: whatever hides what its service last said of it began first.
fn status(row: &Row) -> Result<(DependencyStatus, Timestamp), StoreError> {
    let hidden = ["missing_since", "stale_since", "overdue_since"]
        .map(|column| row.get::<Option<Timestamp>>(column));
    let mut since: Option<Timestamp> = None;
    for moment in hidden {
        since = [since, moment?].into_iter().flatten().min();
    }
    if let Some(since) = since {
        return Ok((DependencyStatus::Unknown, since));
    }
    let state = HealthState::from_number(row.get("state")?).unwrap_or(HealthState::Down);
    let status = DependencyStatus::of(row.get("skipped")?, state, row.get("healthy")?);
    Ok((status, row.get("status_since")?))
}
