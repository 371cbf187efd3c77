//! Services as they are shown. One statement for a page: it finds the rows by their keys first, and
//! reads only those whole.

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Db, Row, Sql, StoreError, values};

use super::{overdue, timed};
use crate::names::compared;
use crate::polling::{CircuitState, PollErrorView};
use crate::status::ServiceStatus;
use crate::views::list::{ListAsk, Place, Sort, one_more, pattern};
use crate::views::service::{BreakerView, DependencyCounts, LastPoll, Service};
use crate::views::shown;

macro_rules! columns {
    ($now:literal) => {
        concat!(
            "s.number, s.id, s.name, s.team, s.health_endpoint, s.format, s.schema_config,
             s.poll_interval_ms, s.timeout_ms, s.header_names, s.is_active, s.created_at,
             s.updated_at, st.status, st.status_since, st.failing_since, st.last_polled_at, st.last_latency_us,
             st.error_kind, st.error_message, st.stale_since, st.breaker_state,
             st.breaker_failures, st.breaker_retry_at, st.backoff_attempt, st.next_poll_at,
             st.poll_warnings,
             st.healthy_count, st.degraded_count, st.down_count, st.skipped_count,
             CASE WHEN ",
            overdue!($now),
            " THEN st.next_poll_at + 2 * s.poll_interval_ms END AS overdue_since"
        )
    };
}
macro_rules! page {
    ($now:literal, $key:tt, $order:literal, $beyond:literal, $outer:literal) => {
        concat!(
            "SELECT page.sort_key, ",
            columns!($now),
            " FROM (SELECT k.number, k.name_key, k.sort_key FROM (
                SELECT s.number, s.name_key, s.team_key, s.health_endpoint, ",
            page!(@key $now, $key),
            " AS sort_key, CASE WHEN ",
            overdue!($now),
            " THEN 'unknown' ELSE st.status END AS shown
                FROM services AS s JOIN service_states AS st ON st.service_no = s.number
                WHERE s.removed_at IS NULL) AS k
              WHERE ($2 IS NULL OR k.name_key LIKE $2 ESCAPE '\\' OR k.team_key LIKE $2 ESCAPE '\\'
                  OR lower(k.health_endpoint) LIKE $2 ESCAPE '\\')
                AND ($3 IS NULL OR k.shown = $3) AND ($4 IS NULL OR k.team_key = $4)
                AND ($6 = 0 OR ",
            $beyond,
            ") ORDER BY ",
            $order,
            " LIMIT $7) AS page
              JOIN services AS s ON s.number = page.number
              JOIN service_states AS st ON st.service_no = page.number
              ORDER BY ",
            $outer
        )
    };
    (@key $now:literal, name) => { "CAST(0 AS BIGINT)" };
    (@key $now:literal, polled) => { "coalesce(st.last_polled_at, 0)" };
    (@key $now:literal, status) => {
        concat!(
            "CAST(CASE WHEN ", overdue!($now), " THEN 2
               ELSE CASE st.status WHEN 'down' THEN 0 WHEN 'degraded' THEN 1 WHEN 'unknown' THEN 2
                 ELSE 3 END END AS BIGINT)"
        )
    };
}
macro_rules! by_name {
    ($now:literal) => {
        page!(
            $now,
            name,
            "k.name_key",
            "k.sort_key = $5
               AND k.name_key > (SELECT l.name_key FROM services AS l WHERE l.number = $6)",
            "page.name_key"
        )
    };
}
macro_rules! by_name_down {
    ($now:literal) => {
        page!(
            $now,
            name,
            "k.name_key DESC",
            "k.sort_key = $5
               AND k.name_key < (SELECT l.name_key FROM services AS l WHERE l.number = $6)",
            "page.name_key DESC"
        )
    };
}
macro_rules! by_key {
    ($now:literal, $key:tt) => {
        page!($now, $key, "k.sort_key, k.name_key",
            "(k.sort_key, k.name_key) > ($5, (SELECT l.name_key FROM services AS l WHERE l.number = $6))",
            "page.sort_key, page.name_key")
    };
}
macro_rules! by_key_down {
    ($now:literal, $key:tt) => {
        page!($now, $key, "k.sort_key DESC, k.name_key DESC",
            "(k.sort_key, k.name_key) < ($5, (SELECT l.name_key FROM services AS l WHERE l.number = $6))",
            "page.sort_key DESC, page.name_key DESC")
    };
}
macro_rules! one {
    ($now:literal) => {
        concat!(
            "SELECT CAST(0 AS BIGINT) AS sort_key, ",
            columns!($now),
            " FROM services AS s JOIN service_states AS st ON st.service_no = s.number
              WHERE s.id = $2 AND s.removed_at IS NULL"
        )
    };
}
pub(super) const BY_NAME: Sql = timed!("monitor.services_by_name", by_name);
pub(super) const BY_NAME_DOWN: Sql = timed!("monitor.services_by_name_down", by_name_down);
const BY_STATUS: Sql = timed!("monitor.services_by_status", by_key, status);
const BY_STATUS_DOWN: Sql = timed!("monitor.services_by_status_down", by_key_down, status);
const BY_POLLED: Sql = timed!("monitor.services_by_polled", by_key, polled);
const BY_POLLED_DOWN: Sql = timed!("monitor.services_by_polled_down", by_key_down, polled);
pub(super) const ONE: Sql = timed!("monitor.service", one);
pub(super) const NAMES: Sql = Sql::pair(
    "monitor.service_names",
    "SELECT name_key FROM services
     WHERE removed_at IS NULL AND name_key IN (SELECT value FROM json_each($1))",
    "SELECT name_key FROM services WHERE removed_at IS NULL AND name_key = ANY ($1)",
);

