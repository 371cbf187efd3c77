//! Who is due and when: keys in the order of their due times.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash, RandomState};

use mainstay_base::Moment;

use crate::limit::{ZeroLimit, at_least_one};

/// How many keys a schedule holds, unless told otherwise.
pub const DEFAULT_CAPACITY: usize = 1_000_000;

/// When each key is due. A key stands in it at most once.
///
/// Scheduling, moving and taking a key out cost O(log n), and so does looking at the earliest one;
/// it holds as many entries as keys, however often they move. Keys that are due at the same moment
/// come out in the order in which they were scheduled.
///
/// It is a tree and not a heap: what comes due together, or was scheduled for about the same time,
/// stands together in memory, so that a million keys cost hardly more than a thousand.
///
/// `S` hashes the keys; the default withstands keys that an enemy chooses.
#[derive(Debug, Clone)]
pub struct DueSchedule<K, S = RandomState> {
    /// Every key, the earliest first.
    order: BTreeMap<Turn, K>,
    /// Where each key stands in `order`.
    turns: HashMap<K, Turn, S>,
    /// Breaks ties: it counts every scheduling.
    sequence: u64,
    capacity: usize,
}

/// A place in the order. No two keys have the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    due: Moment,
    sequence: u64,
}

/// A key that came due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due<K> {
    /// Who is due.
    pub key: K,
    /// Since when: the next interval runs from here.
    pub due: Moment,
}

/// A key that found no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the due schedule holds its {capacity} keys; remove some, or raise its capacity")]
pub struct ScheduleFull {
    /// How many keys it may hold.
    pub capacity: usize,
}

impl<K: Clone + Eq + Hash> DueSchedule<K> {
    /// An empty schedule for up to `capacity` keys. It takes their room only as they come.
    ///
    /// # Errors
    /// [`ZeroLimit`] when `capacity` is zero.
    pub fn new(capacity: usize) -> Result<Self, ZeroLimit> {
        let capacity = at_least_one("the capacity of the due schedule", capacity)?;
        Ok(Self { capacity, ..Self::default() })
    }
}

impl<K: Clone + Eq + Hash, S: BuildHasher> DueSchedule<K, S> {
    /// An empty schedule for up to [`DEFAULT_CAPACITY`] keys that `hasher` hashes.
    #[must_use]
    pub fn with_hasher(hasher: S) -> Self {
        let turns = HashMap::with_hasher(hasher);
        Self { order: BTreeMap::new(), turns, sequence: 0, capacity: DEFAULT_CAPACITY }
    }

    /// Makes `key` due at `due` instead of when it was due before, which is returned.
    ///
    /// # Errors
    /// [`ScheduleFull`] when a new key finds no room; a key that is in it can always be moved.
    pub fn schedule(&mut self, key: K, due: Moment) -> Result<Option<Moment>, ScheduleFull> {
        self.sequence = self.sequence.saturating_add(1);
        let turn = Turn { due, sequence: self.sequence };
        let before = match self.turns.get_mut(&key) {
            Some(known) => Some(std::mem::replace(known, turn)),
            None if self.order.len() >= self.capacity => {
                return Err(ScheduleFull { capacity: self.capacity });
            }
            None => self.turns.insert(key.clone(), turn),
        };
        if let Some(before) = before {
            self.order.remove(&before);
        }
        self.order.insert(turn, key);
        Ok(before.map(|before| before.due))
    }

    /// Takes `key` out and tells when it would have been due.
    pub fn remove(&mut self, key: &K) -> Option<Moment> {
        let turn = self.turns.remove(key)?;
        self.order.remove(&turn);
        Some(turn.due)
    }

    /// Takes out at most `limit` keys that are due at `now`, the longest overdue first.
    #[must_use = "the keys are out of the schedule: poll them and schedule them again"]
    pub fn pop_due(&mut self, now: Moment, limit: usize) -> Vec<Due<K>> {
        let due: Vec<_> = std::iter::from_fn(|| self.pop_first(now)).take(limit).collect();
        // In a loop of its own: look-ups that wait for memory then wait together.
        for one in &due {
            self.turns.remove(&one.key);
        }
        due
    }

