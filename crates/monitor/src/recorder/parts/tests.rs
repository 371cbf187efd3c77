//! Batches that a pretended database takes or not.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{IdSource, SystemClock, SystemRng};
use mainstay_breaker::{Saved, State};
use mainstay_events::EventError;
use mainstay_store::Dialect;

use super::*;
use crate::failure::{FailureKind, PollFailure};
use crate::formats::Format;
use crate::roster::Settlement;
use crate::watch::{Endpoint, ServiceNumber, Watch};

fn watch(number: i64) -> Arc<Watch> {
    let ids = IdSource::new(Arc::new(SystemClock::new()), Arc::new(SystemRng));
    let host = "a.test".parse().unwrap();
    let timeout = Duration::from_secs(10);
    Arc::new(Watch {
        number: ServiceNumber(number),
        id: ids.next(),
        name: "orders".into(),
        endpoint: Arc::new(Endpoint::new(host, "http://a.test/".to_owned(), Vec::new(), timeout)),
        format: Arc::new(Format::ProactiveDeps),
        interval: Duration::from_secs(30),
        revision: 1,
        generation: 1,
        lease: None,
    })
}

fn result(number: i64) -> PollResult {
    let breaker = Saved {
        state: State::Closed,
        forced: false,
        failures: 0,
        open_remaining: Duration::ZERO,
        generation: 1,
    };
    let settlement = Settlement {
        poll_seq: 1,
        breaker,
        backoff: 0,
        due_in: Duration::from_secs(30),
        circuit: None,
        manual: false,
    };
    PollResult {
        watch: watch(number),
        at: Timestamp::from_millis(1),
        latency: Duration::from_millis(3),
        outcome: Err(PollFailure { kind: FailureKind::Dns, message: "no such host".to_owned() }),
        settlement,
        recorded: None,
    }
}

fn circuit(number: i64) -> (Circuit, Timestamp) {
    let circuit = Circuit { watch: watch(number), from: State::Open, to: State::HalfOpen };
    (circuit, Timestamp::from_millis(1))
}

fn unclear() -> BatchError {
    let cause = "no such table".into();
    StoreError::Statement { dialect: Dialect::Sqlite, statement: "test", cause }.into()
}

fn data() -> BatchError {
    EventError::TooMany { events: 1, bytes: 1 }.into()
}

fn busy() -> BatchError {
    StoreError::Busy { waited: Duration::ZERO }.into()
}

/// The numbers of what was written, refused and kept, and how often it was tried.
#[derive(Debug, Default, PartialEq, Eq)]
struct Told {
    written: Vec<i64>,
    refused: Vec<i64>,
    kept: Vec<i64>,
    tries: usize,
}

fn numbers(part: &Part) -> Vec<i64> {
    let circuits = part.circuits.iter().map(|(one, _)| one.watch.number.0);
    circuits.chain(part.results.iter().map(|one| one.watch.number.0)).collect()
}

fn play(whole: Part, database: impl Fn(&[i64]) -> Option<BatchError>) -> Told {
    let (mut round, mut told) = (Round::new(whole), Told::default());
    while let Some(part) = round.next() {
        told.tries += 1;
        let Some(error) = database(&numbers(&part)) else {
            round.prove();
            told.written.extend(numbers(&part));
            continue;
        };
        match round.fail(part, error) {
            Verdict::GoOn => {}
            Verdict::Refuse(part, _) => told.refused.extend(numbers(&part)),
            Verdict::Keep(part, _) => {
                told.kept = numbers(&part);
                return told;
            }
        }
    }
    match round.end() {
        Ending::Refuse(all) => {
            told.refused.extend(all.iter().flat_map(|(part, _)| numbers(part)));
        }
        Ending::Keep(part, _) => told.kept = numbers(&part),
    }
    told
}

fn results(count: i64) -> Part {
    Part { results: (1..=count).map(result).collect(), circuits: Vec::new() }
}

#[test]
fn the_bad_ones_are_found_wherever_they_stand() {
    for bad in [vec![1], vec![512], vec![1, 2, 3], vec![7, 300]] {
        for error in [data, unclear] {
            let told =
                play(results(512), |all| all.iter().any(|number| bad.contains(number)).then(error));
            assert_eq!((&told.refused, told.written.len()), (&bad, 512 - bad.len()));
            assert!(told.tries < 80, "{}", told.tries);
        }
    }
}

#[test]
fn a_database_that_takes_nothing_keeps_all_and_is_not_asked_for_each() {
    for (count, error, most) in [
        (512, unclear as fn() -> _, MOST_UNCLEAR),
        (5, unclear, 9),
        (1, unclear, 1),
        (512, busy, 1),
    ] {
        let told = play(results(count), |_| Some(error()));
        let mut kept = told.kept.clone();
        kept.sort_unstable();
        assert_eq!(kept, (1..=count).collect::<Vec<_>>());
        assert_eq!((told.written, told.refused), (vec![], vec![]));
        assert!(told.tries <= most, "{}", told.tries);
    }
}

#[test]
fn what_was_not_tried_comes_first_the_next_time() {
    // So many bad ones in a row look like a database in trouble, once.
    let is_bad = |all: &[i64]| all.iter().any(|number| *number <= 40);
    let told = play(results(512), |all| is_bad(all).then(unclear));
    assert_eq!((told.written.len(), told.kept.len()), (0, 512));
    let again = Part { results: told.kept.into_iter().map(result).collect(), circuits: Vec::new() };
    let mut told = play(again, |all| is_bad(all).then(unclear));
    told.refused.sort_unstable();
    assert_eq!((told.refused, told.written.len()), ((1..=40).collect(), 472));
}

#[test]
fn circuits_are_taken_apart_like_results_and_go_first() {
    let whole = || Part { results: vec![result(9)], circuits: (1..=5).map(circuit).collect() };
    let told = play(whole(), |all| (all.len() > 2).then(data));
    assert_eq!((told.written, told.refused), (vec![1, 2, 3, 4, 5, 9], vec![]));
    let told = play(whole(), |all| all.contains(&3).then(data));
    assert_eq!((told.written, told.refused), (vec![1, 2, 4, 5, 9], vec![3]));
}
