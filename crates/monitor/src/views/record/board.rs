//! Every service in one line.

use std::collections::HashMap;
use std::time::Duration;

use mainstay_base::Timestamp;
use mainstay_store::{Db, Row, Sql, StoreError, values};

use super::services::{counts, failing_since, status};
use super::{overdue, timed};
use crate::polling::CircuitState;
use crate::views::board::BoardItem;
use crate::views::board::blame::Blamed;
use crate::views::shown;

/// Lines that are read at once. Each connection has a thread of its own, whose memory is not given back:
/// what one read needs at most, each of them comes to hold.
const LINES_AT_ONCE: usize = 500;

macro_rules! lines {
    ($now:literal) => {
        concat!(
            "SELECT s.number, s.id, s.name, s.name_key, s.team, s.is_active, s.poll_interval_ms, st.status,
               st.status_since, st.failing_since, st.stale_since, st.breaker_state, st.healthy_count,
               st.degraded_count, st.down_count, st.skipped_count,
               CAST(CASE WHEN st.poll_warnings IS NULL THEN 0 ELSE 1 END AS BIGINT) AS has_warnings,
               CASE WHEN ",
            overdue!($now),
            " THEN st.next_poll_at + 2 * s.poll_interval_ms END AS overdue_since
             FROM services AS s JOIN service_states AS st ON st.service_no = s.number
             WHERE s.removed_at IS NULL AND s.name_key > $2 ORDER BY s.name_key LIMIT $3"
        )
    };
}
pub(super) const LINES: Sql = timed!("monitor.board", lines);

/// Every service by name, one more than `most` if there are more.
pub(in crate::views) async fn lines(
    db: &Db,
    tick: i64,
    most: usize,
    latencies: &HashMap<i64, Duration>,
    blamed: &Blamed,
) -> Result<Vec<BoardItem>, StoreError> {
    db.snapshot(async |snapshot| {
        let (mut lines, mut after) = (Vec::new(), String::new());
        loop {
            let at_once = LINES_AT_ONCE.min((most + 1).saturating_sub(lines.len()));
            let limit = i64::try_from(at_once).unwrap_or(i64::MAX);
            let rows = snapshot.fetch_all(&LINES, values![tick, &after, limit]).await?;
            for row in &rows {
                lines.push(line(row, latencies, blamed)?);
            }
            match rows.last() {
                Some(last) if rows.len() == LINES_AT_ONCE => after = last.get("name_key")?,
                _ => return Ok(lines),
            }
        }
    })
    .await
}

fn line(
    row: &Row,
    latencies: &HashMap<i64, Duration>,
    blamed: &Blamed,
) -> Result<BoardItem, StoreError> {
    let overdue_since: Option<Timestamp> = row.get("overdue_since")?;
    let stale_since: Option<Timestamp> = row.get("stale_since")?;
    let is_stale = stale_since.is_some() || overdue_since.is_some();
    let counts = counts(row)?;
    let number: i64 = row.get("number")?;
    let status = status(row, overdue_since)?;
    Ok(BoardItem {
        id: row.get("id")?,
        name: row.get("name")?,
        team: row.get("team")?,
        is_active: row.get("is_active")?,
        poll_interval_ms: row.get("poll_interval_ms")?,
        status,
        cause: shown::cause(blamed.get(&number).copied(), status),
        status_since: overdue_since.map_or_else(|| row.get("status_since"), Ok)?,
        failing_since: failing_since(row, status)?,
        breaker: CircuitState::from_name(&row.get::<String>("breaker_state")?),
        p95_ms: latencies.get(&number).map(|latency| latency.as_secs_f64() * 1_000.0),
        has_warnings: row.get("has_warnings")?,
        dependency_counts: if is_stale { counts.unknown() } else { counts },
    })
}
