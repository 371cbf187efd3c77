#![cfg(test)]
//! A full registry: who makes room, and after which time.

mod support;

use std::time::Duration;

use mainstay_breaker::{Breaker, Breakers, Detector, Full, ManualClock};
use support::{SECOND, fail};

const IDLE: Duration = Duration::from_secs(60);

/// Breakers that open with their first failure.
fn registry(capacity: usize) -> (Breakers<u32>, ManualClock) {
    let clock = ManualClock::new();
    let template =
        Breaker::builder("hosts").detector(Detector::consecutive(1)).clock(clock.clone());
    let builder = Breakers::builder(template).capacity(capacity).idle_for(IDLE);
    (builder.build().unwrap(), clock)
}

fn break_all(breakers: &Breakers<u32>, keys: std::ops::Range<u32>) {
    for key in keys {
        fail(&breakers.get(&key).unwrap());
    }
}

#[test]
fn hosts_that_died_make_room_however_often_others_ask_in_the_meantime() {
    let (breakers, clock) = registry(4);
    break_all(&breakers, 0..4);
    for key in 100..102 {
        clock.advance(IDLE / 2);
        assert_eq!(breakers.get(&key).unwrap_err(), Full { capacity: 4 });
    }
    for key in 102..106 {
        clock.advance(IDLE / 2);
        assert!(breakers.get(&key).is_ok(), "the dead have been idle for long");
    }
}

#[test]
fn hosts_that_died_leave_a_registry_whose_other_places_change_hands_all_the_time() {
    let (breakers, clock) = registry(10);
    break_all(&breakers, 0..8);
    let left = || (0..8).filter(|key| breakers.peek(key).is_some()).count();
    for number in 0..9 {
        clock.advance(IDLE / 10);
        breakers.get(&(100 + number)).unwrap();
        assert_eq!(left(), 8, "their time is not over");
    }
    for number in 9..30 {
        clock.advance(IDLE / 10);
        breakers.get(&(100 + number)).unwrap();
    }
    assert_eq!(left(), 0);
}

#[test]
fn to_be_passed_over_is_no_use() {
    let (breakers, clock) = registry(2);
    let held = breakers.get(&0).unwrap();
    clock.advance(SECOND);
    breakers.get(&1).unwrap();
    breakers.get(&2).unwrap();
    let keys: Vec<u32> = breakers.list().into_iter().map(|(key, _)| key).collect();
    assert_eq!(keys, [2, 0], "the most recently used first");
    drop(held);
    clock.advance(IDLE);
    assert_eq!(breakers.evict_idle(), 1, "by its last use and not by the look at it");
    assert!(breakers.peek(&0).is_none());
}

#[test]
fn the_idle_are_found_wherever_they_stand() {
    let (breakers, clock) = registry(5_000);
    for key in 0..4_000 {
        breakers.get(&key).unwrap();
    }
    clock.advance(IDLE);
    let _held: Vec<_> = (0..4_000).step_by(3).map(|key| breakers.get(&key).unwrap()).collect();
    clock.advance(2 * SECOND);
    assert_eq!(breakers.evict_idle(), 4_000 - 4_000_usize.div_ceil(3));
    assert!((0..4_000).all(|key| breakers.peek(&key).is_some() == (key % 3 == 0)));
}
