//! Edits take effect at once, and what was in the air is stale.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Moment;
use mainstay_breaker::State;
use mainstay_monitor::ServiceNumber;
use mainstay_monitor::formats::Format;
use mainstay_monitor::roster::{Edited, Outcome};

use crate::stage::{BEGIN, Stage, endpoint, urls};

const URL: &str = "http://a.test/health";
const OTHER: &str = "http://b.test/health";
const ONE: ServiceNumber = ServiceNumber(1);

fn polled_once() -> Stage {
    let mut stage = Stage::new();
    stage.add(1, URL, 3_600);
    let takeoffs = stage.beat().takeoffs;
    stage.end_one(&takeoffs, Outcome::Success);
    stage.pass(Duration::from_secs(10));
    stage
}

/// The database has forgotten its guards, and so does the roster.
#[test]
fn one_that_was_stopped_and_started_between_two_looks_begins_anew() {
    let mut stage = Stage::new();
    stage.add(1, "http://a.test/", 5);
    stage.run(600, |_| Outcome::Failure);
    let open = stage.roster.schedule_of(ServiceNumber(1), stage.now).unwrap();
    assert_eq!(open.breaker, State::Open);
    stage.edit(1, |watch| watch.generation += 1);
    let anew = stage.roster.schedule_of(ServiceNumber(1), stage.now).unwrap();
    assert_eq!((anew.breaker, anew.due), (State::Closed, stage.now));
}

#[test]
fn no_edit_of_the_interval_shortens_the_time_of_the_breaker() {
    let mut stage = Stage::new();
    stage.add(1, "http://a.test/", 5);
    stage.run(600, |_| Outcome::Failure);
    let before = stage.roster.schedule_of(ServiceNumber(1), stage.now).unwrap();
    stage.edit(1, |watch| watch.interval = Duration::from_secs(30));
    let after = stage.roster.schedule_of(ServiceNumber(1), stage.now).unwrap();
    assert_eq!((after.breaker, Some(after.due)), (State::Open, before.retry_at));
    let (at, _) = stage.next_takeoff();
    let began = after.due.since(Moment::from_origin(BEGIN)).as_secs_f64();
    assert!(at - began < 0.051, "{at} {began}");
}

#[test]
fn another_endpoint_mapping_or_interval_is_polled_at_once() {
    type Edit = fn(&mut mainstay_monitor::Watch);
    let edits: [(&str, Edit); 5] = [
        ("endpoint", |watch| watch.endpoint = Arc::new(endpoint(OTHER, &[]))),
        ("headers", |watch| watch.endpoint = Arc::new(endpoint(URL, &[("x", "1")]))),
        ("mapping", |watch| watch.format = Arc::new(Format::Status)),
        ("interval", |watch| watch.interval = Duration::from_secs(1_800)),
        ("timeout", |watch| {
            let mut other = endpoint(URL, &[]);
            other.timeout = Duration::from_secs(3);
            watch.endpoint = Arc::new(other);
        }),
    ];
    for (what, edit) in edits {
        let mut stage = polled_once();
        stage.edit(1, edit);
        assert_eq!(stage.beat().takeoffs.len(), 1, "{what}");
    }
}

#[test]
fn another_name_changes_nothing_of_the_plan() {
    let mut stage = polled_once();
    stage.edit(1, |watch| watch.name = "renamed".into());
    assert!(stage.beat().takeoffs.is_empty());
    let (at, _) = stage.next_takeoff();
    assert!((at - 3_600.0).abs() < 1e-9, "{at}");
}

#[test]
fn another_endpoint_begins_with_fresh_guards_and_another_mapping_does_not() {
    for (url, failures) in [(OTHER, 0), (URL, 5)] {
        let mut stage = Stage::new();
        stage.add(1, URL, 5);
        for _ in 0..5 {
            let (_, takeoffs) = stage.next_takeoff();
            stage.end_one(&takeoffs, Outcome::Failure);
        }
        stage.edit(1, |watch| {
            watch.endpoint = Arc::new(endpoint(url, &[]));
            watch.format = Arc::new(Format::Status);
        });
        let why = stage.roster.schedule_of(ONE, stage.now).unwrap();
        assert_eq!((why.failures, why.backoff_attempt), (failures, failures), "{url}");
    }
}

