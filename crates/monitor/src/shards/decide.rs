//! Who takes what and who hands over what, from what one instance sees. Pure.

use std::time::Duration;

use mainstay_base::{Id, Timestamp};

use super::model::{LEFT_ALONE, LOOK_FOR_SHARE, LeaseRow, MOST_HANDED_OVER, RENEW_EVERY, Standing};
use super::shard::{SHARDS, Shard, ShardSet};

/// The shortest time between two looks.
pub const SOONEST_LOOK: Duration = Duration::from_millis(100);

/// What an instance sees in one look, by the database's clock.
#[derive(Debug, Clone, Copy)]
pub struct Sight<'a> {
    /// Who looks. It is alive, whatever the others say.
    pub me: Id,
    /// When.
    pub now: Timestamp,
    /// Every instance that is stored.
    pub instances: &'a [Standing],
    /// Every shard.
    pub leases: &'a [LeaseRow],
    /// Those of its own that it is handing over already.
    pub draining: ShardSet,
}

/// What to do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Free shards to take.
    pub take: ShardSet,
    /// Own shards to hand over: poll them no more, wait for what is under way, then release them.
    pub drain: ShardSet,
    /// When to look again at the latest.
    pub look_in: Duration,
}

/// What follows from what is seen.
///
/// Everybody alive and settled has a share of the shards, the same for all, rounded up. Whoever has fewer takes
/// free ones; whoever has more hands over, as far as others have room. A shard that nobody took for
/// [`LEFT_ALONE`] is taken by whoever sees it: rather an unequal share than services that nobody polls.
#[must_use]
pub fn plan(sight: &Sight<'_>) -> Plan {
    let held = sight.owned_by(sight.me).without(sight.draining);
    let share = sight.share();
    let (left_over, fresh) = sight.free();
    let free = left_over.len().saturating_add(fresh.len());
    let most = share.saturating_sub(held.len()).max(left_over.len());
    let candidates = sight.in_turn(left_over).chain(sight.in_turn(fresh));
    let take: ShardSet = candidates.take(most).collect();
    let room = sight.room_of_others(share).saturating_sub(free);
    let room = room.min(MOST_HANDED_OVER).saturating_sub(sight.draining.len());
    // Who must help out has too many for a moment: that is settled with the next look.
    let handed = if take.is_empty() { held.len().saturating_sub(share).min(room) } else { 0 };
    let drain = held.numbers().into_iter().rev().filter_map(Shard::new).take(handed).collect();
    Plan { take, drain, look_in: sight.next_look() }
}

impl Sight<'_> {
    /// The others that count as alive.
    fn others(&self) -> impl Iterator<Item = &Standing> {
        self.instances.iter().filter(|one| one.id != self.me && one.is_alive(self.now))
    }

    /// Those of them that get a share.
    fn sharers(&self) -> impl Iterator<Item = &Standing> {
        self.others().filter(|one| one.is_settled)
    }

    /// How many shards each may have.
    fn share(&self) -> usize {
        usize::from(SHARDS).div_ceil(self.sharers().count().saturating_add(1))
    }

    fn owned_by(&self, id: Id) -> ShardSet {
        self.leases.iter().filter(|row| row.owner == Some(id)).map(|row| row.lease.shard).collect()
    }

    fn room_of_others(&self, share: usize) -> usize {
        self.sharers().map(|one| share.saturating_sub(self.owned_by(one.id).len())).sum()
    }

    /// Since when nobody who is alive owns it.
    fn free_since(&self, row: &LeaseRow) -> Option<Timestamp> {
        let Some(owner) = row.owner else { return Some(row.changed_at) };
        if owner == self.me {
            return None;
        }
        match self.instances.iter().find(|one| one.id == owner) {
            Some(one) => one.dead_since(self.now),
            None => Some(row.changed_at),
        }
    }

    /// Free shards: those that were left alone for long enough, and the others.
    fn free(&self) -> (ShardSet, ShardSet) {
        let of = |wanted: bool| {
            let free = self.leases.iter().filter(|row| {
                let since = self.free_since(row);
                since.is_some_and(|since| (self.now.since(since) >= LEFT_ALONE) == wanted)
            });
            free.map(|row| row.lease.shard).collect()
        };
        (of(true), of(false))
    }

    /// Each begins at another place, so that two who look at the same time seldom want the same.
    fn in_turn(&self, shards: ShardSet) -> impl Iterator<Item = Shard> {
        let alive = self.sharers().count().saturating_add(1);
        let before = self.sharers().filter(|one| one.id < self.me).count();
        let start = before.saturating_mul(usize::from(SHARDS)).checked_div(alive).unwrap_or(0);
        let all: Vec<_> = Shard::all().filter(|shard| shards.contains(*shard)).collect();
        let split = all.partition_point(|shard| {
            usize::try_from(shard.number()).is_ok_and(|number| number < start)
        });
        let (first, last) = all.split_at(split);
        last.iter().chain(first).copied().collect::<Vec<_>>().into_iter()
    }

    /// Whether others have more than their share, and it has room for some of it.
    fn waits_for_share(&self) -> bool {
        let (share, held) = (self.share(), self.owned_by(self.me).without(self.draining));
        held.len() < share && self.others().any(|one| self.owned_by(one.id).len() > share)
    }

    /// When something may have to be done: a lease ends, a free shard was left alone for long enough, or
    /// somebody may have released a shard for this one.
    fn next_look(&self) -> Duration {
        let ends =
            self.others().filter_map(|one| one.expires_at).map(|until| until.since(self.now));
        let waits = self.leases.iter().filter_map(|row| {
            let since = self.free_since(row)?;
            Some(LEFT_ALONE.saturating_sub(self.now.since(since)))
        });
        let latest = if self.waits_for_share() { LOOK_FOR_SHARE } else { RENEW_EVERY };
        let soonest = ends.chain(waits).min().unwrap_or(latest);
        soonest.clamp(SOONEST_LOOK, latest)
    }
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
