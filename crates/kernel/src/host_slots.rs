//! How many calls run at once: a bound for each host, so that nobody is flooded, and one for all.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use crate::host_key::HostKey;
use crate::limit::{ZeroLimit, at_least_one};

/// Calls at once to one host, unless told otherwise.
pub const DEFAULT_PER_HOST: usize = 5;

/// Calls at once to all hosts together, unless told otherwise.
pub const DEFAULT_TOTAL: usize = 256;

/// The two bounds of [`HostSlots`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostLimits {
    per_host: usize,
    total: usize,
}

/// Who holds how many slots. Nobody waits here: who is refused is skipped and asks again later.
///
/// A host stands in it only while it holds a slot, so it never knows more hosts than `total`.
#[derive(Debug)]
pub struct HostSlots {
    limits: HostLimits,
    /// How many slots each host holds: never zero.
    taken: HashMap<HostKey, usize>,
    /// The sum of `taken`.
    total: usize,
    /// Every slot holds a copy, which tells it from the slots of another table.
    mark: Arc<()>,
}

/// The right to one call. It can't be copied, and giving it back uses it up: no slot is freed twice.
///
/// ```compile_fail,E0382
/// # use mainstay_kernel::{HostKey, HostSlots};
/// # let mut slots = HostSlots::default();
/// # let host: HostKey = "example.org".parse().unwrap();
/// let slot = slots.acquire(&host).unwrap();
/// slots.release(slot).unwrap();
/// slots.release(slot).unwrap();
/// ```
#[must_use = "a slot that is not given back to `HostSlots::release` stays taken"]
#[derive(Debug)]
pub struct Slot {
    host: HostKey,
    mark: Arc<()>,
}

/// Why there is no slot now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SlotRefusal {
    /// The host has as many calls as it may have.
    #[error("{host} has its {limit} calls at once; skip it and ask again at the next tick")]
    HostFull {
        /// Which host.
        host: HostKey,
        /// Its bound.
        limit: usize,
    },
    /// All hosts together have as many calls as they may have.
    #[error("all hosts together have their {limit} calls at once; ask again at the next tick")]
    AllFull {
        /// The bound for all.
        limit: usize,
    },
}

/// A slot was given back to a table that never gave it out; nothing changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the slot of {host} was not taken here; give it back to the table it came from")]
pub struct ForeignSlot {
    /// The host of the slot.
    pub host: HostKey,
}

impl HostLimits {
    /// At most `per_host` calls at once to each host and `total` to all of them.
    ///
    /// # Errors
    /// [`ZeroLimit`] names the limit that is zero.
    pub fn new(per_host: usize, total: usize) -> Result<Self, ZeroLimit> {
        let per_host = at_least_one("the limit of calls at once per host", per_host)?;
        let total = at_least_one("the limit of calls at once to all hosts", total)?;
        Ok(Self { per_host, total })
    }
}

impl Default for HostLimits {
    fn default() -> Self {
        Self { per_host: DEFAULT_PER_HOST, total: DEFAULT_TOTAL }
    }
}

impl HostSlots {
    /// A table in which nothing is taken.
    #[must_use]
    pub fn new(limits: HostLimits) -> Self {
        Self { limits, taken: HashMap::new(), total: 0, mark: Arc::new(()) }
    }

    /// Takes one slot of `host`.
    ///
    /// # Errors
    /// [`SlotRefusal`] says which bound is reached; nothing is taken then.
    pub fn acquire(&mut self, host: &HostKey) -> Result<Slot, SlotRefusal> {
        let HostLimits { per_host, total } = self.limits;
        if self.total >= total {
            return Err(SlotRefusal::AllFull { limit: total });
        }
        // No bound is zero, so that a host which is new here gets its slot and is not left with none.
        let taken = self.taken.entry(host.clone()).or_default();
        if *taken >= per_host {
            return Err(SlotRefusal::HostFull { host: host.clone(), limit: per_host });
        }
        *taken = taken.saturating_add(1);
        self.total = self.total.saturating_add(1);
        Ok(Slot { host: host.clone(), mark: Arc::clone(&self.mark) })
    }

    /// Gives a slot back. A host that holds no more is forgotten.
    ///
    /// # Errors
    /// [`ForeignSlot`] when another table gave it out; nothing changes then.
    pub fn release(&mut self, slot: Slot) -> Result<(), ForeignSlot> {
        let Slot { host, mark } = slot;
        if !Arc::ptr_eq(&mark, &self.mark) {
            return Err(ForeignSlot { host });
        }
        self.total = self.total.saturating_sub(1);
        if let Entry::Occupied(mut taken) = self.taken.entry(host) {
            match *taken.get() {
                0 | 1 => _ = taken.remove(),
                more => *taken.get_mut() = more.saturating_sub(1),
            }
        }
        Ok(())
    }

