//! What an edit changes of what polling knows. Each bumps `dependency_revision`: a result that is
//! recorded in that moment is compared anew.

use mainstay_base::Timestamp;
use mainstay_store::{Sql, StoreError, Tx, values};

// While its breaker refuses, a plan before the breaker's end would only be missed.
macro_rules! reschedule {
    ($later:literal, $list:literal) => {
        concat!(
            "UPDATE service_states SET dependency_revision = dependency_revision + 1, next_poll_at = CASE
               WHEN $2 IS NOT NULL AND breaker_state = 'open'
               THEN ", $later, "(CAST($2 AS bigint), coalesce(breaker_retry_at, 0)) ELSE $2 END
             WHERE service_no ", $list
        )
    };
}
macro_rules! reset {
    ($list:literal) => {
        concat!(
            "UPDATE service_states SET breaker_state = 'closed', breaker_failures = 0,
               breaker_generation = breaker_generation + 1, breaker_retry_at = NULL,
               backoff_attempt = 0, dependency_revision = dependency_revision + 1
             WHERE service_no ",
            $list
        )
    };
}
macro_rules! forget {
    ($list:literal) => {
        concat!(
            "UPDATE service_states SET
               status_since = CASE WHEN status = 'unknown' THEN status_since ELSE $2 END,
               status = 'unknown', failing_since = NULL, stale_since = coalesce(stale_since, $2),
               dependency_revision = dependency_revision + 1
             WHERE service_no ",
            $list
        )
    };
}
const RESCHEDULE: Sql = Sql::pair(
    "monitor.reschedule",
    reschedule!("max", "IN (SELECT value FROM json_each($1))"),
    reschedule!("greatest", "= ANY ($1)"),
);
const RESET: Sql = Sql::pair(
    "monitor.reset_guards",
    reset!("IN (SELECT value FROM json_each($1))"),
    reset!("= ANY ($1)"),
);
const FORGET: Sql = Sql::pair(
    "monitor.forget_status",
    forget!("IN (SELECT value FROM json_each($1))"),
    forget!("= ANY ($1)"),
);

/// Plans the next polls, none before its breaker lets it through; `None` is no plan.
pub(in crate::services) async fn reschedule(
    tx: &mut Tx,
    numbers: &[i64],
    at: Option<Timestamp>,
) -> Result<(), StoreError> {
    if numbers.is_empty() {
        return Ok(());
    }
    tx.execute(&RESCHEDULE, values![numbers, at]).await.map(drop)
}

/// Forgets what the guards knew of another endpoint.
pub(in crate::services) async fn reset_guards(
    tx: &mut Tx,
    numbers: &[i64],
) -> Result<(), StoreError> {
    if numbers.is_empty() {
        return Ok(());
    }
    tx.execute(&RESET, values![numbers]).await.map(drop)
}

/// Nobody knows how the services are.
pub(in crate::services) async fn forget_status(
    tx: &mut Tx,
    numbers: &[i64],
    now: Timestamp,
) -> Result<(), StoreError> {
    if numbers.is_empty() {
        return Ok(());
    }
    tx.execute(&FORGET, values![numbers, now]).await.map(drop)
}
