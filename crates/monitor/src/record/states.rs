//! The one row of each service that every poll writes, guarded: only a newer poll of the same
//! generation is taken, and only if nobody else changed the service meanwhile.

use std::collections::HashSet;

use mainstay_base::Timestamp;
use mainstay_store::{Row, Sql, StoreError, Tx, values};
use serde::Serialize;

use super::circuits::circuit_name;
use super::{over_rows, rows_text};
use crate::judge::{Counts, Ruling};
use crate::known::Known;
use crate::sink::PollResult;
use crate::watch::ServiceNumber;

const UPDATE: Sql = over_rows!(
    "monitor.update_states",
    "UPDATE service_states SET
       poll_seq = v.poll_seq, status = v.status, status_since = v.status_since,
       failing_since = v.failing_since,
       last_polled_at = v.at, last_success_at = coalesce(v.success_at, last_success_at),
       last_latency_us = v.latency_us, error_kind = v.error_kind,
       error_message = v.error_message, stale_since = v.stale_since,
       breaker_state = v.breaker_state, breaker_failures = v.breaker_failures,
       breaker_generation = v.breaker_generation, breaker_retry_at = v.breaker_retry_at,
       backoff_attempt = v.backoff_attempt, next_poll_at = v.next_poll_at,
       poll_warnings = v.poll_warnings,
       healthy_count = coalesce(v.healthy, healthy_count),
       degraded_count = coalesce(v.degraded, degraded_count),
       down_count = coalesce(v.down, down_count),
       skipped_count = coalesce(v.skipped, skipped_count)
     FROM services AS s JOIN",
    [
        service_no bigint, generation bigint, poll_seq bigint, dependency_revision bigint,
        status text, status_since bigint, failing_since bigint, at bigint, success_at bigint, latency_us bigint,
        error_kind text, error_message text, stale_since bigint, breaker_state text,
        breaker_failures bigint, breaker_generation bigint, breaker_retry_at bigint,
        backoff_attempt bigint, next_poll_at bigint, poll_warnings text,
        healthy bigint, degraded bigint, down bigint, skipped bigint,
    ],
    "ON s.number = v.service_no
     WHERE service_states.service_no = v.service_no AND s.generation = v.generation
       AND s.is_active = 1 AND s.removed_at IS NULL
       AND service_states.poll_seq < v.poll_seq
       AND service_states.dependency_revision = v.dependency_revision
     RETURNING service_states.service_no"
);
macro_rules! refused {
    ($list:literal) => {
        concat!(
            "SELECT s.number, s.generation, s.is_active, s.removed_at, st.poll_seq
             FROM services AS s JOIN service_states AS st ON st.service_no = s.number
             WHERE s.number ",
            $list
        )
    };
}
const REFUSED: Sql = Sql::pair(
    "monitor.why_refused",
    refused!("IN (SELECT value FROM json_each($1))"),
    refused!("= ANY ($1)"),
);

/// A row as it travels.
#[derive(Debug, Serialize)]
pub(crate) struct StateRow<'a> {
    service_no: i64,
    generation: i64,
    poll_seq: i64,
    dependency_revision: i64,
    status: &'static str,
    status_since: i64,
    failing_since: Option<i64>,
    at: i64,
    success_at: Option<i64>,
    latency_us: i64,
    error_kind: Option<&'static str>,
    error_message: Option<&'a str>,
    stale_since: Option<i64>,
    breaker_state: &'static str,
    breaker_failures: u32,
    breaker_generation: u64,
    breaker_retry_at: Option<i64>,
    backoff_attempt: u32,
    next_poll_at: i64,
    poll_warnings: Option<&'a str>,
    healthy: Option<i64>,
    degraded: Option<i64>,
    down: Option<i64>,
    skipped: Option<i64>,
}

