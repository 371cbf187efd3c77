//! What every service says of what it leans on: a row for each service, so that tens of thousands of
//! dependencies are a few thousand rows.

use mainstay_base::Timestamp;
use mainstay_store::{Db, Row, Sql, StoreError, values};
use serde::Deserialize;

use super::overdue;
use super::services::status;
use crate::names::compared;
use crate::report::DependencyStatus;
use crate::status::ServiceStatus;
use crate::views::board::wall::{Failing, Gathering, WallSaid, WallService, Wallboard};

/// Services that are read at once.
const SERVICES_AT_ONCE: usize = 500;

macro_rules! page {
    ($now:literal, $before:literal, $item:literal, $after:literal) => {
        concat!(
            "SELECT s.number, s.id, s.name, st.status, st.status_since, st.failing_since, st.error_message,
               st.stale_since,
               CASE WHEN ",
            overdue!($now),
            " THEN st.next_poll_at + 2 * s.poll_interval_ms END AS overdue_since,
               (SELECT ",
            $before,
            $item,
            $after,
            " FROM dependencies AS d WHERE d.service_no = s.number AND d.removed_at IS NULL
                 AND (d.missing_since IS NULL OR d.missing_since + $2 > ",
            $now,
            ")) AS said
             FROM services AS s JOIN service_states AS st ON st.service_no = s.number
             WHERE s.removed_at IS NULL AND s.is_active = 1 AND s.number > $3 ORDER BY s.number LIMIT $4"
        )
    };
}
// PostgreSQL's own functions for JSON look every value's type up anew for each row.
pub(super) const PAGE: Sql = Sql::pair(
    "monitor.wallboard",
    page!(
        "$1",
        "json_group_array(json_array(",
        "d.canonical_name, CASE WHEN d.missing_since IS NULL THEN d.status ELSE 'unknown' END,
           coalesce(d.missing_since, d.status_since),
           CASE WHEN d.status IN ('down', 'degraded') THEN d.error_message END, d.failing_since",
        "))"
    ),
    page!(
        "((extract(epoch FROM statement_timestamp()) * 1000)::bigint + $1)",
        "'[' || string_agg('[' || ",
        "to_json(d.canonical_name) || CASE WHEN d.missing_since IS NULL THEN ',\"' || d.status || '\",'
             ELSE ',\"unknown\",' END || coalesce(d.missing_since, d.status_since) ||
           CASE WHEN d.status IN ('down', 'degraded') AND d.error_message IS NOT NULL
             THEN ',' || to_json(d.error_message) ELSE ',null' END ||
           ',' || coalesce(CAST(d.failing_since AS text), 'null')",
        " || ']', ',') || ']'"
    ),
);

/// What a service says of one dependency: name, status, since when, message, since when it fails.
#[derive(Debug, Deserialize)]
struct Said(String, String, i64, Option<String>, Option<i64>);

/// The whole wall.
pub(in crate::views) async fn read(
    db: &Db,
    tick: i64,
    missing_for_ms: i64,
) -> Result<Wallboard, StoreError> {
    let limit = i64::try_from(SERVICES_AT_ONCE).unwrap_or(i64::MAX);
    db.snapshot(async |snapshot| {
        let mut gathering = Gathering::default();
        let mut after = 0_i64;
        loop {
            let values = values![tick, missing_for_ms, after, limit];
            let rows = snapshot.fetch_all(&PAGE, values).await?;
            for row in &rows {
                let (service, said) = one(row)?;
                gathering.add(service, said);
            }
            match rows.last() {
                Some(last) if rows.len() >= SERVICES_AT_ONCE => after = last.get("number")?,
                _ => return Ok(gathering.end()),
            }
        }
    })
    .await
}

fn one(row: &Row) -> Result<(WallService, Vec<WallSaid>), StoreError> {
    let stale: Option<Timestamp> = row.get("stale_since")?;
    let overdue: Option<Timestamp> = row.get("overdue_since")?;
    let service = WallService {
        id: row.get("id")?,
        name: row.get("name")?,
        hidden_since: [stale, overdue].into_iter().flatten().min(),
        failing: match status(row, overdue)? {
            ServiceStatus::Down => Some(failing(row, DependencyStatus::Down)?),
            ServiceStatus::Degraded => Some(failing(row, DependencyStatus::Degraded)?),
            ServiceStatus::Healthy | ServiceStatus::Unknown => None,
        },
    };
    let text: Option<String> = row.get("said")?;
    // The statement itself has written it.
    let said: Vec<Said> =
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let said = said.into_iter().map(|Said(name, status, since, error_message, failing)| WallSaid {
        key: compared(&name),
        name,
        status: DependencyStatus::from_name(&status).unwrap_or(DependencyStatus::Unknown),
        since: Timestamp::from_millis(since),
        failing_since: failing.map(Timestamp::from_millis),
        error_message,
    });
    Ok((service, said.collect()))
}

fn failing(row: &Row, status: DependencyStatus) -> Result<Failing, StoreError> {
    let (since, error_message) = (row.get("status_since")?, row.get("error_message")?);
    let failing_since: Option<Timestamp> = row.get("failing_since")?;
    Ok(Failing { status, since, failing_since: failing_since.unwrap_or(since), error_message })
}
