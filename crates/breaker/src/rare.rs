//! What most breakers never need.

use crate::calls::Spread;
use crate::events::{Hub, Listener};
use crate::moment::Moment;
use crate::sync::{AtomicU64, Ordering};

/// What a breaker needs only once it is in trouble, under contention or listened to.
#[derive(Debug)]
pub(crate) struct Rare {
    /// When open ends, in nanoseconds. Written before the gate says open.
    pub(crate) until: AtomicU64,
    /// The latest moment seen, in nanoseconds: time does not go back.
    latest: AtomicU64,
    pub(crate) rejected: AtomicU64,
    pub(crate) spread: Spread,
    pub(crate) hub: Hub,
}

impl Rare {
    pub(crate) fn new(listeners: &[Listener]) -> Self {
        Self {
            until: AtomicU64::new(0),
            latest: AtomicU64::new(0),
            rejected: AtomicU64::new(0),
            spread: Spread::new(),
            hub: Hub::new(listeners),
        }
    }

    /// Now, and never before what was now already.
    #[inline]
    pub(crate) fn no_earlier(&self, now: Moment) -> Moment {
        let latest = self.latest.load(Ordering::Relaxed);
        if now.as_nanos() > latest {
            self.latest.fetch_max(now.as_nanos(), Ordering::Relaxed);
        }
        Moment::from_nanos(latest.max(now.as_nanos()))
    }
}
