//! How often a provider may be asked, so that it never has to say so itself.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mainstay_base::Clock;
use mainstay_kernel::{Rate, Throttle};

use super::error::ProviderError;

/// The most things whose pace is remembered; those at rest are forgotten for others.
const MAX_THINGS: usize = 10_000;

/// The longest that a call waits for its turn.
const MAX_TURN: Duration = Duration::from_secs(5);

/// The pace of each thing.
pub(crate) struct Paces<K> {
    clock: Arc<dyn Clock>,
    things: Mutex<HashMap<K, Throttle>>,
}

impl<K: Eq + Hash> Paces<K> {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, things: Mutex::default() }
    }

    /// Waits for a turn, or says when to come again where that is too long.
    pub(crate) async fn turn(
        &self,
        thing: impl Fn() -> K,
        rate: &Rate,
    ) -> Result<(), ProviderError> {
        let mut waited = Duration::ZERO;
        loop {
            let Err(retry_after) = self.admit(thing(), rate) else { return Ok(()) };
            waited = waited.saturating_add(retry_after);
            if waited > MAX_TURN {
                return Err(ProviderError::Throttled { retry_after });
            }
            tokio::time::sleep(retry_after).await;
        }
    }

    fn admit(&self, thing: K, rate: &Rate) -> Result<(), Duration> {
        let now = self.clock.moment();
        let mut things = self.things.lock().unwrap_or_else(PoisonError::into_inner);
        if things.len() >= MAX_THINGS && !things.contains_key(&thing) {
            things.retain(|_, throttle| throttle.paid_off_at() > now);
            if things.len() >= MAX_THINGS {
                return Err(MAX_TURN);
            }
        }
        let throttle = things.entry(thing).or_default();
        throttle.admit(rate, now).map_err(|throttled| throttled.retry_after)
    }
}

impl<K> std::fmt::Debug for Paces<K> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Paces")
    }
}
