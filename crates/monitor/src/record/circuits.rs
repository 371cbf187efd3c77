//! Breakers that let a probe through, between two results.

use mainstay_breaker::State;
use mainstay_store::{Sql, StoreError, Tx, values};

const HALF_OPEN: Sql = Sql::pair(
    "monitor.half_open",
    "UPDATE service_states SET breaker_state = 'half_open'
     WHERE breaker_state = 'open' AND service_no IN (SELECT value FROM json_each($1))",
    "UPDATE service_states SET breaker_state = 'half_open'
     WHERE breaker_state = 'open' AND service_no = ANY ($1)",
);

/// Notes that the probes of these services are in the air.
pub(crate) async fn half_open(tx: &mut Tx, numbers: &[i64]) -> Result<(), StoreError> {
    tx.execute(&HALF_OPEN, values![numbers]).await.map(drop)
}

/// The name of a breaker's state on the wire and in the database.
#[must_use]
pub(crate) const fn circuit_name(state: State) -> &'static str {
    match state {
        State::Closed => "closed",
        State::Open => "open",
        State::HalfOpen => "half_open",
    }
}