/// A service with what else its dependencies need to know.
#[derive(Debug)]
pub(in crate::views) struct Shown {
    pub(in crate::views) number: i64,
    pub(in crate::views) service: Service,
    /// Its failures in a row, for the backoff.
    pub(in crate::views) backoff: u32,
}

/// One row more than asked for, if there is one.
pub(in crate::views) async fn list(
    db: &Db,
    tick: i64,
    ask: &ListAsk,
) -> Result<Vec<(Place, Service)>, StoreError> {
    let search = ask.filter.search.as_deref().map(pattern);
    let team = ask.filter.team.as_deref().map(compared);
    let values = values![
        tick,
        search.as_deref(),
        ask.filter.status.map(ServiceStatus::name),
        team.as_deref(),
        ask.after.map_or(0, |place| place.key),
        ask.after.map_or(0, |place| place.number),
        one_more(ask.limit),
    ];
    let rows = db.fetch_all(statement(ask.sort), values).await?;
    rows.iter()
        .map(|row| {
            let shown = shown(row)?;
            Ok((Place { key: row.get("sort_key")?, number: shown.number }, shown.service))
        })
        .collect()
}

/// The service of this id, unless it was removed.
pub(in crate::views) async fn find(
    db: &Db,
    tick: i64,
    id: Id,
) -> Result<Option<Shown>, StoreError> {
    db.fetch_optional(&ONE, values![tick, id]).await?.as_ref().map(shown).transpose()
}

/// Which of these names, as they are compared, services have.
pub(in crate::views) async fn names(db: &Db, keys: &[String]) -> Result<Vec<String>, StoreError> {
    let rows = db.fetch_all(&NAMES, values![keys]).await?;
    rows.iter().map(|row| row.get("name_key")).collect()
}

const fn statement(sort: Sort) -> &'static Sql {
    match sort {
        Sort::Name => &BY_NAME,
        Sort::NameDown => &BY_NAME_DOWN,
        Sort::Status => &BY_STATUS,
        Sort::StatusDown => &BY_STATUS_DOWN,
        Sort::LastPolled => &BY_POLLED,
        Sort::LastPolledDown => &BY_POLLED_DOWN,
    }
}

