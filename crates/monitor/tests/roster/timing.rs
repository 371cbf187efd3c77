//! When a service is polled: honest intervals, waits and cooldowns, spread without bursts.

use std::sync::Arc;
use std::time::Duration;

use mainstay_breaker::{Saved, State};
use mainstay_monitor::decide::Planned;
use mainstay_monitor::roster::{Memory, Outcome};
use mainstay_monitor::shards::{Lease, Shard};

use crate::stage::{Stage, on_grid};

const URL: &str = "http://orders.test/health";

fn times(polls: &[(f64, String)]) -> Vec<f64> {
    polls.iter().map(|(at, _)| *at).collect()
}

fn memory(planned: Planned) -> Memory {
    let breaker = Saved {
        state: State::Closed,
        forced: false,
        failures: 0,
        open_remaining: Duration::ZERO,
        generation: 1,
    };
    let polled = Some(Duration::from_secs(60));
    Memory { poll_seq: 7, breaker, backoff: 0, planned: Some(planned), polled }
}

#[test]
fn a_service_is_polled_at_once_and_then_exactly_at_its_interval() {
    for interval in [5, 7, 30] {
        let mut stage = Stage::new();
        stage.add(1, URL, interval);
        let polls = stage.run(interval * 4, |_| Outcome::Success);
        let expected: Vec<_> = (0..=4).map(|n| f64::from(n) * interval as f64).collect();
        let given = times(&polls);
        assert_eq!(given.len(), 5, "{given:?}");
        assert!(given.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9), "{given:?}");
    }
}

#[test]
fn the_time_that_a_poll_takes_does_not_stretch_the_interval() {
    let mut stage = Stage::new();
    stage.add(1, URL, 5);
    let takeoffs = stage.beat().takeoffs;
    stage.pass(Duration::from_millis(3_210));
    stage.end_one(&takeoffs, Outcome::Success);
    let (second, _) = stage.next_takeoff();
    assert!((second - 5.0).abs() < 1e-9, "{second}");
}

#[test]
fn intervals_that_were_missed_are_not_made_up() {
    let mut stage = Stage::new();
    stage.add(1, URL, 5);
    let takeoffs = stage.beat().takeoffs;
    stage.pass(Duration::from_secs(28));
    stage.end_one(&takeoffs, Outcome::Success);
    let polls = stage.run(9, |_| Outcome::Success);
    let given = times(&polls);
    assert_eq!(given, [30.0, 35.0]);
}

#[test]
fn failures_wait_for_one_second_doubled_up_to_the_cooldown_of_300_seconds() {
    let mut stage = Stage::new();
    stage.add(1, URL, 5);
    let polls = stage.run(2_000, |_| Outcome::Failure);
    let gaps: Vec<_> = times(&polls).windows(2).map(|two| (two[1] - two[0]).round()).collect();
    // The tenth failure opens the breaker for 300 s, which its own wait does not lengthen.
    let expected = [5.0, 5.0, 5.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 300.0, 300.0, 300.0];
    assert_eq!(gaps[..12], expected);
}

#[test]
fn a_success_ends_waiting() {
    let mut stage = Stage::new();
    stage.add(1, URL, 5);
    stage.run(100, |_| Outcome::Failure);
    let (_, takeoffs) = stage.next_takeoff();
    let settled = stage.end_one(&takeoffs, Outcome::Success);
    assert_eq!((settled.backoff, settled.breaker.failures), (0, 0));
    assert_eq!(settled.due_in, Duration::from_secs(5));
}

#[test]
fn the_breaker_opens_at_the_tenth_failure_and_lets_one_probe_through_300_seconds_later() {
    let mut stage = Stage::new();
    stage.add(1, URL, 3_600);
    let mut failed_at = 0.0;
    for failure in 1..=10 {
        stage.edit(1, |watch| watch.interval += Duration::from_secs(1));
        let (at, takeoffs) = stage.next_takeoff();
        let settled = stage.end_one(&takeoffs, Outcome::Failure);
        failed_at = at;
        let opened = settled.circuit.map(|circuit| (circuit.from, circuit.to));
        let expected = (failure == 10).then_some((State::Closed, State::Open));
        assert_eq!(opened, expected, "failure {failure}");
    }
    // Looking at it again and again does not renew the cooldown.
    for _ in 0..20 {
        stage.edit(1, |watch| {
            watch.interval = Duration::from_secs(5 + watch.interval.as_secs() % 2);
        });
        assert!(stage.beat().takeoffs.is_empty());
        stage.pass(Duration::from_secs(10));
    }
    let (at, takeoffs) = stage.next_takeoff();
    assert!((at - failed_at - 300.0).abs() < 1e-6, "{failed_at} {at}");
    let settled = stage.end_one(&takeoffs, Outcome::Success);
    let closed = settled.circuit.map(|circuit| (circuit.from, circuit.to));
    assert_eq!(closed, Some((State::HalfOpen, State::Closed)));
}

