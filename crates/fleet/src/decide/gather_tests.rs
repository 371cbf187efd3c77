//! What pages of findings do, those of agents that lie included.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::decide::fixture::{BEFORE, NOW, id};

fn planned(name: &str) -> PlannedCheck {
    PlannedCheck {
        kind: CheckKind::Service,
        name: name.to_owned(),
        url: Some(format!("https://{name}.example/")),
        about: vec![name.to_owned()],
        every: Duration::from_secs(30),
    }
}

fn known(planned: &[PlannedCheck]) -> Known<'_> {
    Known {
        worker_id: id(100),
        generation: 3,
        loaded_since: BEFORE,
        planned,
        locations: Vec::new(),
        cursor: None,
        now: NOW,
    }
}

fn ago(seconds: i64) -> Timestamp {
    Timestamp::from_millis(NOW.as_millis() - seconds * 1_000)
}

fn found(seq: u64, name: &str, at: Timestamp, status: &str) -> NetResult {
    let result = json!({
        "kind": "service", "name": name, "at": at, "status": status, "latency_ms": 12.5,
        "error": (status != "healthy").then_some("refused"),
    });
    NetResult { seq, generation: 3, result }
}

fn page(results: Vec<NetResult>) -> NetResults {
    NetResults { boot_id: id(400), now: Some(NOW), results, has_more: false, dropped: 0 }
}

fn only(gathered: &Gathered) -> &Location {
    assert_eq!(gathered.locations.len(), 1, "{gathered:?}");
    &gathered.locations[0]
}

#[test]
fn a_page_tells_how_each_check_is_and_how_it_turned() {
    let plan = [planned("orders"), planned("pay")];
    let results = vec![
        found(1, "Orders ", ago(50), "healthy"),
        found(2, "orders", ago(40), "down"),
        found(3, "orders", ago(30), "healthy"),
    ];
    let gathered = gather(known(&plan), &page(results));
    assert_eq!(gathered.cursor, NetCursor { boot_id: id(400), seq: 3 });
    assert_eq!(gathered.counts, Counts { recorded: 3, ..Counts::default() });
    let turns: Vec<_> = gathered.turns.iter().map(|turn| (turn.at, turn.status)).collect();
    let (healthy, down) = (LocationStatus::Healthy, LocationStatus::Down);
    assert_eq!(turns, [(ago(50), healthy), (ago(40), down), (ago(30), healthy)]);
    assert_eq!(gathered.changed.len(), 1, "who was away in between is told once");
    let orders = &gathered.locations[0];
    assert_eq!((orders.status, orders.findings), (LocationStatus::Healthy, 3));
    assert_eq!((orders.status_since, orders.checked_at), (ago(30), Some(ago(30))));
    assert_eq!(orders.latency, Some(Duration::from_micros(12_500)));
    let pay = &gathered.locations[1];
    assert_eq!((pay.status, pay.checked_at, pay.findings), (LocationStatus::Unknown, None, 0));
}

#[test]
fn what_is_recorded_is_recorded_once() {
    let plan = [planned("orders")];
    let first = gather(known(&plan), &page(vec![found(7, "orders", ago(9), "down")]));
    let again =
        || Known { locations: first.locations.clone(), cursor: Some(first.cursor), ..known(&plan) };
    let results = vec![found(7, "orders", ago(9), "down"), found(8, "orders", ago(8), "down")];
    let second = gather(again(), &page(results));
    let counts = Counts { recorded: 1, repeated: 1, ..Counts::default() };
    assert_eq!((second.counts, only(&second).findings), (counts, 2));
    assert_eq!((only(&second).status_since, second.changed.len()), (ago(9), 0));
    let other_run =
        NetResults { boot_id: id(401), ..page(vec![found(1, "orders", ago(1), "down")]) };
    assert_eq!(gather(again(), &other_run).counts.recorded, 1, "its numbers begin anew");
    assert_eq!(gather(again(), &page(vec![])).locations, [], "nothing to write");
}

#[test]
fn the_agents_clock_only_tells_how_long_ago() {
    let plan = [planned("orders")];
    let wrong = |skew: i64, results| {
        let now = Some(Timestamp::from_millis(NOW.as_millis() + skew));
        gather(known(&plan), &NetResults { now, ..page(results) })
    };
    let hour = 3_600_000;
    for skew in [-hour, 0, hour] {
        let theirs = Timestamp::from_millis(ago(20).as_millis() + skew);
        let gathered = wrong(skew, vec![found(1, "orders", theirs, "down")]);
        assert_eq!(only(&gathered).checked_at, Some(ago(20)), "{skew}");
    }
    let future = Timestamp::from_millis(NOW.as_millis() + hour);
    let gathered = wrong(0, vec![found(1, "orders", future, "down")]);
    assert_eq!(only(&gathered).checked_at, Some(NOW));
    let ancient = Timestamp::from_millis(5);
    let gathered = wrong(0, vec![found(1, "orders", ancient, "down")]);
    assert_eq!(only(&gathered).checked_at, Some(BEFORE), "the net was not loaded then");
    let silent = NetResults { now: None, ..page(vec![found(1, "orders", future, "down")]) };
    assert_eq!(only(&gather(known(&plan), &silent)).checked_at, Some(NOW));
}

