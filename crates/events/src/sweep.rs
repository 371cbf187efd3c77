//! Looks at every followed stream once a second, whatever bells were heard: a lost bell costs delay,
//! never an event. It also notices a listener that has gone deaf; where nobody follows, its marks do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::MissedTickBehavior;

use crate::hub::Hub;
use crate::measure;
use crate::record::follow;
use crate::tools::{Tools, within_limit};
use crate::trouble::Trouble;

/// Looks in a row with lost bells, none heard between them, after which the listener counts as deaf.
const DEAF_AFTER: u32 = 3;

/// Streams that one statement looks at.
const LOOK_TOGETHER: usize = 1_024;

/// Whether the listener hears.
#[derive(Debug, Default)]
pub(crate) struct Hearing {
    /// It is connected; without that, no bell is due.
    is_connected: AtomicBool,
    lost_in_a_row: AtomicU32,
    replace: Notify,
}

impl Hearing {
    pub(crate) fn connected(&self, is_connected: bool) {
        self.is_connected.store(is_connected, Ordering::Relaxed);
        self.lost_in_a_row.store(0, Ordering::Relaxed);
        measure::listening(is_connected);
    }

    /// Any bell shows that it hears.
    pub(crate) fn heard(&self) {
        self.lost_in_a_row.store(0, Ordering::Relaxed);
    }

    /// Resolves when the listener should be replaced.
    pub(crate) async fn deaf(&self) {
        self.replace.notified().await;
    }

    fn lost(&self) {
        let lost = self.lost_in_a_row.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        if lost >= DEAF_AFTER && self.is_connected.load(Ordering::Relaxed) {
            self.lost_in_a_row.store(0, Ordering::Relaxed);
            self.replace.notify_one();
        }
    }
}

/// Runs until the stop.
pub(crate) async fn run(hub: Hub, hearing: Arc<Hearing>, every: Duration) {
    let stop = hub.tools().stop.clone();
    let trouble = Trouble::new("looking at the followed streams");
    let mut ticks = tokio::time::interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let is_regular = tokio::select! {
            () = stop.cancelled() => break,
            _ = ticks.tick() => true,
            () = hub.look_asked() => false,
        };
        if stop.run_until_cancelled(look(&hub, &hearing, &trouble, is_regular)).await.is_none() {
            break;
        }
    }
    hub.close();
}

/// A regular look finds what bells should have told; one that was asked for comes because they could
/// not.
async fn look(hub: &Hub, hearing: &Hearing, trouble: &Trouble, is_regular: bool) {
    if is_regular {
        let lost = hub.take_lost();
        if lost > 0 {
            measure::lost(u64::try_from(lost).unwrap_or(u64::MAX));
            hearing.lost();
        }
    }
    let is_bell_due = is_regular && hearing.is_connected.load(Ordering::Relaxed);
    for streams in hub.followed().chunks(LOOK_TOGETHER) {
        let Tools { db, reads, .. } = hub.tools();
        let counters = within_limit(follow::counters(db, reads, streams)).await;
        trouble.ended(&counters);
        let Ok(counters) = counters else { return };
        hub.found(streams, &counters, is_bell_due);
    }
}
