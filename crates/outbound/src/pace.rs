//! The breakers go by the same clock as everything else.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Moment};
use mainstay_breaker::Sleep;

/// The house's clock, as a breaker reads it.
pub struct BreakerClock(pub Arc<dyn Clock>);

impl mainstay_breaker::Clock for BreakerClock {
    fn now(&self) -> mainstay_breaker::Moment {
        let origin = Moment::from_origin(Duration::ZERO);
        mainstay_breaker::Moment::default().plus(self.0.moment().since(origin))
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(duration))
    }
}

impl std::fmt::Debug for BreakerClock {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("BreakerClock")
    }
}
