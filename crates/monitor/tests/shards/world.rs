//! Instances with a database between them.

use std::collections::BTreeMap;

use mainstay_base::Id;
use mainstay_monitor::shards::model::{LAPSE, RENEW_EVERY};
use mainstay_monitor::shards::{Lease, SHARDS, Shard, ShardSet};

use crate::base::{Answer, Base, at};

const TICK: u64 = 100;
const LOOK_LIMIT: u64 = 2_000;
const LOOK_AGAIN: u64 = 500;
/// How long the database lets a transaction stand still.
const PATIENCE: u64 = 3_000;
/// A shard is polled again so soon after the last fault.
const TAKEN_OVER: u64 = 15_000;

#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    Kill(usize),
    /// Stands still for so long.
    Freeze(usize, u64),
    /// Can't reach the database for so long.
    Cut(usize, u64),
    Stop(usize),
    Join,
}

pub(crate) struct World {
    pub(crate) now: u64,
    base: Base,
    ones: Vec<One>,
    chance: u64,
    ids: u64,
    last_fault: u64,
    /// When each shard was last polled, and by whom.
    polled: BTreeMap<Shard, (u64, usize)>,
    pub(crate) longest_gap: u64,
}

struct One {
    me: Id,
    next_id: Id,
    is_up: bool,
    frozen_until: u64,
    cut_until: u64,
    held: BTreeMap<Shard, i64>,
    draining: ShardSet,
    drained: ShardSet,
    drained_at: u64,
    renewed: Option<u64>,
    /// When it renewed for the first time after it could not.
    back: Option<u64>,
    next_look: u64,
    look: Option<Look>,
}

/// A look under way.
struct Look {
    began: u64,
    reaches: u64,
    returns: u64,
    leaving: (ShardSet, ShardSet),
    may_bury: bool,
    answer: Option<Answer>,
}

impl World {
    pub(crate) fn new(seed: u64, instances: usize) -> Self {
        let mut world = Self {
            now: 0,
            base: Base::new(),
            ones: Vec::new(),
            chance: seed | 1,
            ids: 0,
            last_fault: 0,
            polled: Shard::all().map(|shard| (shard, (0, 0))).collect(),
            longest_gap: 0,
        };
        (0..instances).for_each(|_| world.join());
        world
    }

    pub(crate) fn run(&mut self, millis: u64) {
        let end = self.now + millis;
        while self.now < end {
            self.tick();
        }
    }

    pub(crate) fn suffer(&mut self, fault: Fault) {
        let now = self.now;
        let up: Vec<usize> = (0..self.ones.len()).filter(|index| self.ones[*index].is_up).collect();
        let Some(who) = up.get(match fault {
            Fault::Kill(who) | Fault::Stop(who) => who % up.len().max(1),
            Fault::Freeze(who, _) | Fault::Cut(who, _) => who % up.len().max(1),
            Fault::Join => return self.join(),
        }) else {
            return;
        };
        // One always stays well, so that somebody can take over.
        let is_well = |one: &One| one.is_up && one.frozen_until <= now && one.cut_until <= now;
        let well = self.ones.iter().filter(|one| is_well(one)).count();
        if well <= 1 && is_well(&self.ones[*who]) {
            return;
        }
        let one = &mut self.ones[*who];
        match fault {
            Fault::Kill(_) => one.is_up = false,
            Fault::Freeze(_, time) => one.frozen_until = now + time,
            Fault::Cut(_, time) => one.cut_until = now + time,
            Fault::Stop(_) => {
                one.is_up = false;
                if one.cut_until <= now && one.frozen_until <= now {
                    let me = one.me;
                    self.base.leave(at(now), me);
                }
            }
            Fault::Join => {}
        }
        // It is felt until it is over.
        self.last_fault = now;
    }

    /// Lets a tenth of a second pass.
    pub(crate) fn tick(&mut self) {
        self.now += TICK;
        for index in 0..self.ones.len() {
            self.reach(index);
            let one = &self.ones[index];
            if one.is_up && one.frozen_until <= self.now {
                self.go_on(index);
                self.poll(index);
            }
        }
        self.judge();
    }

    /// Nobody can reach the database for so long.
    pub(crate) fn outage(&mut self, millis: u64) {
        for one in &mut self.ones {
            one.cut_until = self.now + millis;
        }
        self.last_fault = self.now + millis;
    }

    /// How often shards changed hands, all in all.
    pub(crate) fn changes_of_hands(&self) -> i64 {
        self.base.rows.iter().map(|row| row.lease.generation).sum()
    }

    /// Every instance has its share, and no more.
    pub(crate) fn is_even(&self) {
        let up: Vec<_> = self.ones.iter().filter(|one| one.is_up).collect();
        let share = usize::from(SHARDS).div_ceil(up.len());
        let all: usize = up.iter().map(|one| one.held.len()).sum();
        assert_eq!(all, usize::from(SHARDS));
        assert!(up.iter().all(|one| one.held.len() <= share), "more than {share}");
    }

    /// How many shards one has polled in the last seconds.
    pub(crate) fn polled_by(&self, who: usize) -> usize {
        self.polled.values().filter(|(at, by)| *by == who && self.now - at <= TICK).count()
    }