fn shown(row: &Row) -> Result<Shown, StoreError> {
    let overdue_since: Option<Timestamp> = row.get("overdue_since")?;
    let stale_since: Option<Timestamp> = row.get("stale_since")?;
    let status = status(row, overdue_since)?;
    let counts = counts(row)?;
    let is_stale = stale_since.is_some() || overdue_since.is_some();
    let service = Service {
        id: row.get("id")?,
        name: row.get("name")?,
        team: row.get("team")?,
        health_endpoint: row.get("health_endpoint")?,
        format: row.get("format")?,
        schema_config: json(row.get("schema_config")?),
        poll_interval_ms: row.get("poll_interval_ms")?,
        timeout_ms: row.get("timeout_ms")?,
        header_names: texts(row.get("header_names")?),
        is_active: row.get("is_active")?,
        status,
        status_since: overdue_since.map_or_else(|| row.get("status_since"), Ok)?,
        failing_since: failing_since(row, status)?,
        last_poll: last_poll(row)?,
        breaker: breaker(row)?,
        next_poll_at: row.get("next_poll_at")?,
        dependency_counts: if is_stale { counts.unknown() } else { counts },
        poll_warnings: texts(row.get("poll_warnings")?),
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    };
    let backoff = u32::try_from(row.get::<i64>("backoff_attempt")?).unwrap_or(u32::MAX);
    Ok(Shown { number: row.get("number")?, service, backoff })
}

/// Since when a service that is shown as such fails.
pub(super) fn failing_since(
    row: &Row,
    status: ServiceStatus,
) -> Result<Option<Timestamp>, StoreError> {
    if !status.is_unhealthy() {
        return Ok(None);
    }
    let since: Option<Timestamp> = row.get("failing_since")?;
    since.map_or_else(|| row.get("status_since").map(Some), |since| Ok(Some(since)))
}

/// How a service is: what nobody has looked at for long is not known.
pub(super) fn status(
    row: &Row,
    overdue_since: Option<Timestamp>,
) -> Result<ServiceStatus, StoreError> {
    let status: String = row.get("status")?;
    let recorded = ServiceStatus::from_name(&status).unwrap_or(ServiceStatus::Unknown);
    Ok(shown::status(recorded, overdue_since.is_some()))
}

pub(super) fn counts(row: &Row) -> Result<DependencyCounts, StoreError> {
    Ok(DependencyCounts {
        healthy: row.get("healthy_count")?,
        degraded: row.get("degraded_count")?,
        down: row.get("down_count")?,
        unknown: 0,
        skipped: row.get("skipped_count")?,
    })
}

fn last_poll(row: &Row) -> Result<Option<LastPoll>, StoreError> {
    let at: Option<Timestamp> = row.get("last_polled_at")?;
    let Some(at) = at else { return Ok(None) };
    let latency: Option<i64> = row.get("last_latency_us")?;
    let error = poll_error(row)?;
    Ok(Some(LastPoll { at, success: error.is_none(), error, latency_ms: latency.map(millis) }))
}

/// Why a poll failed, from the two columns for it.
pub(super) fn poll_error(row: &Row) -> Result<Option<PollErrorView>, StoreError> {
    let kind: Option<String> = row.get("error_kind")?;
    let message: Option<String> = row.get("error_message")?;
    Ok(kind.map(|kind| PollErrorView { kind, message: message.unwrap_or_default() }))
}

fn breaker(row: &Row) -> Result<BreakerView, StoreError> {
    let state = CircuitState::from_name(&row.get::<String>("breaker_state")?);
    let (failures, retry_at) = (row.get("breaker_failures")?, row.get("breaker_retry_at")?);
    Ok(BreakerView { state, failures, retry_at })
}

/// Microseconds as milliseconds.
pub(super) fn millis(micros: i64) -> f64 {
    // Exact far beyond any latency.
    #[expect(clippy::cast_precision_loss, reason = "latencies are below 2^53 µs")]
    let micros = micros as f64;
    micros / 1_000.0
}

/// JSON that is stored as text; what can't be read is none.
pub(super) fn json(text: Option<String>) -> Option<serde_json::Value> {
    text.and_then(|text| serde_json::from_str(&text).ok())
}

fn texts(text: Option<String>) -> Vec<String> {
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}
