//! Services that go to another instance.

use std::time::Duration;

use mainstay_base::Moment;

use super::Roster;
use super::entry::Entry;
use crate::shards::ShardSet;

impl Roster {
    /// Begins no more polls in these shards, and tells how many are still in the air. Each ends as
    /// usual, and is the last of its service here.
    pub fn retire(&mut self, shards: ShardSet) -> usize {
        let (mut idle, mut flying) = (Vec::new(), 0_usize);
        for entry in self.entries.iter_mut().filter(|entry| entry.is_in(shards)) {
            if entry.flying.is_some() {
                entry.is_retiring = true;
                flying = flying.saturating_add(1);
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
        let gone = self.entries.iter_mut().filter(|entry| entry.is_in(shards));
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
