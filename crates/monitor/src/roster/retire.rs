//! Services that go to another instance.

use std::collections::BTreeMap;
use std::time::Duration;

use mainstay_base::Moment;

use super::Roster;
use super::entry::Entry;
use crate::shards::{Lease, Shard, ShardSet};

impl Roster {
    /// Begins no more polls in these shards, and tells in which of them some are still in the air. Each
    /// ends as usual, and is the last of its service here.
    pub fn retire(&mut self, shards: ShardSet) -> ShardSet {
        let (mut idle, mut flying) = (Vec::new(), ShardSet::NONE);
        for entry in self.entries.iter_mut().filter(|entry| entry.is_in(shards)) {
            if entry.flying.is_some() {
                entry.is_retiring = true;
                flying =
                    flying.and(entry.watch.lease.map(|lease| lease.shard).into_iter().collect());
            } else {
                idle.push(entry.watch.number);
            }
        }
        for number in idle {
            self.forget(number);
        }
        flying
    }

    /// Polls nothing of these shards any more. A result in the air will be stale.
    pub fn drop_shards(&mut self, shards: ShardSet) {
        self.drop_if(|entry| entry.is_in(shards));
    }

    /// Polls nothing any more under leases that are not among these. A result in the air will be stale.
    pub fn keep_owned(&mut self, owned: &BTreeMap<Shard, i64>) {
        let is_owned = |lease: Lease| owned.get(&lease.shard) == Some(&lease.generation);
        self.drop_if(|entry| entry.watch.lease.is_some_and(|lease| !is_owned(lease)));
    }

    fn drop_if(&mut self, is_gone: impl Fn(&Entry) -> bool) {
        let gone = self.entries.iter_mut().filter(|entry| is_gone(entry));
        let gone: Vec<_> = gone.map(|entry| entry.watch.number).collect();
        for number in gone {
            self.forget(number);
        }
    }

    /// How late whoever waits longest is.
    #[must_use]
    pub fn lag(&self, now: Moment) -> Duration {
        self.schedule.next_due().map_or(Duration::ZERO, |due| now.since(due))
    }
}

impl Entry {
    fn is_in(&self, shards: ShardSet) -> bool {
        self.watch.lease.is_some_and(|lease| shards.contains(lease.shard))
    }
}
