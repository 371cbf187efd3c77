//! Who is due and when: keys in the order of their due times.

use std::collections::BTreeMap;

use mainstay_base::Moment;

use crate::limit::{ZeroLimit, at_least_one};

/// How many keys a schedule holds, unless told otherwise.
pub const DEFAULT_CAPACITY: usize = 1_000_000;

/// When each key is due.
///
/// Scheduling a key and taking it out cost O(log n), and so does looking at the earliest one; what is
/// taken out leaves nothing behind. Keys that are due at the same moment come out in the order in
/// which they were scheduled.
///
/// Whoever schedules a key keeps its [`Ticket`], beside whatever else it keeps of that key, and moves
/// the key by taking it out and scheduling it again. A table from keys to tickets in here would be
/// one more place in memory to go to for every poll, and so would a heap, whose neighbours are due at
/// different times: in this tree, what comes due together stands together, so that a million keys
/// cost hardly more than a thousand.
#[derive(Debug, Clone)]
pub struct DueSchedule<K> {
    /// Every key, the earliest first.
    order: BTreeMap<Ticket, K>,
    /// Breaks ties: it counts every scheduling.
    sequence: u64,
    capacity: usize,
}

/// Names one scheduling of a key: no other has the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket {
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

impl<K> DueSchedule<K> {
    /// An empty schedule for up to `capacity` keys. It takes their room only as they come.
    ///
    /// # Errors
    /// [`ZeroLimit`] when `capacity` is zero.
    pub fn new(capacity: usize) -> Result<Self, ZeroLimit> {
        at_least_one("the capacity of the due schedule", capacity).map(Self::empty)
    }

    /// Makes `key` due at `due`. A key that is in it already stands in it twice then.
    ///
    /// # Errors
    /// [`ScheduleFull`] when it finds no room.
    pub fn schedule(&mut self, key: K, due: Moment) -> Result<Ticket, ScheduleFull> {
        if self.order.len() >= self.capacity {
            return Err(ScheduleFull { capacity: self.capacity });
        }
        self.sequence = self.sequence.saturating_add(1);
        let ticket = Ticket { due, sequence: self.sequence };
        self.order.insert(ticket, key);
        Ok(ticket)
    }

    /// Takes out the key that was scheduled under `ticket`; `None` when it is out already.
    pub fn remove(&mut self, ticket: Ticket) -> Option<K> {
        self.order.remove(&ticket)
    }

    /// Takes out at most `limit` keys that are due at `now`, the longest overdue first.
    #[must_use = "the keys are out of the schedule: poll them and schedule them again"]
    pub fn pop_due(&mut self, now: Moment, limit: usize) -> Vec<Due<K>> {
        std::iter::from_fn(|| self.pop_one(now)).take(limit).collect()
    }

    /// When the earliest key is due: there is nothing to do before.
    #[must_use]
    pub fn next_due(&self) -> Option<Moment> {
        self.order.first_key_value().map(|(ticket, _)| ticket.due)
    }

    /// How many keys are due at `now`, in time that grows with just those.
    #[must_use]
    pub fn count_due(&self, now: Moment) -> usize {
        self.order.keys().take_while(|ticket| ticket.due <= now).count()
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

    const fn empty(capacity: usize) -> Self {
        Self { order: BTreeMap::new(), sequence: 0, capacity }
    }

    fn pop_one(&mut self, now: Moment) -> Option<Due<K>> {
        let first = self.order.first_entry().filter(|entry| entry.key().due <= now)?;
        let (ticket, key) = first.remove_entry();
        Some(Due { key, due: ticket.due })
    }
}

impl<K> Default for DueSchedule<K> {
    fn default() -> Self {
        Self::empty(DEFAULT_CAPACITY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let mut schedule = filled(&[("z", 5), ("a", 5), ("m", 5)]);
        assert_eq!(keys(schedule.pop_due(at(5), 10)), ["z", "a", "m"]);
    }

    #[test]
    fn a_key_moves_by_its_ticket() {
        let mut schedule = filled(&[("b", 20)]);
        let ticket = schedule.schedule("a", at(10)).unwrap();
        assert_eq!(schedule.remove(ticket), Some("a"));
        schedule.schedule("a", at(30)).unwrap();
        assert_eq!(schedule.len(), 2);
        assert_eq!(keys(schedule.pop_due(at(99), 10)), ["b", "a"]);
    }

    #[test]
    fn what_is_removed_never_comes_out() {
        let mut schedule = filled(&[("a", 10), ("c", 30)]);
        let ticket = schedule.schedule("b", at(20)).unwrap();
        assert_eq!(schedule.remove(ticket), Some("b"));
        assert_eq!(schedule.remove(ticket), None);
        assert_eq!(keys(schedule.pop_due(at(99), 10)), ["a", "c"]);
    }

    #[test]
    fn a_ticket_of_a_key_that_came_out_takes_nobody_else_out() {
        let mut schedule = DueSchedule::default();
        let ticket = schedule.schedule("a", at(10)).unwrap();
        assert_eq!(keys(schedule.pop_due(at(10), 1)), ["a"]);
        schedule.schedule("a", at(10)).unwrap();
        assert_eq!((schedule.remove(ticket), schedule.len()), (None, 1));
    }

    #[test]
    fn a_full_schedule_refuses_until_somebody_goes() {
        let mut schedule = DueSchedule::new(2).unwrap();
        let ticket = schedule.schedule("a", at(1)).unwrap();
        schedule.schedule("b", at(2)).unwrap();
        assert_eq!(schedule.schedule("c", at(0)), Err(ScheduleFull { capacity: 2 }));
        assert_eq!(keys(schedule.clone().pop_due(at(9), 9)), ["a", "b"]);
        schedule.remove(ticket);
        assert!(schedule.schedule("c", at(3)).is_ok());
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
        let mut schedule = DueSchedule::new(10).unwrap();
        let mut tickets: Vec<_> =
            (0..10_u64).map(|key| schedule.schedule(key, at(key)).unwrap()).collect();
        for round in 0..100_000_u64 {
            let key = round % 10;
            let ticket = &mut tickets[usize::try_from(key).unwrap()];
            assert_eq!(schedule.remove(*ticket), Some(key));
            *ticket = schedule.schedule(key, at(round)).unwrap();
        }
        assert_eq!(schedule.order.len(), 10);
    }
}
