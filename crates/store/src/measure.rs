//! What the store tells about itself: timings, waits and errors.

use std::time::Duration;

use mainstay_base::Clock;
use metrics::{
    Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};

use crate::error::StoreError;
use crate::sql::Sql;

/// The upper ends of the buckets for the store's timings, in seconds.
pub const METRIC_BUCKETS: &[f64] =
    &[0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0];

const STATEMENT: &str = "mainstay_store_statement_duration_seconds";
const TRANSACTION: &str = "mainstay_store_transaction_duration_seconds";
const WAIT: &str = "mainstay_store_wait_seconds";
const ERRORS: &str = "mainstay_store_errors_total";
const CONNECTIONS: &str = "mainstay_store_connections";
const UNANSWERED: &str = "mainstay_store_unanswered_total";

/// Gives each metric its help text. Call it once, after the recorder is installed.
pub fn describe_metrics() {
    describe_histogram!(STATEMENT, Unit::Seconds, "Time of one statement, by its name.");
    describe_histogram!(
        TRANSACTION,
        Unit::Seconds,
        "Time of one write transaction from begin to commit, by outcome."
    );
    describe_histogram!(WAIT, Unit::Seconds, "Time a transaction waited to be let in, by mode.");
    describe_counter!(ERRORS, "Failed store calls, by kind of error.");
    describe_counter!(UNANSWERED, "Connections given up because the database fell silent.");
    describe_gauge!(CONNECTIONS, "Open database connections, by pool and state.");
}

/// Times one statement and counts its error.
pub(crate) async fn statement<T>(
    clock: &dyn Clock,
    sql: &Sql,
    work: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let started = clock.moment();
    let outcome = work.await;
    let took = clock.moment().since(started);
    histogram!(STATEMENT, "statement" => sql.name()).record(took.as_secs_f64());
    if let Err(error) = &outcome {
        count_error(error);
    }
    outcome
}

/// Counts an error that no statement counted.
pub(crate) fn count_error(error: &StoreError) {
    counter!(ERRORS, "kind" => error.kind()).increment(1);
}

/// Counts a connection that is given up because no answer came.
pub(crate) fn unanswered() {
    counter!(UNANSWERED).increment(1);
}

/// Records a finished write transaction.
pub(crate) fn transaction(committed: bool, took: Duration) {
    let outcome = if committed { "committed" } else { "rolled_back" };
    histogram!(TRANSACTION, "outcome" => outcome).record(took.as_secs_f64());
}

/// Records how long a transaction waited at the gate.
pub(crate) fn waited(mode: &'static str, took: Duration) {
    histogram!(WAIT, "mode" => mode).record(took.as_secs_f64());
}

/// Records the use of a pool.
#[expect(clippy::cast_precision_loss, reason = "a pool has far fewer than 2^52 connections")]
pub(crate) fn connections(pool: &'static str, open: u32, idle: usize) {
    gauge!(CONNECTIONS, "pool" => pool, "state" => "idle").set(idle as f64);
    let busy = usize::try_from(open).unwrap_or(usize::MAX).saturating_sub(idle);
    gauge!(CONNECTIONS, "pool" => pool, "state" => "busy").set(busy as f64);
}
