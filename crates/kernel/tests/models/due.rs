//! The model is a list that is searched from end to end.

use std::time::Duration;

use mainstay_base::Moment;
use mainstay_kernel::{Due, DueSchedule, ScheduleFull, next_due_after, spread};
use proptest::prelude::*;

const CAPACITY: usize = 12;

#[derive(Debug, Clone)]
enum Step {
    Schedule(u8, u64),
    /// By which of the tickets that were given so far.
    Remove(usize),
    Pop(u64, usize),
}

/// Which ticket, keys, and their due times, in the order of their scheduling.
#[derive(Default)]
struct Model(Vec<(usize, u8, u64)>);

impl Model {
    fn schedule(&mut self, ticket: usize, key: u8, due: u64) -> Result<(), ScheduleFull> {
        if self.0.len() == CAPACITY {
            return Err(ScheduleFull { capacity: CAPACITY });
        }
        self.0.push((ticket, key, due));
        Ok(())
    }

    fn remove(&mut self, ticket: usize) -> Option<u8> {
        let place = self.0.iter().position(|(other, ..)| *other == ticket)?;
        Some(self.0.remove(place).1)
    }

    fn pop_due(&mut self, now: u64, limit: usize) -> Vec<Due<u8>> {
        let mut sorted = self.0.clone();
        sorted.sort_by_key(|(.., due)| *due);
        sorted.retain(|(.., due)| *due <= now);
        sorted.truncate(limit);
        self.0.retain(|one| !sorted.contains(one));
        sorted.into_iter().map(|(_, key, due)| Due { key, due: at(due) }).collect()
    }
}

fn at(seconds: u64) -> Moment {
    Moment::from_origin(Duration::from_secs(seconds))
}

fn any_step() -> impl Strategy<Value = Step> {
    // Few keys and few moments, so that they meet often.
    prop_oneof![
        5 => (0..20_u8, 0..15_u64).prop_map(|(key, due)| Step::Schedule(key, due)),
        2 => (0..200_usize).prop_map(Step::Remove),
        2 => (0..15_u64, 0..5_usize).prop_map(|(now, limit)| Step::Pop(now, limit)),
    ]
}

proptest! {
    #[test]
    fn the_schedule_does_what_a_list_does(steps in proptest::collection::vec(any_step(), 0..200)) {
        let (mut schedule, mut model) = (DueSchedule::new(CAPACITY).unwrap(), Model::default());
        let mut tickets = Vec::new();
        for step in steps {
            match step {
                Step::Schedule(key, due) => {
                    let given = schedule.schedule(key, at(due));
                    prop_assert_eq!(given.map(|_| ()), model.schedule(tickets.len(), key, due));
                    tickets.extend(given);
                }
                Step::Remove(number) if !tickets.is_empty() => {
                    let number = number % tickets.len();
                    prop_assert_eq!(schedule.remove(tickets[number]), model.remove(number));
                }
                Step::Remove(_) => {}
                Step::Pop(now, limit) => {
                    prop_assert_eq!(schedule.pop_due(at(now), limit), model.pop_due(now, limit));
                }
            }
            prop_assert_eq!(schedule.len(), model.0.len());
            prop_assert_eq!(schedule.is_empty(), model.0.is_empty());
            prop_assert_eq!(schedule.next_due(), model.0.iter().map(|(.., due)| at(*due)).min());
            for now in 0..15 {
                let due = model.0.iter().filter(|(.., due)| *due <= now).count();
                prop_assert_eq!(schedule.count_due(at(now)), due);
            }
        }
    }

    #[test]
    fn everything_comes_out_once_and_in_order(dues in proptest::collection::vec(any::<u64>(), 0..500)) {
        let mut schedule = DueSchedule::default();
        for (key, due) in dues.iter().enumerate() {
            schedule.schedule(key, at(*due)).unwrap();
        }
        let mut expected: Vec<usize> = (0..dues.len()).collect();
        expected.sort_by_key(|key| dues[*key]);
        let popped = schedule.pop_due(at(u64::MAX), dues.len());
        prop_assert_eq!(popped.into_iter().map(|one| one.key).collect::<Vec<_>>(), expected);
        prop_assert!(schedule.is_empty());
    }

    #[test]
    fn the_next_due_time_is_found_by_counting_up(
        due in 0..500_u64,
        interval in 1..50_u64,
        now in 0..1_000_u64,
    ) {
        let expected = (1..).map(|turn| due + turn * interval).find(|next| *next >= now).unwrap();
        let next = next_due_after(at(due), Duration::from_secs(interval), at(now));
        prop_assert_eq!(next, at(expected));
    }

    #[test]
    fn a_first_due_time_lies_inside_the_interval(number in any::<u64>(), nanos in 1..u64::MAX) {
        let interval = Duration::from_nanos(nanos);
        prop_assert!(spread(number, interval) < interval);
    }

    #[test]
    fn no_part_of_the_interval_is_crowded(first in any::<u64>(), services in 10..2_000_u64) {
        let interval = Duration::from_secs(30);
        let mut parts = [0_u64; 10];
        for number in 0..services {
            let offset = spread(first.wrapping_add(number), interval);
            parts[usize::try_from(offset.as_secs() / 3).unwrap()] += 1;
        }
        // The most that was ever seen is 4; places by chance would be off by dozens.
        let even = services / 10;
        for count in parts {
            prop_assert!(count.abs_diff(even) <= 6, "{parts:?}");
        }
    }
}
