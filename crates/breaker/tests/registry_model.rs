#![cfg(test)]
//! The registry against a naive model of it: a list in the order in which somebody last asked for an
//! entry or passed it over, each with its last use.

use std::time::Duration;

use mainstay_breaker::{Breaker, Breakers, Detector, Full, ManualClock, State};
use proptest::prelude::*;

const CAPACITY: usize = 5;
/// In seconds.
const IDLE: u64 = 10;
/// For how long they are open, in seconds: for some of them longer than they may be idle.
const OPEN: u64 = 14;
/// How many that are idle go when a new one comes.
const IDLE_PER_ARRIVAL: usize = 2;

#[derive(Debug, Clone)]
enum Step {
    Get(u8),
    /// Asks and keeps the handle.
    Hold(u8),
    LetGo(usize),
    Force(u8),
    Reset(u8),
    /// Makes it open, if it is closed.
    Break(u8),
    Peek(u8),
    Remove(u8),
    EvictIdle,
    /// By so many seconds.
    Advance(u64),
}

fn steps() -> impl Strategy<Value = Step> {
    let keys = 0_u8..10;
    prop_oneof![
        8 => keys.clone().prop_map(Step::Get),
        2 => keys.clone().prop_map(Step::Hold),
        2 => any::<usize>().prop_map(Step::LetGo),
        1 => keys.clone().prop_map(Step::Force),
        1 => keys.clone().prop_map(Step::Reset),
        2 => keys.clone().prop_map(Step::Break),
        1 => keys.clone().prop_map(Step::Peek),
        1 => keys.prop_map(Step::Remove),
        1 => Just(Step::EvictIdle),
        3 => (0_u64..8).prop_map(Step::Advance),
    ]
}

#[derive(Debug, Clone)]
struct Entry {
    key: u8,
    /// Which breaker of this key it is.
    number: u32,
    used: u64,
    forced: bool,
    /// Until when it is open, if it has opened.
    open_until: Option<u64>,
}

/// Whoever was last used or passed over comes first.
#[derive(Debug, Default)]
struct Model {
    entries: Vec<Entry>,
    held: Vec<(u8, u32)>,
    now: u64,
    made: u32,
}

impl Model {
    /// It says nothing, or nothing that is still worth its place.
    fn can_go(&self, entry: &Entry) -> bool {
        let is_in_use = entry.forced || self.held.contains(&(entry.key, entry.number));
        let is_worthless = match entry.open_until {
            Some(until) => self.is_idle(entry) && self.now >= until,
            None => true,
        };
        !is_in_use && is_worthless
    }

    fn is_idle(&self, entry: &Entry) -> bool {
        self.now - entry.used > IDLE
    }

    fn use_now(&mut self, place: usize) {
        let mut entry = self.entries.remove(place);
        entry.used = self.now;
        self.entries.insert(0, entry);
    }

    /// Looks at the oldest only, and passes it over if it can't go.
    fn let_oldest_go(&mut self) -> bool {
        let Some(oldest) = self.entries.pop() else { return false };
        let goes = self.can_go(&oldest);
        if !goes {
            self.entries.insert(0, oldest);
        }
        goes
    }

    fn evict_idle(&mut self) -> usize {
        let before = self.entries.len();
        let stays = |entry: &Entry| !(self.is_idle(entry) && self.can_go(entry));
        self.entries = self.entries.iter().filter(|entry| stays(entry)).cloned().collect();
        before - self.entries.len()
    }

    fn get(&mut self, key: u8) -> Result<u32, Full> {
        if let Some(place) = self.place(key) {
            self.use_now(place);
            return Ok(self.entries[0].number);
        }
        for _ in 0..IDLE_PER_ARRIVAL {
            if self.entries.last().is_some_and(|oldest| self.is_idle(oldest)) {
                self.let_oldest_go();
            }
        }
        if self.entries.len() >= CAPACITY {
            let gone = (0..self.entries.len()).any(|_| self.let_oldest_go());
            if !gone {
                return Err(Full { capacity: CAPACITY });
            }
        }
        self.made += 1;
        let (number, used) = (self.made, self.now);
        self.entries.insert(0, Entry { key, number, used, forced: false, open_until: None });
        Ok(number)
    }

