//! What an edit changes of what polling knows. Each bumps `dependency_revision`: a result that is
//! recorded in that moment is compared anew.

use mainstay_base::Timestamp;
use mainstay_store::{Sql, StoreError, Tx, values};

// While its breaker refuses, a plan before the breaker's end would only be missed.
macro_rules! reschedule {
    ($later:literal) => {
        concat!(
            "UPDATE service_states SET dependency_revision = dependency_revision + 1, next_poll_at = CASE
               WHEN $2 IS NOT NULL AND breaker_state = 'open'
               THEN ", $later, "(CAST($2 AS bigint), coalesce(breaker_retry_at, 0)) ELSE $2 END
             WHERE service_no = $1"
        )
    };
}
const RESCHEDULE: Sql =
    Sql::pair("monitor.reschedule", reschedule!("max"), reschedule!("greatest"));
const RESET: Sql = Sql::same(
    "monitor.reset_guards",
    "UPDATE service_states SET breaker_state = 'closed', breaker_failures = 0,
       breaker_generation = breaker_generation + 1, breaker_retry_at = NULL, backoff_attempt = 0,
       dependency_revision = dependency_revision + 1
     WHERE service_no = $1",
);
const FORGET: Sql = Sql::same(
    "monitor.forget_status",
    "UPDATE service_states SET status_since = CASE WHEN status = 'unknown' THEN status_since ELSE $2 END,
       status = 'unknown', stale_since = coalesce(stale_since, $2),
       dependency_revision = dependency_revision + 1
     WHERE service_no = $1",
);

/// Plans the next poll, not before the breaker lets it through; `None` is no plan.
pub(in crate::services) async fn reschedule(
    tx: &mut Tx,
    number: i64,
    at: Option<Timestamp>,
) -> Result<(), StoreError> {
    tx.execute(&RESCHEDULE, values![number, at]).await.map(drop)
}

/// Forgets what the guards knew of another endpoint.
pub(in crate::services) async fn reset_guards(tx: &mut Tx, number: i64) -> Result<(), StoreError> {
    tx.execute(&RESET, values![number]).await.map(drop)
}

/// Nobody knows how the service is.
pub(in crate::services) async fn forget_status(
    tx: &mut Tx,
    number: i64,
    now: Timestamp,
) -> Result<(), StoreError> {
    tx.execute(&FORGET, values![number, now]).await.map(drop)
}
