//! A host with more services than slots: the bound is one on polls at once, not on their rate.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Moment;
use mainstay_monitor::ServiceNumber;
use mainstay_monitor::roster::{Memory, Outcome, Takeoff};

use crate::stage::Stage;

const SERVICES: i64 = 20;
const INTERVAL: u64 = 5;

/// Services of one host that are spread over their interval.
fn spread() -> Stage {
    let mut stage = Stage::new();
    for number in 0..SERVICES {
        let url = format!("http://one.test:{}/health", 8_000 + number);
        stage.restore(number, &url, INTERVAL, &Memory::missed());
    }
    stage
}

/// Lets `seconds` pass; each request takes `latency`. Tells how many requests began.
fn run(stage: &mut Stage, seconds: u64, latency: Duration) -> usize {
    asked(stage, seconds, latency).len()
}

/// Lets `seconds` pass; each request takes `latency`. Tells what was asked.
fn asked(stage: &mut Stage, seconds: u64, latency: Duration) -> Vec<String> {
    let end = stage.now.plus(Duration::from_secs(seconds));
    let mut aloft: Vec<(Moment, Takeoff)> = Vec::new();
    let mut begun = Vec::new();
    loop {
        let landing = aloft.iter().map(|(at, _)| *at).min();
        let beat = stage.roster.next_beat(stage.now);
        let Some(next) = [landing, beat].into_iter().flatten().min().filter(|at| *at <= end) else {
            break;
        };
        stage.now = next;
        let (landed, flying): (Vec<_>, Vec<_>) = aloft.into_iter().partition(|(at, _)| *at <= next);
        aloft = flying;
        for (_, takeoff) in landed {
            stage.end(&takeoff, Outcome::Success);
        }
        if beat == Some(next) {
            let takeoffs = stage.beat().takeoffs;
            begun.extend(takeoffs.iter().map(|one| one.endpoint.url.clone()));
            aloft.extend(takeoffs.into_iter().map(|one| (next.plus(latency), one)));
        }
    }
    // What is still in the air lands with the last moment.
    stage.now = end;
    for (_, takeoff) in aloft {
        stage.end(&takeoff, Outcome::Success);
    }
    begun
}

#[test]
fn a_host_that_hung_is_polled_as_often_as_before() {
    let mut stage = spread();
    let quick = Duration::from_millis(5);
    run(&mut stage, 30, quick);
    let before = run(&mut stage, 60, quick);
    run(&mut stage, 1, Duration::from_secs(10));
    run(&mut stage, 30, quick);
    let after = run(&mut stage, 60, quick);
    assert_eq!(before, 240);
    assert!(after.abs_diff(before) <= 2, "{after} polls in a minute, and {before} before");
}

#[test]
fn nobody_starves_on_a_host_whose_polls_hang() {
    let mut stage = spread();
    let asked = asked(&mut stage, 120, Duration::from_millis(9_990));
    let seen: HashSet<_> = asked.iter().collect();
    assert_eq!(seen.len(), 20);
    assert!(asked.len() >= 55, "the slots are used: {}", asked.len());
}

#[test]
fn half_of_what_the_slots_can_do_is_done() {
    let mut stage = spread();
    let slow = Duration::from_millis(600);
    run(&mut stage, 60, slow);
    let polls = run(&mut stage, 60, slow);
    // Who is refused for the first time waits for the tick, and may miss an interval by that.
    assert!(polls >= 225, "{polls} of 240 polls in a minute");
}

#[test]
fn who_stands_in_line_goes_in_its_turn_as_slots_come_free() {
    let mut stage = Stage::new();
    for number in 0..12 {
        stage.add(number, &format!("http://one.test:{}/", 8_000 + number), INTERVAL);
    }
    let first = stage.beat().takeoffs;
    assert_eq!(first.len(), 5);
    // Twice refused: at once, and with the next tick.
    stage.pass(Duration::from_secs(5));
    assert!(stage.beat().takeoffs.is_empty());
    stage.end(&first[0], Outcome::Success);
    stage.end(&first[1], Outcome::Success);
    let (at, takeoffs) = stage.next_takeoff();
    assert!((at - 5.05).abs() < 1e-9, "{at}");
    let urls: Vec<_> = takeoffs.iter().map(|one| one.endpoint.url.as_str()).collect();
    assert_eq!(urls, ["http://one.test:8005/", "http://one.test:8006/"]);
    // One that is removed leaves the line, and holds nobody up.
    stage.roster.forget(ServiceNumber(7));
    stage.end(&first[2], Outcome::Success);
    let (_, takeoffs) = stage.next_takeoff();
    assert_eq!(takeoffs[0].endpoint.url, "http://one.test:8008/");
}

