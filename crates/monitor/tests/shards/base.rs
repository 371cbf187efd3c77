//! The rows of a database, and what a look does to them.

use std::collections::HashMap;
use std::time::Duration;

use mainstay_base::{Id, Timestamp};
use mainstay_monitor::shards::decide::{Plan, Sight, plan};
use mainstay_monitor::shards::model::{LEASE, LeaseRow, SETTLED_AFTER, Standing};
use mainstay_monitor::shards::{Lease, Shard, ShardSet};

pub(crate) struct Base {
    instances: Vec<Standing>,
    came: HashMap<Id, Timestamp>,
    pub(crate) rows: Vec<LeaseRow>,
}

/// What a look has brought.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) me: Id,
    pub(crate) mine: Vec<Lease>,
    pub(crate) plan: Plan,
}

impl Base {
    pub(crate) fn new() -> Self {
        let row = |shard| LeaseRow {
            lease: Lease { shard, generation: 0 },
            owner: None,
            changed_at: Timestamp::from_millis(0),
        };
        let came = HashMap::new();
        Self { instances: Vec::new(), came, rows: Shard::all().map(row).collect() }
    }

    /// Renews or registers, releases, buries, decides and takes, as one.
    pub(crate) fn look(
        &mut self,
        now: Timestamp,
        (me, next_id, spare_id): (Id, Id, Id),
        (draining, drained): (ShardSet, ShardSet),
        may_bury: bool,
    ) -> Answer {
        let until = Some(now.plus(LEASE));
        // An earlier try may have been committed after all: then it has its next id already.
        let is_there = |id: Id| {
            let is_it = |one: &Standing| one.id == id && one.gone_at.is_none();
            self.instances.iter().position(is_it)
        };
        let known = is_there(me).or_else(|| is_there(next_id));
        let me = match known.and_then(|place| self.instances.get_mut(place)) {
            Some(known) => {
                known.expires_at = until;
                known.is_settled |= now.since(self.came[&known.id]) >= SETTLED_AFTER;
                known.id
            }
            None => {
                let is_used_up = self.came.contains_key(&next_id);
                let (id, is_settled) = (if is_used_up { spare_id } else { next_id }, false);
                self.came.insert(id, now);
                self.instances.push(Standing { id, is_settled, expires_at: until, gone_at: None });
                id
            }
        };
        self.change(drained, now, |row| row.owner == Some(me), None);
        for one in &mut self.instances {
            if may_bury && one.gone_at.is_none() && !one.is_alive(now) {
                one.gone_at = Some(now);
            }
        }
        let draining = draining.without(drained);
        let draining = draining.among(self.owned_by(me));
        let sight = Sight { me, now, instances: &self.instances, leases: &self.rows, draining };
        let plan = plan(&sight);
        let there = self.instances.iter().filter(|one| one.gone_at.is_none());
        let there: Vec<_> = there.map(|one| one.id).collect();
        let is_free = |row: &LeaseRow| row.owner.is_none_or(|owner| !there.contains(&owner));
        self.change(plan.take, now, is_free, Some(me));
        let mine = self.rows.iter().filter(|row| row.owner == Some(me)).map(|row| row.lease);
        Answer { me, mine: mine.collect(), plan }
    }

    pub(crate) fn leave(&mut self, now: Timestamp, me: Id) {
        self.change(Shard::all().collect(), now, |row| row.owner == Some(me), None);
        for one in self.instances.iter_mut().filter(|one| one.id == me) {
            one.gone_at = Some(now);
        }
    }

    /// Who may write under this lease.
    pub(crate) fn admits(&self, lease: Lease) -> Option<Option<Id>> {
        self.rows.iter().find(|row| row.lease == lease).map(|row| row.owner)
    }

    pub(crate) fn owned_by(&self, me: Id) -> ShardSet {
        self.rows.iter().filter(|row| row.owner == Some(me)).map(|row| row.lease.shard).collect()
    }

    fn change(
        &mut self,
        shards: ShardSet,
        now: Timestamp,
        may: impl Fn(&LeaseRow) -> bool,
        owner: Option<Id>,
    ) {
        for row in &mut self.rows {
            if shards.contains(row.lease.shard) && may(row) {
                row.owner = owner;
                row.lease.generation += 1;
                row.changed_at = now;
            }
        }
    }
}

pub(crate) fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(1_000_000).plus(Duration::from_millis(millis))
}
