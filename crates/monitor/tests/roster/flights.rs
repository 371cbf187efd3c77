//! One request for services that ask the same.

use std::sync::Arc;
use std::time::Duration;

use mainstay_monitor::ServiceNumber;
use mainstay_monitor::roster::Outcome;

use crate::stage::{Stage, endpoint};

const URL: &str = "http://shared.test/health";

#[test]
fn services_with_the_same_request_share_it_and_each_has_guards_of_its_own() {
    let mut stage = Stage::new();
    stage.add(1, URL, 5);
    stage.add(2, URL, 30);
    let begun = stage.beat();
    assert_eq!((begun.takeoffs.len(), begun.lateness.len()), (1, 2));
    assert_eq!(stage.roster.in_flight(), 1);
    let aboard = stage.land(&begun.takeoffs[0]);
    let numbers: Vec<_> = aboard.iter().map(|one| one.watch.number.0).collect();
    assert_eq!(numbers, [1, 2]);
    // One of them can read the answer, the other can't.
    let now = stage.now;
    let good = stage.roster.settle(ServiceNumber(1), aboard[0].attempt, Outcome::Success, now);
    let bad = stage.roster.settle(ServiceNumber(2), aboard[1].attempt, Outcome::Failure, now);
    assert_eq!((good.unwrap().breaker.failures, bad.unwrap().breaker.failures), (0, 1));
}

#[test]
fn other_headers_are_another_request_and_other_spellings_of_their_names_are_not() {
    let mut stage = Stage::new();
    for (number, headers) in
        [(1, &[("X-Key", "a")] as &[_]), (2, &[("X-Key", "b")]), (3, &[("x-key", "a")]), (4, &[])]
    {
        stage.add(number, URL, 5);
        stage.edit(number, |watch| watch.endpoint = Arc::new(endpoint(URL, headers)));
    }
    let begun = stage.beat();
    assert_eq!((begun.takeoffs.len(), begun.lateness.len()), (3, 4));
}

#[test]
fn a_request_that_is_shared_takes_one_slot() {
    let mut stage = Stage::new();
    for number in 0..8 {
        stage.add(number, URL, 5);
    }
    let begun = stage.beat();
    assert_eq!((begun.takeoffs.len(), begun.lateness.len()), (1, 8));
    assert_eq!(begun.refused_by_host, 0);
}

#[test]
fn who_joins_a_request_in_the_air_has_its_answer() {
    let mut stage = Stage::new();
    stage.add(1, URL, 5);
    let first = stage.next().takeoffs;
    stage.pass(Duration::from_secs(1));
    stage.add(2, URL, 5);
    assert!(stage.next().takeoffs.is_empty());
    assert_eq!(stage.end(&first[0], Outcome::Success).len(), 2);
    assert!(stage.land(&first[0]).is_empty(), "an answer is for everyone aboard, once");
}