/// Two of one address: one that waits follows the other, and its slot calls the next in line, who is
/// looked at in that very beat anyway. It is polled once.
#[test]
fn who_is_called_in_the_beat_that_looks_at_it_is_polled_once() {
    let mut stage = Stage::new();
    for number in 0..9 {
        let path = if [0, 5].contains(&number) { "shared".to_owned() } else { number.to_string() };
        stage.add(number, &format!("http://one.test/{path}"), INTERVAL);
    }
    let first = stage.beat().takeoffs;
    assert_eq!(first.len(), 5);
    stage.pass(Duration::from_secs(5));
    assert!(stage.beat().takeoffs.is_empty(), "all are in the line by now");
    // When everybody in the line is looked at, there is a slot, which the first of them only lends.
    stage.pass(Duration::from_secs(60));
    stage.end(&first[1], Outcome::Success);
    let begun = stage.beat();
    assert_eq!(begun.lateness.len(), 2, "one follows, and the next one has its slot");
    let [called] = begun.takeoffs.as_slice() else { panic!("{:?}", begun.takeoffs) };
    stage.end(called, Outcome::Success);
    let end = stage.now.plus(Duration::from_millis(4_900));
    while let Some(next) = stage.roster.next_beat(stage.now).filter(|next| *next < end) {
        stage.now = next;
        for takeoff in stage.beat().takeoffs {
            assert_ne!(takeoff.endpoint.url, called.endpoint.url, "before its interval is over");
            stage.end(&takeoff, Outcome::Success);
        }
    }
}

#[test]
fn a_slot_that_called_somebody_who_left_is_for_the_next() {
    let mut stage = Stage::new();
    for number in 0..8 {
        stage.add(number, &format!("http://one.test:{}/", 8_000 + number), INTERVAL);
    }
    let first = stage.beat().takeoffs;
    stage.pass(Duration::from_secs(5));
    stage.beat();
    stage.end(&first[0], Outcome::Success);
    // Number 5 is called, and gone before its turn.
    stage.roster.forget(ServiceNumber(5));
    let (at, takeoffs) = stage.next_takeoff();
    assert!((at - 5.05).abs() < 1e-9, "{at}");
    assert_eq!(takeoffs[0].endpoint.url, "http://one.test:8006/");
}

#[test]
fn a_host_that_hangs_makes_no_other_late() {
    let mut stage = Stage::new();
    for number in 0..3_000 {
        let url = format!("http://one.test/{number}");
        stage.restore(number, &url, 30, &Memory::missed());
    }
    for number in 3_000..3_100 {
        let url = format!("http://host-{number}.test/");
        stage.restore(number, &url, INTERVAL, &Memory::missed());
    }
    let end = stage.now.plus(Duration::from_secs(120));
    let mut latest = Duration::ZERO;
    let mut well = 0;
    while stage.now < end {
        let begun = stage.next();
        for (takeoff, late) in begun.takeoffs.iter().zip(&begun.lateness) {
            if takeoff.endpoint.host.as_str() != "one.test" {
                well += 1;
                latest = latest.max(*late);
                stage.end(takeoff, Outcome::Success);
            }
        }
    }
    assert!(well >= 2_300, "{well}");
    assert!(latest <= Duration::from_millis(100), "{latest:?}");
}

/// A thousand that were added at once: they start one after the other, and so it stays.
#[test]
fn newcomers_keep_the_distance_that_their_first_polls_had() {
    let mut stage = Stage::new();
    for number in 0..1_000 {
        stage.add(number, &format!("http://host-{number}.test/"), INTERVAL);
    }
    for takeoff in stage.beat().takeoffs {
        stage.end(&takeoff, Outcome::Success);
    }
    let end = stage.now.plus(Duration::from_secs(60));
    let (warm, mut latest) = (stage.now.plus(Duration::from_secs(10)), Duration::ZERO);
    while stage.now < end {
        let begun = stage.next();
        if stage.now > warm {
            latest = latest.max(begun.lateness.into_iter().max().unwrap_or_default());
        }
        for takeoff in begun.takeoffs {
            stage.end(&takeoff, Outcome::Success);
        }
    }
    assert!(latest <= Duration::from_millis(50), "{latest:?}");
}

/// Whoever gives up sooner does not decide for the others.
#[test]
fn services_of_another_patience_make_requests_of_their_own() {
    let mut stage = Stage::new();
    let patient = stage.service(1, "http://a.test/", INTERVAL);
    let mut hasty = stage.service(2, "http://a.test/", INTERVAL);
    let mut endpoint = crate::stage::endpoint("http://a.test/", &[]);
    endpoint.timeout = Duration::from_millis(100);
    hasty.endpoint = Arc::new(endpoint);
    stage.roster.watch(Arc::new(patient), None, stage.now);
    stage.roster.watch(Arc::new(hasty), None, stage.now);
    let takeoffs = stage.beat().takeoffs;
    assert_eq!(takeoffs.len(), 2);
    for takeoff in &takeoffs {
        assert_eq!(stage.land(takeoff).len(), 1);
    }
}
