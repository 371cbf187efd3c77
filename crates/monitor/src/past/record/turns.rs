//! What became of a service or a dependency, for how long it worked.

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Row, Snapshot, Sql, StoreError, values};

use crate::past::uptime::Story;
use crate::report::DependencyStatus;
use crate::status::ServiceStatus;
use crate::views::holding::Holding;
use crate::views::record::changes::{Heard, Of, known_before, said};
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
    "SELECT number, at, before, after FROM changes
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
    let turns = rows.iter().rev().map(Turn::read).collect::<Result<Vec<_>, _>>()?;
    let known_since = match turns.first() {
        Some(oldest) if turns.len() >= limit => oldest.at,
        _ => since,
    };
    // Where nothing has changed it is as it was, and else the first change tells.
    let first = turns.iter().min_by_key(|turn| turn.number);
    let initial = first.map_or_else(|| word(&row, "status"), |turn| Ok(turn.before))?;
    let mut holding = Holding::default();
    let held = turns.iter().filter(|turn| holding.hears((), turn.number));
    let turns = held.map(|turn| (turn.at, turn.after)).chain(overdue(&row)?).collect();
    Ok(Some(Story { born: row.get("born")?, known_since, initial, turns }))
}

/// A change of the status of a service.
struct Turn {
    number: i64,
    at: Timestamp,
    before: DependencyStatus,
    after: DependencyStatus,
}

impl Turn {
    fn read(row: &Row) -> Result<Self, StoreError> {
        let (before, after) = (word(row, "before")?, word(row, "after")?);
        Ok(Self { number: row.get("number")?, at: row.get("at")?, before, after })
    }
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
    let Heard { said, cut_at } = said(snapshot, of, since, now, limit).await?;
    let known_since = cut_at.unwrap_or(since);
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