    fn place(&self, key: u8) -> Option<usize> {
        self.entries.iter().position(|entry| entry.key == key)
    }
}

struct Both {
    model: Model,
    breakers: Breakers<u8>,
    clock: ManualClock,
    held: Vec<Breaker>,
}

impl Both {
    fn new() -> Self {
        let clock = ManualClock::new();
        let template = Breaker::builder("keys")
            .detector(Detector::consecutive(1))
            .open_for(Duration::from_secs(OPEN))
            .clock(clock.clone());
        let builder = Breakers::builder(template).capacity(CAPACITY);
        let breakers = builder.idle_for(Duration::from_secs(IDLE)).build().unwrap();
        Self { model: Model::default(), breakers, clock, held: Vec::new() }
    }

    fn take(&mut self, step: &Step) {
        match *step {
            Step::Get(key) => {
                let expected = self.model.get(key).map(drop);
                assert_eq!(self.breakers.get(&key).map(drop), expected);
            }
            Step::Hold(key) => match (self.model.get(key), self.breakers.get(&key)) {
                (Ok(number), Ok(breaker)) => {
                    self.model.held.push((key, number));
                    self.held.push(breaker);
                }
                (expected, got) => assert_eq!(got.map(drop), expected.map(drop)),
            },
            Step::LetGo(_) if self.held.is_empty() => {}
            Step::LetGo(which) => {
                let which = which % self.held.len();
                self.model.held.swap_remove(which);
                self.held.swap_remove(which);
            }
            Step::Force(key) => self.force(key, true),
            Step::Reset(key) => self.force(key, false),
            Step::Break(key) => self.break_down(key),
            Step::Peek(key) => {
                assert_eq!(self.breakers.peek(&key).is_some(), self.model.place(key).is_some());
            }
            Step::Remove(key) => {
                let place = self.model.place(key);
                place.map(|place| self.model.entries.remove(place));
                assert_eq!(self.breakers.remove(&key), place.is_some());
            }
            Step::EvictIdle => {
                assert_eq!(self.breakers.evict_idle(), self.model.evict_idle());
            }
            Step::Advance(seconds) => {
                self.model.now += seconds;
                self.clock.advance(Duration::from_secs(seconds));
            }
        }
    }

    fn force(&mut self, key: u8, forced: bool) {
        let Some(place) = self.model.place(key) else { return };
        let entry = &mut self.model.entries[place];
        entry.forced = forced;
        entry.open_until = None;
        let breaker = self.breakers.peek(&key).unwrap();
        if forced { breaker.force_open() } else { breaker.reset() }
    }

    fn break_down(&mut self, key: u8) {
        let Some(place) = self.model.place(key) else { return };
        let breaker = self.breakers.peek(&key).unwrap();
        if breaker.state() == State::Closed {
            breaker.enter().unwrap().failure();
            self.model.entries[place].open_until = Some(self.model.now + OPEN);
        }
    }

    fn check(&self) {
        let mut expected = self.model.entries.clone();
        expected.sort_by_key(|entry| std::cmp::Reverse(entry.used));
        let expected: Vec<_> = expected.iter().map(|entry| (entry.key, entry.forced)).collect();
        let list = self.breakers.list().into_iter();
        let list: Vec<_> = list.map(|(key, one)| (key, one.snapshot().forced)).collect();
        assert_eq!(list, expected);
        assert_eq!(self.breakers.len(), expected.len());
    }
}

proptest! {
    #[test]
    fn the_registry_is_a_list_by_last_use(steps in prop::collection::vec(steps(), 1..200)) {
        let mut both = Both::new();
        for step in &steps {
            both.take(step);
            both.check();
        }
    }
}