impl<'a> StateRow<'a> {
    pub(crate) fn new(result: &PollResult, ruling: &'a Ruling, known: &Known) -> Self {
        let at = result.at;
        let settlement = &result.settlement;
        let breaker = &settlement.breaker;
        let remaining = breaker.open_remaining;
        let count = |pick: fn(&Counts) -> i64| ruling.counts.as_ref().map(pick);
        Self {
            service_no: result.watch.number.0,
            generation: result.watch.generation,
            poll_seq: ruling.poll_seq,
            dependency_revision: known.dependency_revision,
            status: ruling.status.after.name(),
            status_since: ruling.status_since.as_millis(),
            failing_since: ruling.failing_since.map(Timestamp::as_millis),
            at: at.as_millis(),
            success_at: ruling.failure.is_none().then(|| at.as_millis()),
            latency_us: i64::try_from(result.latency.as_micros()).unwrap_or(i64::MAX),
            error_kind: ruling.failure.as_ref().map(|failure| failure.kind.name()),
            error_message: ruling.failure.as_ref().map(|failure| failure.message.as_str()),
            stale_since: ruling.stale_since.after.map(Timestamp::as_millis),
            breaker_state: circuit_name(breaker.state),
            breaker_failures: breaker.failures,
            breaker_generation: breaker.generation,
            breaker_retry_at: (!remaining.is_zero()).then(|| at.plus(remaining).as_millis()),
            backoff_attempt: settlement.backoff,
            next_poll_at: ruling.next_poll_at.as_millis(),
            poll_warnings: ruling.warnings.after.as_deref(),
            healthy: count(|counts| counts.healthy),
            degraded: count(|counts| counts.degraded),
            down: count(|counts| counts.down),
            skipped: count(|counts| counts.skipped),
        }
    }
}

// SQLite has one writer.
const HOLD: Sql = Sql::pair(
    "monitor.hold_states",
    "SELECT 1 AS one WHERE $1 IS NULL",
    "SELECT service_no FROM service_states WHERE service_no = ANY ($1)
     ORDER BY service_no FOR NO KEY UPDATE",
);

/// Waits until nobody else writes these services, and lets nobody begin. Whoever writes rows of several
/// services holds them first, in this one order.
pub(crate) async fn hold(tx: &mut Tx, services: &[i64]) -> Result<(), StoreError> {
    tx.execute(&HOLD, values![services]).await.map(drop)
}

const TOUCH: Sql = Sql::pair(
    "monitor.touch_services",
    "UPDATE service_states SET dependency_revision = dependency_revision + 1
     WHERE service_no IN (SELECT value FROM json_each($1))",
    "UPDATE service_states SET dependency_revision = dependency_revision + 1
     WHERE service_no = ANY ($1)",
);

/// Counts up that somebody else has changed dependencies of these services: a result that is recorded
/// in that moment is compared anew.
pub(crate) async fn touch(tx: &mut Tx, services: &[i64]) -> Result<(), StoreError> {
    tx.execute(&TOUCH, values![services]).await.map(drop)
}

/// Writes the rows and tells whose were taken.
pub(crate) async fn update(
    tx: &mut Tx,
    rows: &[StateRow<'_>],
) -> Result<HashSet<ServiceNumber>, StoreError> {
    let taken = tx.fetch_all(&UPDATE, values![rows_text(rows).as_str()]).await?;
    taken.iter().map(|row| row.get("service_no").map(ServiceNumber)).collect()
}

/// Why a row was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotTaken {
    /// It is written already: an earlier try was committed after all.
    Already,
    /// The service was edited, deactivated or removed: the result says nothing of it any more.
    Stale,
    /// Somebody changed its dependencies: compare again.
    Outdated,
}

/// Why the rows of these results were not taken, in their order.
pub(crate) async fn why_not_taken(
    tx: &mut Tx,
    results: &[&PollResult],
) -> Result<Vec<NotTaken>, StoreError> {
    let keys: Vec<i64> = results.iter().map(|result| result.watch.number.0).collect();
    let rows = tx.fetch_all(&REFUSED, values![&keys]).await?;
    results.iter().map(|result| why(&rows, result)).collect()
}

fn why(rows: &[Row], result: &PollResult) -> Result<NotTaken, StoreError> {
    for row in rows {
        if row.get::<i64>("number")? != result.watch.number.0 {
            continue;
        }
        let is_current = row.get::<i64>("generation")? == result.watch.generation
            && row.get::<i64>("is_active")? == 1
            && row.get::<Option<i64>>("removed_at")?.is_none();
        return Ok(match row.get::<i64>("poll_seq")? {
            _ if !is_current => NotTaken::Stale,
            stored if stored >= result.settlement.poll_seq => NotTaken::Already,
            _ => NotTaken::Outdated,
        });
    }
    Ok(NotTaken::Stale)
}
