//! Hands shards over: waits for what is under way, then tells that nothing is.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::Shared;
use crate::shards::ShardSet;

/// How long what is under way is waited for. Longer, and services that have nothing to do with a slow
/// one would be polled by nobody: what is still in the air then is given up, and asked again there.
const DRAIN_LIMIT: Duration = Duration::from_secs(5);
/// How often it is looked at.
const LOOK: Duration = Duration::from_millis(20);

pub(super) async fn run(shared: Arc<Shared>) {
    let mut changes = shared.parts.tenure.changes();
    while !shared.stop.is_cancelled() {
        let shards = shared.parts.tenure.draining();
        tokio::select! {
            () = shared.stop.cancelled() => break,
            () = shared.drain(shards), if !shards.is_empty() => {}
            () = changes.changed(), if shards.is_empty() => {}
        }
    }
}

impl Shared {
    async fn drain(&self, shards: ShardSet) {
        let began = self.moment();
        while !self.is_drained(shards) && self.moment().since(began) < DRAIN_LIMIT {
            tokio::time::sleep(LOOK).await;
        }
        let mut roster = self.roster();
        let left = roster.retire(shards);
        roster.drop_shards(shards);
        self.state().waiting.retain(|attempt, _| roster.is_under_way(*attempt));
        drop(roster);
        self.meters.dropped(left);
        self.parts.tenure.drained(shards);
    }

    /// Whether nothing is in the air, on its way to the sink, or not recorded: in the order in which a
    /// result goes, so that none slips by.
    fn is_drained(&self, shards: ShardSet) -> bool {
        self.roster().retire(shards) == 0
            && self.landing.load(Ordering::SeqCst) == 0
            && self.parts.sink.unrecorded(shards) == 0
    }
}
