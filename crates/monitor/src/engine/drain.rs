//! Hands shards over: waits for what is under way, then tells that nothing is.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mainstay_base::Moment;

use super::Shared;
use crate::shards::{Shard, ShardSet};

/// How long what is under way is waited for. Longer, and services that have nothing to do with a slow
/// one would be polled by nobody: what is still in the air then is given up, and asked again there.
const DRAIN_LIMIT: Duration = Duration::from_secs(5);
/// How often it is looked at.
const LOOK: Duration = Duration::from_millis(20);

pub(super) async fn run(shared: Arc<Shared>) {
    let mut changes = shared.parts.tenure.changes();
    let mut since = BTreeMap::new();
    while !shared.stop.is_cancelled() {
        let shards = shared.parts.tenure.draining();
        shared.drain(shards, &mut since);
        tokio::select! {
            () = shared.stop.cancelled() => break,
            () = changes.changed(), if shards.is_empty() => {}
            () = tokio::time::sleep(LOOK), if !shards.is_empty() => {}
        }
    }
}

impl Shared {
    /// Tells of each of these shards when nothing of it is under way: none waits for another. `since`
    /// keeps when each began.
    fn drain(&self, shards: ShardSet, since: &mut BTreeMap<Shard, Moment>) {
        if shards.is_empty() {
            return since.clear();
        }
        let now = self.moment();
        since.retain(|shard, _| shards.contains(*shard));
        for shard in shards.iter() {
            since.entry(shard).or_insert(now);
        }
        let is_over = |at: Moment| now.since(at) >= DRAIN_LIMIT;
        let over: ShardSet =
            since.iter().filter(|(_, at)| is_over(**at)).map(|(shard, _)| *shard).collect();
        let ended = self.ended(shards).and(over);
        if ended.is_empty() {
            return;
        }
        let mut roster = self.roster();
        roster.drop_shards(ended);
        self.dismiss(&roster);
        drop(roster);
        self.parts.tenure.drained(ended);
    }

    /// Those of which nothing is in the air, on its way to the sink, or not recorded: in the order in
    /// which a result goes, so that none slips by.
    fn ended(&self, shards: ShardSet) -> ShardSet {
        let landed = shards.without(self.roster().retire(shards));
        if self.landing.load(Ordering::SeqCst) > 0 {
            return ShardSet::NONE;
        }
        landed.without(self.parts.sink.unrecorded(landed))
    }
}
