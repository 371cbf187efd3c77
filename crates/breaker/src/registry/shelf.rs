//! Breakers by key, in the order of their last use but for those that were passed over since: a dense
//! list with links, and a table that says where in it a key stands.

use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash, RandomState};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use hashbrown::HashTable;

use crate::core::Core;
use crate::moment::Moment;

/// No slot: the end of the list.
const NONE: u32 = u32::MAX;

#[derive(Debug)]
pub(super) struct Shelf<K> {
    slots: Vec<Slot<K>>,
    places: HashTable<u32>,
    newest: u32,
    oldest: u32,
}

#[derive(Debug)]
pub(super) struct Slot<K> {
    key: K,
    core: Arc<Core>,
    newer: u32,
    older: u32,
    /// When somebody last asked for it, in seconds of the clock.
    used: u32,
}

impl<K: Hash + Eq> Shelf<K> {
    pub(super) fn new() -> Self {
        Self { slots: Vec::new(), places: HashTable::new(), newest: NONE, oldest: NONE }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Uses the breaker of this key.
    pub(super) fn take<Q>(&mut self, hash: u64, key: &Q, now: Moment) -> Option<Arc<Core>>
    where
        K: Borrow<Q>,
        Q: Eq + ?Sized,
    {
        let place = self.place(hash, key)?;
        self.use_now(place, now);
        Some(Arc::clone(&self.slot(place)?.core))
    }

    pub(super) fn look<Q>(&self, hash: u64, key: &Q) -> Option<Arc<Core>>
    where
        K: Borrow<Q>,
        Q: Eq + ?Sized,
    {
        Some(Arc::clone(&self.slot(self.place(hash, key)?)?.core))
    }

    /// Puts in a key that is not there.
    pub(super) fn put(
        &mut self,
        hash: u64,
        key: K,
        core: Arc<Core>,
        now: Moment,
        hasher: &RandomState,
    ) {
        let Ok(place) = u32::try_from(self.slots.len()) else { return };
        self.slots.push(Slot { key, core, newer: NONE, older: NONE, used: seconds(now) });
        self.link_newest(place);
        let slots = &self.slots;
        self.places.insert_unique(hash, place, |place| hash_at(slots, *place, hasher));
    }

    pub(super) fn remove<Q>(&mut self, hash: u64, key: &Q, hasher: &RandomState) -> Option<Slot<K>>
    where
        K: Borrow<Q>,
        Q: Eq + ?Sized,
    {
        let place = self.place(hash, key)?;
        self.take_out(place, hasher)
    }

    /// All of them with their last use, in the order of their links.
    pub(super) fn list(&self) -> Vec<(Moment, K, Arc<Core>)>
    where
        K: Clone,
    {
        let next = |slot: &&Slot<K>| self.slot(slot.older);
        let slots = std::iter::successors(self.slot(self.newest), next);
        slots.map(|slot| (slot.used(), slot.key.clone(), Arc::clone(&slot.core))).collect()
    }

    /// The one that has waited longest, for a use or for a look.
    pub(super) fn oldest(&self) -> Option<&Slot<K>> {
        self.slot(self.oldest)
    }

    /// Takes out the first that can go, from the oldest on. At most `most` are looked at; one that
    /// can't go is passed over: it goes to the other end, and its last use stays what it was.
    pub(super) fn let_oldest_go(
        &mut self,
        most: usize,
        can_go: impl Fn(&Slot<K>) -> bool,
        hasher: &RandomState,
    ) -> Option<Slot<K>> {
        for _ in 0..most.min(self.slots.len()) {
            let place = self.oldest;
            if can_go(self.slot(place)?) {
                return self.take_out(place, hasher);
            }
            self.relink(place);
        }
        None
    }

    /// Takes out those of these places that can go. From the last on, so that whatever moves into a
    /// gap has been looked at already.
    pub(super) fn let_go(
        &mut self,
        places: Range<usize>,
        can_go: impl Fn(&Slot<K>) -> bool,
        hasher: &RandomState,
        gone: &mut Vec<Slot<K>>,
    ) {
        for place in places.rev().filter_map(|place| u32::try_from(place).ok()) {
            if self.slot(place).is_some_and(&can_go) {
                gone.extend(self.take_out(place, hasher));
            }
        }
    }

    fn place<Q>(&self, hash: u64, key: &Q) -> Option<u32>
    where
        K: Borrow<Q>,
        Q: Eq + ?Sized,
    {
        let is_it = |place: &u32| self.slot(*place).is_some_and(|slot| slot.key.borrow() == key);
        self.places.find(hash, is_it).copied()
    }

    fn use_now(&mut self, place: u32, now: Moment) {
        self.relink(place);
        if let Some(slot) = self.slot_mut(place) {
            slot.used = seconds(now);
        }
    }

    /// The last slot moves into the gap.
    fn take_out(&mut self, place: u32, hasher: &RandomState) -> Option<Slot<K>> {
        self.forget_place(place, hasher);
        self.unlink(place);
        let last = u32::try_from(self.slots.len().checked_sub(1)?).ok()?;
        let slot = self.slots.swap_remove(place as usize);
        if place != last {
            self.moved(last, place, hasher);
        }
        Some(slot)
    }

    fn forget_place(&mut self, place: u32, hasher: &RandomState) {
        let hash = hash_at(&self.slots, place, hasher);
        if let Ok(entry) = self.places.find_entry(hash, |other| *other == place) {
            entry.remove();
        }
    }

    /// What stood at `from` stands at `to` now.
    fn moved(&mut self, from: u32, to: u32, hasher: &RandomState) {
        let hash = hash_at(&self.slots, to, hasher);
        if let Some(place) = self.places.find_mut(hash, |other| *other == from) {
            *place = to;
        }
        let Some((newer, older)) = self.slot(to).map(|slot| (slot.newer, slot.older)) else {
            return;
        };
        match self.slot_mut(newer) {
            Some(slot) => slot.older = to,
            None => self.newest = to,
        }
        match self.slot_mut(older) {
            Some(slot) => slot.newer = to,
            None => self.oldest = to,
        }
    }

    fn relink(&mut self, place: u32) {
        self.unlink(place);
        self.link_newest(place);
    }

    fn unlink(&mut self, place: u32) {
        let Some((newer, older)) = self.slot(place).map(|slot| (slot.newer, slot.older)) else {
            return;
        };
        match self.slot_mut(newer) {
            Some(slot) => slot.older = older,
            None => self.newest = older,
        }
        match self.slot_mut(older) {
            Some(slot) => slot.newer = newer,
            None => self.oldest = newer,
        }
    }

    fn link_newest(&mut self, place: u32) {
        let before = std::mem::replace(&mut self.newest, place);
        match self.slot_mut(before) {
            Some(slot) => slot.newer = place,
            None => self.oldest = place,
        }
        if let Some(slot) = self.slot_mut(place) {
            (slot.newer, slot.older) = (NONE, before);
        }
    }

    fn slot(&self, place: u32) -> Option<&Slot<K>> {
        self.slots.get(place as usize)
    }

    fn slot_mut(&mut self, place: u32) -> Option<&mut Slot<K>> {
        self.slots.get_mut(place as usize)
    }
}

impl<K> Slot<K> {
    /// Nobody holds it or listens to it.
    pub(super) fn is_free(&self) -> bool {
        Arc::strong_count(&self.core) == 1 && Arc::weak_count(&self.core) == 0
    }

