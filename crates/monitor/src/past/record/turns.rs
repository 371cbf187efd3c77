//! What became of a service or a dependency, for how long it worked.

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Row, Snapshot, Sql, StoreError, values};

use crate::past::uptime::Story;
use crate::report::DependencyStatus;
use crate::status::ServiceStatus;
use crate::views::record::changes::{Of, known_before, said};
use crate::views::timeline::timeline;

// When nobody polled it as planned, which may not be recorded yet.
macro_rules! with_overdue {
    ($columns:literal, $from:literal) => {
        concat!(
            "SELECT ",
            $columns,
            ", CASE WHEN s.is_active = 1 AND st.status <> 'unknown'
               AND st.next_poll_at + 2 * s.poll_interval_ms < $2
               THEN st.next_poll_at + 2 * s.poll_interval_ms END AS overdue_since
             FROM ",
            $from,
            " JOIN service_states AS st ON st.service_no = s.number
             WHERE s.removed_at IS NULL AND "
        )
    };
}
const SERVICE: Sql = Sql::same(
    "monitor.service_of_uptime",
    concat!(
        with_overdue!("s.number, s.created_at AS born, st.status", "services AS s"),
        "s.id = $1"
    ),
);
const DEPENDENCY: Sql = Sql::same(
    "monitor.dependency_of_uptime",
    concat!(
        with_overdue!(
            "d.number, d.service_no, d.first_seen_at AS born",
            "dependencies AS d JOIN services AS s ON s.number = d.service_no"
        ),
        "d.id = $1"
    ),
);
pub(super) const SINCE: Sql = Sql::same(
    "monitor.turns_since",
    "SELECT at, before, after FROM changes
     WHERE kind = 'service' AND service_no = $1 AND at >= $2 ORDER BY at DESC, number DESC LIMIT $3",
);

/// The story of a service from `since` on. `None` without such a service.
pub(in crate::past) async fn of_service(
    snapshot: &mut Snapshot,
    id: Id,
    now: Timestamp,
    since: Timestamp,
    limit: usize,
) -> Result<Option<Story>, StoreError> {
    let Some(row) = snapshot.fetch_optional(&SERVICE, values![id, now]).await? else {
        return Ok(None);
    };
    let most = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = snapshot.fetch_all(&SINCE, values![row.get::<i64>("number")?, since, most]).await?;
    let mut story = Story {
        born: row.get("born")?,
        known_since: since,
        // Where nothing has changed it is as it was, and else the first change tells.
        initial: word(
            rows.last().unwrap_or(&row),
            if rows.is_empty() { "status" } else { "before" },
        )?,
        turns: Vec::with_capacity(rows.len()),
    };
    if let Some(oldest) = rows.last().filter(|_| rows.len() >= limit) {
        story.known_since = oldest.get("at")?;
    }
    for row in rows.iter().rev() {
        story.turns.push((row.get("at")?, word(row, "after")?));
    }
    story.turns.extend(overdue(&row)?);
    Ok(Some(story))
}

/// The story of a dependency from `since` on. `None` without such a dependency.
pub(in crate::past) async fn of_dependency(
    snapshot: &mut Snapshot,
    id: Id,
    now: Timestamp,
    since: Timestamp,
    limit: usize,
) -> Result<Option<Story>, StoreError> {
    let Some(row) = snapshot.fetch_optional(&DEPENDENCY, values![id, now]).await? else {
        return Ok(None);
    };
    let of = Of { service_no: row.get("service_no")?, dependency_no: row.get("number")? };
    let said = said(snapshot, of, since, now, limit).await?;
    let mut known_since = since;
    if let Some((first, _)) = said.first().filter(|_| said.len() >= limit) {
        known_since = *first;
    }
    let known = known_before(snapshot, of, known_since).await?;
    let told = timeline(known, known_since, now, &said);
    let turns = told.transitions.iter().map(|turn| (turn.at, turn.status)).chain(overdue(&row)?);
    Ok(Some(Story {
        born: row.get("born")?,
        known_since,
        initial: told.initial,
        turns: turns.collect(),
    }))
}

fn overdue(row: &Row) -> Result<Option<(Timestamp, DependencyStatus)>, StoreError> {
    let since: Option<Timestamp> = row.get("overdue_since")?;
    Ok(since.map(|since| (since, DependencyStatus::Unknown)))
}

fn word(row: &Row, column: &str) -> Result<DependencyStatus, StoreError> {
    let status: Option<String> = row.get(column)?;
    Ok(match status.as_deref().and_then(ServiceStatus::from_name) {
        Some(ServiceStatus::Healthy) => DependencyStatus::Healthy,
        Some(ServiceStatus::Degraded) => DependencyStatus::Degraded,
        Some(ServiceStatus::Down) => DependencyStatus::Down,
        Some(ServiceStatus::Unknown) | None => DependencyStatus::Unknown,
    })
}
