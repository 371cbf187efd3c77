//! What stands between a service and its poll, in order.

use std::time::Duration;

use mainstay_breaker::State;
use mainstay_monitor::roster::{NotNow, Outcome};
use mainstay_monitor::{PollPolicy, ServiceNumber};

use crate::stage::{Stage, urls};

const HOST: &str = "http://one.test";

fn crowded(services: i64) -> Stage {
    let mut stage = Stage::new();
    for number in 0..services {
        stage.add(number, &format!("{HOST}:{}/health", 8_000 + number), 5);
    }
    stage
}

#[test]
fn a_host_has_five_polls_at_once_and_the_others_wait_for_the_next_tick() {
    let mut stage = crowded(7);
    stage.pass(Duration::from_millis(1_050));
    let begun = stage.beat();
    assert_eq!((begun.takeoffs.len(), begun.refused_by_host), (5, 2));
    // A slot that is free again waits for the tick with them.
    for takeoff in &begun.takeoffs {
        stage.end(takeoff, Outcome::Success);
    }
    let (at, takeoffs) = stage.next_takeoff();
    assert!((at - 5.0).abs() < 1e-9, "{at}");
    // Those that went before are due again, and come after them.
    let started = urls(&takeoffs);
    assert_eq!(started[..2], [format!("{HOST}:8005/health"), format!("{HOST}:8006/health")]);
}

#[test]
fn the_port_is_not_part_of_the_host_and_another_host_has_slots_of_its_own() {
    let mut stage = crowded(5);
    stage.add(100, "http://ONE.test./other", 5);
    stage.add(101, "http://two.test/health", 5);
    let begun = stage.beat();
    assert_eq!((begun.takeoffs.len(), begun.refused_by_host), (6, 1));
}

#[test]
fn who_was_polled_longest_ago_goes_first() {
    let mut stage = crowded(5);
    let begun = stage.beat();
    for takeoff in &begun.takeoffs {
        stage.end(takeoff, Outcome::Success);
    }
    stage.pass(Duration::from_secs(2));
    stage.add(50, &format!("{HOST}:9000/health"), 5);
    stage.edit(50, |watch| watch.interval = Duration::from_secs(6));
    // All of them are due at once, and the one that never was polled has a slot.
    stage.pass(Duration::from_secs(3));
    let begun = stage.beat();
    let started = urls(&begun.takeoffs);
    assert_eq!(started.len(), 5);
    assert_eq!(started[0], format!("{HOST}:9000/health"));
}

#[test]
fn all_hosts_together_have_a_bound_and_who_is_refused_goes_on_the_next_point_of_the_grid() {
    let policy = PollPolicy::new(Duration::from_secs(5), 5, 3).unwrap();
    let mut stage = Stage::with(policy);
    for number in 0..5 {
        stage.add(number, &format!("http://host-{number}.test/"), 5);
    }
    let begun = stage.beat();
    assert_eq!((begun.takeoffs.len(), begun.refused_by_all), (3, 2));
    assert_eq!(stage.roster.in_flight(), 3);
    for takeoff in &begun.takeoffs {
        stage.end(takeoff, Outcome::Success);
    }
    let begun = stage.next();
    assert!((stage.seconds() - 0.05).abs() < 1e-9);
    assert_eq!(begun.takeoffs.len(), 2);
}

#[test]
fn a_refused_slot_never_uses_up_the_only_probe() {
    let mut stage = crowded(1);
    stage.run(700, |_| Outcome::Failure);
    let why = stage.roster.schedule_of(ServiceNumber(0), stage.now).unwrap();
    assert_eq!(why.breaker, State::Open);
    // The host is full when the probe is due.
    for number in 10..15 {
        stage.add(number, &format!("{HOST}:{}/slow", 9_000 + number), 5);
    }
    let slow = stage.next().takeoffs;
    assert_eq!(slow.len(), 5);
    let due = why.retry_at.unwrap();
    while stage.now < due.plus(Duration::from_secs(60)) {
        assert!(stage.next().takeoffs.is_empty());
    }
    let why = stage.roster.schedule_of(ServiceNumber(0), stage.now).unwrap();
    assert!(why.waits_for_host && why.host_in_flight == 5);
    stage.end(&slow[0], Outcome::Success);
    let (_, takeoffs) = stage.next_takeoff();
    assert_eq!(urls(&takeoffs), [format!("{HOST}:8000/health")]);
    let settled = stage.end_one(&takeoffs, Outcome::Success);
    assert_eq!(settled.breaker.state, State::Closed);
}

#[test]
fn an_operators_poll_respects_the_lock_and_leaves_the_next_tick_alone() {
    let mut stage = Stage::new();
    stage.add(1, "http://a.test/", 5);
    let one = ServiceNumber(1);
    let takeoffs = stage.next().takeoffs;
    assert_eq!(stage.roster.poll_now(one, stage.now).unwrap_err(), NotNow::InProgress);
    stage.end_one(&takeoffs, Outcome::Success);
    stage.pass(Duration::from_secs(4));
    let asked_at = stage.seconds();
    let (_, begun) = stage.roster.poll_now(one, stage.now).unwrap();
    let settled = stage.end_one(&begun.takeoffs, Outcome::Success);
    assert!(settled.manual);
    let (at, _) = stage.next_takeoff();
    assert!((at - asked_at - 5.0).abs() < 1e-9, "{asked_at} {at}");
    let unknown = stage.roster.poll_now(ServiceNumber(2), stage.now).unwrap_err();
    assert_eq!(unknown, NotNow::NotWatched);
}

#[test]
fn an_operators_poll_is_the_probe_of_an_open_breaker() {
    let mut stage = Stage::new();
    stage.add(1, "http://a.test/", 5);
    let one = ServiceNumber(1);
    stage.run(600, |_| Outcome::Failure);
    let why = stage.roster.schedule_of(one, stage.now).unwrap();
    assert_eq!(why.breaker, State::Open);
    let (_, begun) = stage.roster.poll_now(one, stage.now).unwrap();
    let told: Vec<_> = begun.circuits.iter().map(|one| (one.from, one.to)).collect();
    assert_eq!(told, [(State::Open, State::HalfOpen)]);
    let settled = stage.end_one(&begun.takeoffs, Outcome::Success);
    assert_eq!((settled.breaker.state, settled.backoff), (State::Closed, 0));
    assert_eq!(settled.due_in, Duration::from_secs(5));
}

#[test]
fn an_operators_poll_is_told_when_the_host_is_full() {
    let mut stage = crowded(6);
    stage.beat();
    let refused = stage.roster.poll_now(ServiceNumber(5), stage.now).unwrap_err();
    let NotNow::Busy(message) = refused else { panic!("{refused:?}") };
    assert!(message.contains("one.test has its 5 polls at once"), "{message}");
}