    /// When the earliest key is due: there is nothing to do before.
    #[must_use]
    pub fn next_due(&self) -> Option<Moment> {
        self.order.first_key_value().map(|(turn, _)| turn.due)
    }

    /// How many keys are due at `now`, in time that grows with just those.
    #[must_use]
    pub fn count_due(&self, now: Moment) -> usize {
        self.order.keys().take_while(|turn| turn.due <= now).count()
    }

    /// When `key` is due.
    #[must_use]
    pub fn due_of(&self, key: &K) -> Option<Moment> {
        self.turns.get(key).map(|turn| turn.due)
    }

    /// How many keys are in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether no key is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    fn pop_first(&mut self, now: Moment) -> Option<Due<K>> {
        let first = self.order.first_entry().filter(|entry| entry.key().due <= now)?;
        let (turn, key) = first.remove_entry();
        Some(Due { key, due: turn.due })
    }
}

impl<K: Clone + Eq + Hash> Default for DueSchedule<K> {
    fn default() -> Self {
        Self::with_hasher(RandomState::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::hash::Hasher;
    use std::rc::Rc;
    use std::time::Duration;

    fn at(seconds: u64) -> Moment {
        Moment::from_origin(Duration::from_secs(seconds))
    }

    fn keys<K>(due: Vec<Due<K>>) -> Vec<K> {
        due.into_iter().map(|one| one.key).collect()
    }

    fn filled(entries: &[(&'static str, u64)]) -> DueSchedule<&'static str> {
        let mut schedule = DueSchedule::default();
        for &(key, due) in entries {
            schedule.schedule(key, at(due)).unwrap();
        }
        schedule
    }

    #[test]
    fn keys_come_out_when_they_are_due_and_not_before() {
        let mut schedule = filled(&[("c", 30), ("a", 10), ("b", 20)]);
        assert_eq!(schedule.next_due(), Some(at(10)));
        assert_eq!(schedule.pop_due(at(9), 10), []);
        assert_eq!(
            schedule.pop_due(at(20), 10),
            [Due { key: "a", due: at(10) }, Due { key: "b", due: at(20) }]
        );
        assert_eq!((schedule.next_due(), schedule.len()), (Some(at(30)), 1));
    }

    #[test]
    fn those_that_are_due_are_counted_and_stay() {
        let schedule = filled(&[("e", 5), ("a", 1), ("d", 4), ("b", 2), ("c", 3), ("f", 6)]);
        for (now, count) in [(0, 0), (1, 1), (3, 3), (5, 5), (9, 6)] {
            assert_eq!(schedule.count_due(at(now)), count, "{now}");
        }
        assert_eq!(schedule.len(), 6);
        assert_eq!(DueSchedule::<u8>::default().count_due(at(9)), 0);
    }

    #[test]
    fn no_more_come_out_than_asked_for() {
        let mut schedule = filled(&[("a", 1), ("b", 2), ("c", 3)]);
        assert_eq!(keys(schedule.pop_due(at(9), 0)), Vec::<&str>::new());
        assert_eq!(keys(schedule.pop_due(at(9), 2)), ["a", "b"]);
        assert_eq!(keys(schedule.pop_due(at(9), 2)), ["c"]);
        assert!(schedule.is_empty());
        assert_eq!(schedule.next_due(), None);
    }

    #[test]
    fn what_is_due_together_comes_out_as_it_was_scheduled() {
        let mut schedule = filled(&[("z", 5), ("a", 5), ("m", 5), ("z", 5)]);
        assert_eq!(keys(schedule.pop_due(at(5), 10)), ["a", "m", "z"]);
    }

    #[test]
    fn a_key_stands_in_it_once_and_moves() {
        let mut schedule = filled(&[("a", 10), ("b", 20)]);
        assert_eq!(schedule.schedule("a", at(30)), Ok(Some(at(10))));
        assert_eq!((schedule.len(), schedule.due_of(&"a")), (2, Some(at(30))));
        assert_eq!(schedule.schedule("a", at(5)), Ok(Some(at(30))));
        assert_eq!(keys(schedule.pop_due(at(99), 10)), ["a", "b"]);
        assert_eq!(schedule.due_of(&"a"), None);
    }

    #[test]
    fn what_is_removed_never_comes_out() {
        let mut schedule = filled(&[("a", 10), ("b", 20), ("c", 30)]);
        assert_eq!(schedule.remove(&"b"), Some(at(20)));
        assert_eq!(schedule.remove(&"b"), None);
        assert_eq!(keys(schedule.pop_due(at(99), 10)), ["a", "c"]);
    }

    #[test]
    fn a_full_schedule_refuses_new_keys_and_moves_old_ones() {
        let mut schedule = DueSchedule::new(2).unwrap();
        assert_eq!(schedule.schedule("a", at(1)), Ok(None));
        assert_eq!(schedule.schedule("b", at(2)), Ok(None));
        assert_eq!(schedule.schedule("c", at(0)), Err(ScheduleFull { capacity: 2 }));
        assert_eq!(schedule.schedule("b", at(0)), Ok(Some(at(2))));
        assert_eq!((schedule.len(), schedule.due_of(&"c")), (2, None));
        schedule.remove(&"a");
        assert_eq!(schedule.schedule("c", at(3)), Ok(None));
    }

    #[test]
    fn a_capacity_of_zero_is_refused_by_name() {
        let refused = DueSchedule::<u32>::new(0).unwrap_err();
        assert_eq!(refused, ZeroLimit { field: "the capacity of the due schedule" });
        assert!(DueSchedule::<u32>::new(1).is_ok());
    }

    #[test]
    fn the_default_could_be_given() {
        let given = DueSchedule::<u32>::new(DEFAULT_CAPACITY).unwrap();
        assert_eq!(given.capacity, DueSchedule::<u32>::default().capacity);
    }

    #[test]
    fn endless_rescheduling_takes_no_more_room() {
        let mut schedule = DueSchedule::default();
        for round in 0..100_000_u64 {
            schedule.schedule(round % 10, at(round)).unwrap();
        }
        assert_eq!((schedule.order.len(), schedule.turns.len()), (10, 10));
        assert!(schedule.turns.capacity() <= 32);
    }

    /// A key that counts how often it is hashed.
    #[derive(Clone)]
    struct Counted(u32, Rc<Cell<u32>>);

    impl PartialEq for Counted {
        fn eq(&self, other: &Self) -> bool {
            self.0 == other.0
        }
    }

    impl Eq for Counted {}

    impl Hash for Counted {
        fn hash<H: Hasher>(&self, state: &mut H) {
            self.1.set(self.1.get() + 1);
            self.0.hash(state);
        }
    }

    #[test]
    fn no_operation_on_a_hundred_thousand_keys_looks_up_more_than_its_own_key() {
        const KEYS: u32 = 100_000;
        // To find a key and to enter it.
        const HASHES: u32 = 2;
        let count = Rc::new(Cell::new(0));
        let key = |number: u32| Counted(number % KEYS, Rc::clone(&count));
        let mut schedule = DueSchedule::new(100_000).unwrap();
        for number in 0..KEYS {
            schedule.turns.reserve(1);
            count.set(0);
            schedule.schedule(key(number), at(u64::from(KEYS - number))).unwrap();
            assert!(count.get() <= HASHES, "schedule: {}", count.get());
        }
        for number in (0..KEYS).step_by(7) {
            count.set(0);
            let due = u64::from(number.wrapping_mul(2_654_435_761) % (2 * KEYS));
            schedule.schedule(key(number), at(due)).unwrap();
            assert!(count.get() <= HASHES, "reschedule: {}", count.get());
            count.set(0);
            schedule.remove(&key(number + 3));
            assert!(count.get() <= HASHES, "remove: {}", count.get());
            count.set(0);
            assert_eq!(schedule.pop_due(at(u64::MAX), 1).len(), 1);
            assert!(count.get() <= HASHES, "pop: {}", count.get());
        }
    }
}