    pub(super) fn core(&self) -> &Core {
        &self.core
    }

    /// When somebody last asked for it.
    pub(super) fn used(&self) -> Moment {
        Moment::default().plus(Duration::from_secs(self.used.into()))
    }
}

fn hash_at<K: Hash>(slots: &[Slot<K>], place: u32, hasher: &RandomState) -> u64 {
    slots.get(place as usize).map_or(0, |slot| hasher.hash_one(&slot.key))
}

/// Rounded up, so that nobody is taken for idle before the time.
fn seconds(moment: Moment) -> u32 {
    u32::try_from(moment.as_nanos().div_ceil(1_000_000_000)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Breaker;

    #[test]
    fn the_table_knows_as_many_places_as_there_are() {
        let (settings, _) = Breaker::builder("hosts").checked().unwrap();
        let core = Arc::new(Core::new(Arc::new(settings), None));
        let hasher = RandomState::new();
        let mut shelf = Shelf::new();
        for key in 0..100_u32 {
            let hash = hasher.hash_one(key);
            shelf.put(hash, key, Arc::clone(&core), Moment::default(), &hasher);
            if key % 3 > 0 {
                shelf.let_oldest_go(1, |_| true, &hasher);
            }
            assert_eq!(shelf.places.len(), shelf.slots.len());
        }
    }
}