#[test]
fn an_open_breaker_closes_when_the_endpoint_changes() {
    let mut stage = Stage::new();
    stage.add(1, URL, 5);
    stage.run(600, |_| Outcome::Failure);
    assert_eq!(stage.roster.schedule_of(ONE, stage.now).unwrap().breaker, State::Open);
    stage.edit(1, |watch| watch.endpoint = Arc::new(endpoint(OTHER, &[])));
    let takeoffs = stage.beat().takeoffs;
    assert_eq!(urls(&takeoffs), [OTHER]);
    let settled = stage.end_one(&takeoffs, Outcome::Success);
    assert!(settled.circuit.is_none(), "the edit told that it closed");
}

#[test]
fn a_result_of_the_old_definition_is_dropped_and_counted() {
    let mut stage = Stage::new();
    stage.add(1, URL, 5);
    let old = stage.beat().takeoffs;
    stage.edit(1, |watch| watch.endpoint = Arc::new(endpoint(OTHER, &[])));
    let new = stage.next().takeoffs;
    assert_eq!(urls(&new), [OTHER]);
    let mut dropped = 0;
    assert!(stage.roster.land(&old[0], &mut dropped).is_empty());
    assert_eq!(dropped, 1);
    assert_eq!(stage.end(&new[0], Outcome::Success).len(), 1);
    assert_eq!(stage.roster.in_flight(), 0);
}

#[test]
fn a_service_that_is_edited_between_landing_and_settling_keeps_nothing_of_the_old_answer() {
    let mut stage = Stage::new();
    stage.add(1, URL, 5);
    let takeoffs = stage.beat().takeoffs;
    let aboard = stage.land(&takeoffs[0]);
    stage.edit(1, |watch| watch.format = Arc::new(Format::Status));
    let settled = stage.roster.settle(ONE, aboard[0].attempt, Outcome::Success, stage.now);
    assert!(settled.is_none());
}

#[test]
fn a_service_that_is_removed_is_polled_no_more_and_its_slot_is_free_when_the_request_ends() {
    let mut stage = Stage::new();
    stage.add(1, URL, 5);
    let takeoffs = stage.beat().takeoffs;
    assert!(stage.roster.forget(ONE).is_some());
    assert!(stage.roster.forget(ONE).is_none());
    assert_eq!(stage.roster.in_flight(), 1);
    let mut dropped = 0;
    assert!(stage.roster.land(&takeoffs[0], &mut dropped).is_empty());
    assert_eq!((dropped, stage.roster.in_flight()), (1, 0));
    assert_eq!(stage.roster.next_beat(stage.now), None);
    assert!(stage.roster.is_empty());
}

#[test]
fn an_older_definition_changes_nothing() {
    let mut stage = polled_once();
    let mut older = stage.service(1, OTHER, 5);
    older.revision = 1;
    let edited = stage.roster.watch(Arc::new(older), None, stage.now);
    assert_eq!(edited, Edited::Unchanged);
    assert!(stage.beat().takeoffs.is_empty());
}

#[test]
fn a_poll_that_was_given_up_counts_neither_way_and_the_service_is_polled_again() {
    let mut stage = Stage::new();
    stage.add(1, URL, 5);
    let takeoffs = stage.beat().takeoffs;
    let settled = stage.end_one(&takeoffs, Outcome::GivenUp);
    assert_eq!((settled.breaker.failures, settled.backoff), (0, 0));
    assert_eq!(stage.next_takeoff().1.len(), 1);
}

#[test]
fn who_comes_after_somebody_is_gone_gets_none_of_its_answers() {
    let mut stage = Stage::new();
    stage.add(1, "http://a.test/", 30);
    let gone = stage.beat().takeoffs.pop().expect("it is due");
    assert!(stage.roster.forget(ONE).is_some());
    stage.add(2, "http://b.test/", 30);
    let begun = stage.next().takeoffs;
    assert_eq!(urls(&begun), ["http://b.test/"]);
    let mut dropped = 0;
    assert!(stage.roster.land(&gone, &mut dropped).is_empty());
    assert_eq!(dropped, 1);
    assert_eq!(stage.end_one(&begun, Outcome::Success).poll_seq, 1);
}

#[test]
fn an_answer_settles_only_the_service_that_it_is_of() {
    let mut stage = Stage::new();
    stage.add(1, "http://a.test/", 30);
    let takeoff = stage.beat().takeoffs.pop().expect("it is due");
    let aboard = stage.land(&takeoff).pop().expect("it waits");
    let now = stage.now;
    let two = ServiceNumber(2);
    assert!(stage.roster.settle(two, aboard.attempt, Outcome::Success, now).is_none());
    assert!(stage.roster.settle(ONE, aboard.attempt, Outcome::Success, now).is_some());
    assert!(stage.roster.settle(ONE, aboard.attempt, Outcome::Success, now).is_none());
}