    /// How many slots `host` holds.
    #[must_use]
    pub fn taken(&self, host: &HostKey) -> usize {
        self.taken.get(host).copied().unwrap_or(0)
    }

    /// How many slots all hosts hold together.
    #[must_use]
    pub fn total(&self) -> usize {
        self.total
    }

    /// How many hosts hold a slot.
    #[must_use]
    pub fn hosts(&self) -> usize {
        self.taken.len()
    }
}

impl Default for HostSlots {
    fn default() -> Self {
        Self::new(HostLimits::default())
    }
}

impl Slot {
    /// The host whose slot it is.
    #[must_use]
    pub fn host(&self) -> &HostKey {
        &self.host
    }
}

/// Sorts candidates so that who was polled longest ago asks for a slot first, and who never was
/// before all of them: nobody starves on a crowded host. Equals stay in their order.
pub fn sort_least_recent_first<T, P: Ord>(
    candidates: &mut [T],
    last_polled: impl Fn(&T) -> Option<P>,
) {
    // `None` sorts before every `Some`.
    candidates.sort_by_cached_key(last_polled);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str) -> HostKey {
        name.parse().unwrap()
    }

    fn slots(per_host: usize, total: usize) -> HostSlots {
        HostSlots::new(HostLimits::new(per_host, total).unwrap())
    }

    #[test]
    fn a_host_has_five_slots_and_the_next_is_refused() {
        let (mut slots, a, b) = (HostSlots::default(), host("a"), host("b"));
        let mut held: Vec<Slot> = (0..5).map(|_| slots.acquire(&a).unwrap()).collect();
        let refused = SlotRefusal::HostFull { host: a.clone(), limit: 5 };
        assert_eq!(slots.acquire(&a).unwrap_err(), refused);
        assert_eq!((slots.taken(&a), slots.total()), (5, 5));
        held.push(slots.acquire(&b).unwrap());
        slots.release(held.swap_remove(0)).unwrap();
        assert_eq!(slots.acquire(&a).unwrap().host(), &a);
    }

    #[test]
    fn all_hosts_together_have_a_bound_too() {
        let mut slots = slots(5, 2);
        let first = slots.acquire(&host("a")).unwrap();
        let _second = slots.acquire(&host("b")).unwrap();
        assert_eq!(slots.acquire(&host("c")).unwrap_err(), SlotRefusal::AllFull { limit: 2 });
        assert_eq!((slots.hosts(), slots.taken(&host("c"))), (2, 0));
        slots.release(first).unwrap();
        assert_eq!(slots.acquire(&host("c")).unwrap().host(), &host("c"));
    }

    #[test]
    fn a_host_that_holds_nothing_is_forgotten() {
        let (mut slots, a) = (HostSlots::default(), host("a"));
        let (first, second) = (slots.acquire(&a).unwrap(), slots.acquire(&a).unwrap());
        slots.release(first).unwrap();
        assert_eq!((slots.taken(&a), slots.hosts(), slots.total()), (1, 1, 1));
        slots.release(second).unwrap();
        assert_eq!((slots.taken(&a), slots.hosts(), slots.total()), (0, 0, 0));
        assert!(slots.taken.is_empty());
    }

    #[test]
    fn a_slot_of_another_table_frees_nothing_here() {
        let (mut ours, mut theirs, a) = (HostSlots::default(), HostSlots::default(), host("a"));
        let _held = ours.acquire(&a).unwrap();
        let foreign = theirs.acquire(&a).unwrap();
        assert_eq!(ours.release(foreign), Err(ForeignSlot { host: a.clone() }));
        assert_eq!((ours.taken(&a), ours.total()), (1, 1));
    }

    #[test]
    fn a_limit_of_zero_is_refused_by_name() {
        let told = |limits: Result<HostLimits, ZeroLimit>| limits.unwrap_err().to_string();
        assert!(told(HostLimits::new(0, 1)).starts_with("the limit of calls at once per host"));
        assert!(told(HostLimits::new(1, 0)).starts_with("the limit of calls at once to all hosts"));
    }

    #[test]
    fn the_defaults_could_be_given() {
        let given = HostLimits::new(DEFAULT_PER_HOST, DEFAULT_TOTAL);
        assert_eq!(given, Ok(HostLimits::default()));
    }

    #[test]
    fn who_waited_longest_comes_first_and_who_never_was_polled_before_all() {
        let mut candidates =
            [("a", Some(30)), ("b", None), ("c", Some(10)), ("d", Some(30)), ("e", None)];
        sort_least_recent_first(&mut candidates, |(_, polled)| *polled);
        assert_eq!(candidates.map(|(name, _)| name), ["b", "e", "c", "a", "d"]);
    }
}