#[test]
fn the_order_is_that_of_the_numbers_and_time_does_not_go_back() {
    let plan = [planned("orders")];
    let results = vec![found(1, "orders", ago(10), "down"), found(2, "orders", ago(90), "healthy")];
    let gathered = gather(known(&plan), &page(results));
    let location = only(&gathered);
    assert_eq!(location.status, LocationStatus::Healthy);
    assert_eq!((location.checked_at, location.status_since), (Some(ago(10)), ago(10)));
}

#[test]
fn what_is_not_of_this_net_says_nothing() {
    let plan = [planned("orders")];
    let odd = |seq, result: Value| NetResult { seq, generation: 3, result };
    let results = vec![
        found(1, "elsewhere", ago(9), "down"),
        NetResult { generation: 2, ..found(2, "orders", ago(9), "down") },
        odd(3, json!("garbage")),
        odd(4, json!({ "kind": "journey", "name": "orders", "at": NOW, "status": "down" })),
        odd(5, json!({ "kind": "service", "name": "orders", "at": NOW, "status": "unknown" })),
        odd(6, json!({ "kind": "service", "name": "orders", "at": "soon", "status": "down" })),
    ];
    let gathered = gather(known(&plan), &page(results));
    let counts = Counts { foreign: 2, stale: 1, unreadable: 3, ..Counts::default() };
    assert_eq!((gathered.counts, gathered.cursor.seq), (counts, 6), "and it is acknowledged");
    assert_eq!(only(&gathered).checked_at, None);
    assert!(gathered.turns.is_empty() && gathered.changed.is_empty());
}

#[test]
fn another_worker_begins_anew() {
    let plan = [planned("orders")];
    let first = gather(known(&plan), &page(vec![found(7, "orders", ago(9), "down")]));
    let moved = Known { worker_id: id(101), locations: first.locations, ..known(&plan) };
    let gathered = gather(moved, &page(vec![]));
    assert_eq!(only(&gathered).status, LocationStatus::Unknown);
    assert_eq!(only(&gathered).worker_id, id(101));
}

#[test]
fn everything_kept_has_a_bound() {
    let plan = [planned("orders")];
    let flapping = |seq: u64| {
        found(seq, "orders", ago(9), if seq.is_multiple_of(2) { "down" } else { "healthy" })
    };
    let gathered = gather(known(&plan), &page((1..=500).map(flapping).collect()));
    assert_eq!((gathered.turns.len(), gathered.changed.len()), (MAX_TURNS, 1));
    let mut long = found(1, "orders", ago(9), "down");
    long.result["error"] = json!("x\u{0}".repeat(5_000));
    long.result["latency_ms"] = json!(1e300);
    let gathered = gather(known(&plan), &page(vec![long]));
    let error = only(&gathered).error.clone().unwrap();
    assert_eq!((error.chars().count(), error.contains('\0')), (MAX_ERROR, false));
    assert_eq!(only(&gathered).latency, None);
}

proptest! {
    /// However a stream of findings is cut into pages, and however often a page is told again, the same
    /// is recorded.
    #[test]
    fn pages_and_repetitions_make_no_difference(
        statuses in proptest::collection::vec(0..3_usize, 1..40),
        cut in 1..10_usize,
        repeats in 0..5_usize,
    ) {
        let plan = [planned("orders")];
        let words = ["healthy", "degraded", "down"];
        let all: Vec<_> = statuses.iter().zip(1_u64..)
            .map(|(status, seq)| found(seq, "orders", ago(1_000 - i64::try_from(seq).unwrap()), words[*status]))
            .collect();
        let whole = gather(known(&plan), &page(all.clone()));
        let (mut locations, mut cursor, mut turns) = (Vec::new(), None, 0);
        for (at, part) in all.chunks(cut).enumerate() {
            for _ in 0..=(if at < repeats { 1 } else { 0 }) {
                let state = Known { locations: locations.clone(), cursor, ..known(&plan) };
                let gathered = gather(state, &page(part.to_vec()));
                cursor = Some(gathered.cursor);
                turns += gathered.turns.len();
                if !gathered.locations.is_empty() {
                    locations = gathered.locations;
                }
            }
        }
        prop_assert_eq!((&locations, turns), (&whole.locations, whole.turns.len()));
        prop_assert_eq!(cursor, Some(whole.cursor));
    }
}
