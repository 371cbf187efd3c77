//! The clock that all breakers of a roster look at: it shows what the roster was told.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mainstay_base::Moment;
use mainstay_breaker as breaker;

/// Shows the moment that was set last.
#[derive(Debug, Clone, Default)]
pub(super) struct Hands(Arc<AtomicU64>);

impl Hands {
    pub(super) fn set(&self, now: Moment) {
        let since_origin = now.since(Moment::from_origin(Duration::ZERO));
        let nanos = u64::try_from(since_origin.as_nanos()).unwrap_or(u64::MAX);
        self.0.store(nanos, Ordering::Relaxed);
    }
}

impl breaker::Clock for Hands {
    fn now(&self) -> breaker::Moment {
        breaker::Moment::from_nanos(self.0.load(Ordering::Relaxed))
    }
}