    fn join(&mut self) {
        let (me, next_id) = (self.id(), self.id());
        self.ones.push(One {
            me,
            next_id,
            is_up: true,
            frozen_until: 0,
            cut_until: 0,
            held: BTreeMap::new(),
            draining: ShardSet::NONE,
            drained: ShardSet::NONE,
            drained_at: 0,
            renewed: None,
            back: None,
            next_look: self.now,
            look: None,
        });
    }

    /// What an instance has asked reaches the database, whatever became of the instance since; but not after
    /// the database has ended the transaction of one that stood still in it.
    fn reach(&mut self, index: usize) {
        let spare_id = self.id();
        let one = &mut self.ones[index];
        let Some(look) = &mut one.look else { return };
        let is_cut = one.cut_until > self.now || self.now - look.began > PATIENCE;
        if look.answer.is_none() && look.reaches <= self.now && !is_cut && one.is_up {
            let ids = (one.me, one.next_id, spare_id);
            look.answer = Some(self.base.look(at(self.now), ids, look.leaving, look.may_bury));
        }
    }

    fn go_on(&mut self, index: usize) {
        let (now, latency, next_id, drain) =
            (self.now, self.chance(900), self.id(), self.chance(5_000));
        let one = &mut self.ones[index];
        if !one.draining.without(one.drained).is_empty() && one.drained_at <= now {
            one.drained = one.draining;
            one.next_look = now;
        }
        match one.look.take() {
            Some(look) if now - look.began >= LOOK_LIMIT => one.next_look = now + LOOK_AGAIN,
            Some(Look { began, returns, answer: Some(answer), .. }) if returns <= now => {
                one.adopt(&answer, began, next_id, now, drain);
            }
            Some(look) => one.look = Some(look),
            None if one.next_look <= now => {
                let leaving = (one.draining, one.drained);
                let (reaches, returns) = (now + latency / 2, now + latency);
                let may_bury = one.may_bury(now);
                let answer = None;
                one.look = Some(Look { began: now, reaches, returns, leaving, may_bury, answer });
            }
            None => {}
        }
    }

    /// Whoever may poll does, and nobody else has in the same moment.
    fn poll(&mut self, index: usize) {
        let (now, one) = (self.now, &self.ones[index]);
        // A late write is tried from time to time, and never taken.
        for (shard, generation) in &one.held {
            let lease = Lease { shard: *shard, generation: *generation };
            if let Some(owner) = self.base.admits(lease) {
                assert_eq!(owner, Some(one.me), "a write of somebody who is not the owner");
            }
        }
        if one.renewed.is_none() || one.has_lapsed(now) {
            return;
        }
        for shard in one.held.keys().filter(|shard| !one.draining.contains(**shard)) {
            let (last, by) = self.polled[shard];
            assert!(last < now || by == index, "{by} and {index} poll {shard} at {now}");
            self.longest_gap = self.longest_gap.max(now - last);
            self.polled.insert(*shard, (now, index));
        }
    }

    /// Every shard is polled, soon after the last fault.
    fn judge(&self) {
        for (shard, (last, _)) in &self.polled {
            let since = self.now.saturating_sub(*last.max(&self.last_fault));
            assert!(since <= TAKEN_OVER, "nobody polls {shard} for {since} ms at {}", self.now);
        }
    }

    fn id(&mut self) -> Id {
        self.ids += 1;
        format!("019a8b3c-0000-7000-8000-{:012x}", self.ids).parse().unwrap()
    }

    fn chance(&mut self, below: u64) -> u64 {
        self.chance = self.chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.chance >> 33) % below
    }
}

impl One {
    fn has_lapsed(&self, now: u64) -> bool {
        let lapse = u64::try_from(LAPSE.as_millis()).unwrap();
        self.renewed.is_some_and(|at| now - at >= lapse)
    }

    /// Who could not renew itself leaves the others the time to.
    fn may_bury(&self, now: u64) -> bool {
        let renew = u64::try_from(RENEW_EVERY.as_millis()).unwrap();
        !self.has_lapsed(now) && self.back.is_none_or(|at| now - at >= renew)
    }

    fn adopt(&mut self, answer: &Answer, renewed: u64, next_id: Id, now: u64, drain: u64) {
        if answer.me != self.me {
            self.next_id = next_id;
        }
        let held: BTreeMap<_, _> =
            answer.mine.iter().map(|lease| (lease.shard, lease.generation)).collect();
        let is_same = |shard: &Shard| self.held.get(shard) == held.get(shard);
        let kept: ShardSet = held.keys().copied().filter(is_same).collect();
        self.draining = self.draining.among(kept).and(answer.plan.drain);
        self.drained = self.drained.among(kept);
        if !answer.plan.drain.is_empty() {
            self.drained_at = now + drain;
        }
        if self.has_lapsed(renewed) {
            self.back = Some(renewed);
        }
        (self.me, self.held, self.renewed) = (answer.me, held, Some(renewed));
        let look_in = u64::try_from(answer.plan.look_in.as_millis()).unwrap();
        let has_all = answer.plan.take.iter().all(|shard| self.held.contains_key(&shard));
        self.next_look = now + if has_all { look_in } else { look_in.min(LOOK_AGAIN) };
    }
}