#[test]
fn a_probe_that_takes_off_is_told_as_half_open_and_its_failure_opens_anew() {
    let mut stage = Stage::new();
    let mut memory = memory(Planned::In(Duration::from_secs(1)));
    memory.breaker.state = State::Open;
    memory.breaker.failures = 10;
    memory.breaker.open_remaining = Duration::from_secs(42);
    memory.backoff = 10;
    stage.restore(1, URL, 5, &memory);
    let mut told = Vec::new();
    while stage.roster.in_flight() == 0 {
        let begun = stage.next();
        told.extend(begun.circuits.iter().map(|circuit| (circuit.from, circuit.to)));
        if let [takeoff] = &begun.takeoffs[..] {
            assert!((stage.seconds() - 42.0).abs() < 0.051, "{}", stage.seconds());
            stage.pass(Duration::from_secs(1));
            let settled = stage.end(takeoff, Outcome::Failure).pop().unwrap();
            told.extend(settled.circuit.map(|circuit| (circuit.from, circuit.to)));
            assert_eq!(settled.due_in, Duration::from_secs(300));
            assert_eq!(settled.poll_seq, 8, "it goes on where it was");
            break;
        }
    }
    assert_eq!(told, [(State::Open, State::HalfOpen), (State::HalfOpen, State::Open)]);
}

#[test]
fn what_was_planned_before_a_restart_is_kept() {
    let mut stage = Stage::new();
    stage.restore(1, URL, 30, &memory(Planned::In(Duration::from_secs(17))));
    let (at, _) = stage.next_takeoff();
    assert!((at - 17.0).abs() < 1e-9, "{at}");
}

#[test]
fn after_a_stop_everybody_is_polled_within_one_interval_without_a_burst() {
    const SERVICES: i64 = 1_000;
    let mut stage = Stage::new();
    for number in 0..SERVICES {
        let url = format!("http://host-{number}.test/health");
        stage.restore(number, &url, 30, &memory(Planned::Missed(Duration::MAX)));
    }
    let polls = stage.run(30, |_| Outcome::Success);
    let mut seen: Vec<_> = polls.iter().map(|(_, url)| url).collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), usize::try_from(SERVICES).unwrap());
    let mut each_second = [0_u32; 31];
    for (at, _) in &polls {
        assert!(on_grid(*at), "{at}");
        each_second[*at as usize] += 1;
    }
    // 33 a second when they lie evenly.
    assert!(each_second[..30].iter().all(|count| (15..=60).contains(count)), "{each_second:?}");
}

#[test]
fn what_another_instance_has_missed_is_polled_within_three_seconds() {
    let mut stage = Stage::new();
    for number in 0..100 {
        let url = format!("http://host-{number}.test/health");
        let mut watch = stage.service(number, &url, 30);
        let shard = Shard::of(&watch.endpoint.host);
        watch.lease = Some(Lease { shard, generation: 2 });
        let missed = memory(Planned::Missed(Duration::from_secs(25)));
        stage.roster.watch(Arc::new(watch), Some(&missed), stage.now);
    }
    let polls = stage.run(4, |_| Outcome::Success);
    assert_eq!(polls.len(), 100);
    assert!(times(&polls).into_iter().all(|at| at <= 3.05));
}

#[test]
fn a_thousand_new_services_do_not_start_at_once() {
    let mut stage = Stage::new();
    for number in 0..1_000 {
        stage.add(number, &format!("http://host-{number}.test/health"), 5);
    }
    let begun = stage.next();
    assert!((1..=40).contains(&begun.takeoffs.len()), "{}", begun.takeoffs.len());
    for takeoff in &begun.takeoffs {
        stage.end(takeoff, Outcome::Success);
    }
    let polls = stage.run(5, |_| Outcome::Success);
    let mut seen: Vec<_> = polls.iter().map(|(_, url)| url).collect();
    seen.sort_unstable();
    seen.dedup();
    assert!(seen.len() + begun.takeoffs.len() >= 1_000, "{}", seen.len());
}

#[test]
fn a_loop_that_was_stopped_for_a_minute_makes_no_burst() {
    let mut stage = Stage::new();
    for number in 0..1_000 {
        stage.add(number, &format!("http://host-{number}.test/health"), 5);
    }
    stage.run(20, |_| Outcome::Success);
    stage.pass(Duration::from_secs(60));
    let begun = stage.next();
    assert!(begun.takeoffs.len() <= 40, "{}", begun.takeoffs.len());
}
