//! Tables of what a result changes, without a database.

use std::collections::HashMap;
use std::sync::Arc;

use mainstay_base::{IdSource, SystemClock, SystemRng};
use mainstay_breaker::{Saved, State};
use serde_json::{Value, json};

use super::*;
use crate::failure::FailureKind;
use crate::formats::Format;
use crate::roster::Settlement;
use crate::watch::{Endpoint, ServiceNumber, Watch};

fn nothing_known() -> Known {
    Known {
        poll_seq: 0,
        dependency_revision: 0,
        status: ServiceStatus::Unknown,
        status_since: Timestamp::from_millis(0),
        failing_since: None,
        failure: None,
        stale_since: None,
        next_poll_at: None,
        warnings: None,
        dependencies: HashMap::new(),
        kept: 0,
        next_slot: 0,
    }
}

fn result(seconds: i64, outcome: Result<Report, PollFailure>) -> PollResult {
    let ids = IdSource::new(Arc::new(SystemClock::new()), Arc::new(SystemRng));
    let timeout = Duration::from_secs(10);
    let host = "a.test".parse().unwrap();
    let watch = Watch {
        number: ServiceNumber(1),
        id: ids.next(),
        name: "orders".into(),
        endpoint: Arc::new(Endpoint::new(host, "http://a.test/".to_owned(), Vec::new(), timeout)),
        format: Arc::new(Format::ProactiveDeps),
        interval: Duration::from_secs(30),
        revision: 1,
        generation: 1,
        lease: None,
    };
    let breaker = Saved {
        state: State::Closed,
        forced: false,
        failures: 0,
        open_remaining: Duration::ZERO,
        generation: 1,
    };
    let settlement = Settlement {
        poll_seq: seconds,
        breaker,
        backoff: 0,
        due_in: Duration::from_secs(30),
        circuit: None,
        manual: false,
    };
    PollResult {
        watch: Arc::new(watch),
        at: Timestamp::from_millis(seconds * 1_000),
        latency: Duration::from_millis(3),
        outcome,
        settlement,
        recorded: None,
    }
}

fn report(body: &Value) -> Report {
    Format::ProactiveDeps.read(body.to_string().as_bytes(), Timestamp::from_millis(0)).unwrap()
}

/// What each of these answers changes, one after the other: a second apart.
fn rulings(bodies: &[Value]) -> Vec<Ruling> {
    let ids = IdSource::new(Arc::new(SystemClock::new()), Arc::new(SystemRng));
    let mut known = nothing_known();
    let mut rulings = Vec::new();
    for (seconds, body) in (1..).zip(bodies) {
        let outcome = match body.as_str() {
            Some(message) => {
                Err(PollFailure { kind: FailureKind::Timeout, message: message.to_owned() })
            }
            None => Ok(report(body)),
        };
        let ruling = judge(&known, &result(seconds, outcome), &|| ids.next());
        ruling.clone().apply(&mut known);
        rulings.push(ruling);
    }
    rulings
}

fn last(bodies: &[Value]) -> Ruling {
    rulings(bodies).pop().unwrap()
}

fn names(ruling: &Ruling) -> Vec<&str> {
    ruling.touched.iter().map(|one| &*one.name).collect()
}

fn dep(name: &str, healthy: bool) -> Value {
    json!({ "name": name, "healthy": healthy })
}

#[test]
fn only_what_is_new_is_touched() {
    for (what, before, after, touched) in [
        (
            "the same",
            json!([dep("a", true), dep("b", false)]),
            json!([dep("b", false), dep("a", true)]),
            vec![],
        ),
        (
            "latency",
            json!([{"name": "a", "healthy": true, "latencyMs": 1}]),
            json!([{"name": "a", "healthy": true, "latencyMs": 9}]),
            vec![],
        ),
        (
            "time of check",
            json!([{"name": "a", "healthy": true, "lastChecked": "2020-01-01T00:00:00Z"}]),
            json!([{"name": "a", "healthy": true, "lastChecked": "2020-01-02T00:00:00Z"}]),
            vec![],
        ),
        (
            "key order",
            json!([{"name": "a", "healthy": true, "contact": {"x": 1, "y": 2}}]),
            serde_json::from_str(r#"[{"name":"a","healthy":true,"contact":{"y":2,"x":1}}]"#)
                .unwrap(),
            vec![],
        ),
        ("health", json!([dep("a", true)]), json!([dep("a", false)]), vec!["a"]),
        (
            "code",
            json!([{"name": "a", "healthy": true, "healthCode": 200}]),
            json!([{"name": "a", "healthy": true, "healthCode": 204}]),
            vec!["a"],
        ),
        (
            "type",
            json!([dep("a", true)]),
            json!([{"name": "a", "healthy": true, "type": "cache"}]),
            vec!["a"],
        ),
        (
            "contact gone",
            json!([{"name": "a", "healthy": true, "contact": {"x": 1}}]),
            json!([dep("a", true)]),
            vec!["a"],
        ),
        (
            "impact",
            json!([dep("a", true)]),
            json!([{"name": "a", "healthy": true, "impact": "all"}]),
            vec!["a"],
        ),
        (
            "details",
            json!([dep("a", true)]),
            json!([{"name": "a", "healthy": true, "checkDetails": {"n": 1}}]),
            vec!["a"],
        ),
        (
            "skipped",
            json!([dep("a", true)]),
            json!([{"name": "a", "healthy": true, "health": {"skipped": true}}]),
            vec!["a"],
        ),
        ("another", json!([dep("a", true)]), json!([dep("a", true), dep("c", true)]), vec!["c"]),
    ] {
        assert_eq!(names(&last(&[before, after])), touched, "{what}");
    }
}

#[test]
fn the_status_of_a_service_follows_its_last_poll() {
    use ServiceStatus::{Degraded, Down, Healthy, Unknown};
    for (bodies, before, after) in [
        (vec![json!([])], Unknown, Healthy),
        (vec![json!([dep("a", true)])], Unknown, Healthy),
        (vec![json!([dep("a", false)])], Unknown, Degraded),
        (vec![json!("no answer")], Unknown, Down),
        (vec![json!([dep("a", false)]), json!("no answer")], Degraded, Down),
        (vec![json!("no answer"), json!([dep("a", true)])], Down, Healthy),
        (vec![json!([dep("a", false)]), json!([])], Degraded, Healthy),
    ] {
        let ruling = last(&bodies);
        assert_eq!(ruling.status, Turn { before, after }, "{bodies:?}");
        assert_eq!(ruling.status_since, ruling.at, "{bodies:?}");
    }
}

#[test]
fn a_status_that_stays_keeps_its_time() {
    let ruling = last(&[json!("no answer"), json!("no answer"), json!("refused")]);
    assert_eq!(ruling.status_since, Timestamp::from_millis(1_000));
    assert_eq!(ruling.failing_since, Some(Timestamp::from_millis(1_000)));
    assert_eq!(ruling.stale_since.after, Some(Timestamp::from_millis(1_000)));
}

#[test]
fn what_gets_worse_or_better_without_being_well_fails_since_it_began() {
    let (well, slow, silent) = (json!([]), json!([dep("a", false)]), json!("no answer"));
    let bodies = [&well, &slow, &silent, &slow, &well, &silent].map(Clone::clone);
    let since = |ruling: &Ruling| ruling.failing_since.map(Timestamp::as_millis);
    let told: Vec<_> = rulings(&bodies).iter().map(since).collect();
    assert_eq!(told, [None, Some(2_000), Some(2_000), Some(2_000), None, Some(6_000)]);
}

#[test]
fn the_history_of_polls_has_turns_only() {
    let bodies = ["[]", "no", "no", "refused", "[]", "[]"];
    let bodies: Vec<Value> =
        bodies.iter().map(|body| serde_json::from_str(body).unwrap_or(json!(body))).collect();
    let turns: Vec<bool> = rulings(&bodies).iter().map(|ruling| ruling.is_turn).collect();
    assert_eq!(turns, [false, true, false, true, true, false]);
}

#[test]
fn errors_are_noted_when_they_begin_change_and_end() {
    let with = |error: Value, message: &str| json!([{"name": "a", "healthy": false, "error": error, "errorMessage": message}]);
    let noted = |bodies: &[Value]| {
        let ruling = last(bodies);
        ruling.touched.first().and_then(|one| one.noted.clone())
    };
    let trouble = |error: &str, message: &str| {
        Some(Some(Trouble { error: error.to_owned(), message: message.to_owned() }))
    };
    assert_eq!(noted(&[json!([dep("a", true)])]), None);
    assert_eq!(noted(&[json!([dep("a", false)])]), trouble(r#"{"unhealthy":true}"#, "Unhealthy"));
    assert_eq!(
        noted(&[json!([dep("a", true)]), with(json!({"c": 1}), "x")]),
        trouble(r#"{"c":1}"#, "x")
    );
    assert_eq!(
        noted(&[with(json!({"c": 1}), "x"), with(json!({"c": 2}), "x")]),
        trouble(r#"{"c":2}"#, "x")
    );
    assert_eq!(
        noted(&[with(json!({"c": 1}), "x"), with(json!({"c": 1}), "y")]),
        trouble(r#"{"c":1}"#, "y")
    );
    assert_eq!(noted(&[with(json!({"c": 1}), "x"), json!([dep("a", true)])]), Some(None));
    // A message beside a marker that stays the same is still another message.
    let only_message = json!([{"name": "a", "healthy": false, "errorMessage": "late"}]);
    assert_eq!(
        noted(&[json!([dep("a", false)]), only_message]),
        trouble(r#"{"unhealthy":true}"#, "late")
    );
    // Another code is a change, and nothing new is wrong.
    let coded = json!([{"name": "a", "healthy": false, "healthCode": 503}]);
    assert_eq!(noted(&[json!([dep("a", false)]), coded]), None);
}

#[test]
fn what_a_good_poll_no_longer_names_has_vanished_once() {
    let both = json!([dep("a", true), dep("b", true)]);
    let one = json!([dep("a", true)]);
    let gone = |ruling: &Ruling| {
        ruling.vanished.iter().map(|one| one.name.to_string()).collect::<Vec<_>>()
    };
    let all =
        rulings(&[both.clone(), one.clone(), one.clone(), json!("no answer"), both, json!([])]);
    let vanished: Vec<_> = all.iter().map(gone).collect();
    assert_eq!(vanished, [vec![], vec!["b"], vec![], vec![], vec![], vec!["a", "b"]]);
    let back = &all[4].touched;
    assert!(back.len() == 1 && back[0].previous.is_some_and(|previous| previous.missing));
    assert_eq!(back[0].known.slot, 1, "it keeps its slot");
}

#[test]
fn slots_are_given_once() {
    let all = rulings(&[
        json!([dep("a", true)]),
        json!([dep("b", true)]),
        json!([dep("c", true), dep("a", true)]),
    ]);
    let slots = |ruling: &Ruling| {
        ruling.touched.iter().map(|one| (one.name.to_string(), one.known.slot)).collect::<Vec<_>>()
    };
    assert_eq!(slots(&all[1]), [("b".to_owned(), 1)]);
    assert_eq!(slots(&all[2]), [("c".to_owned(), 2), ("a".to_owned(), 0)]);
}

#[test]
fn latencies_above_zero_are_points() {
    let body = json!([{"name": "a", "healthy": true, "latencyMs": 7}, dep("b", true), {"name": "c", "healthy": true, "latencyMs": 0}]);
    let ruling = last(&[body]);
    assert_eq!(ruling.points, [(0, Duration::from_millis(7))]);
    let counts = Counts { healthy: 3, ..Counts::default() };
    assert_eq!((ruling.counts, ruling.reported), (Some(counts), 3));
}

#[test]
fn a_failed_poll_leaves_dependencies_and_counts_alone() {
    let ruling = last(&[json!([dep("a", true), 7]), json!("no answer")]);
    assert!(ruling.touched.is_empty() && ruling.vanished.is_empty() && ruling.points.is_empty());
    assert_eq!(ruling.counts, None);
    assert_eq!(ruling.warnings.after, None);
    assert!(ruling.warnings.before.is_some());
}

#[test]
fn a_time_in_which_nobody_polled_is_not_known() {
    let ids = IdSource::new(Arc::new(SystemClock::new()), Arc::new(SystemRng));
    let at = |seconds: i64| Timestamp::from_millis(seconds * 1_000);
    let well = |seconds| result(seconds, Ok(report(&json!([]))));
    // Planned for 130, every 30 s: from 190 on nobody knows.
    let known = Known {
        status: ServiceStatus::Healthy,
        status_since: at(100),
        next_poll_at: Some(at(130)),
        ..nothing_known()
    };
    let on_time = judge(&known, &well(190), &|| ids.next());
    assert_eq!((on_time.lapse, on_time.status.has_turned()), (None, false));
    let late = judge(&known, &well(191), &|| ids.next());
    let lapse = Lapse { since: at(190), before: ServiceStatus::Healthy, was_stale: false };
    assert_eq!(late.lapse, Some(lapse));
    assert_eq!((late.status.before, late.status_since), (ServiceStatus::Unknown, at(191)));
    assert_eq!(late.stale_since, Turn { before: Some(at(190)), after: None });
    let failed = PollFailure { kind: FailureKind::Timeout, message: String::new() };
    let down = Known { status: ServiceStatus::Down, ..known.clone() };
    let (failing_since, stale_since) = (Some(at(90)), Some(at(100)));
    let down = Known { failing_since, stale_since, ..down };
    let still_down = judge(&down, &result(191, Err(failed)), &|| ids.next());
    let lapse = Lapse { since: at(190), before: ServiceStatus::Down, was_stale: true };
    assert_eq!((still_down.lapse, still_down.status_since), (Some(lapse), at(191)));
    assert_eq!(still_down.failing_since, Some(at(191)), "what it was in between nobody knows");
    assert_eq!(still_down.stale_since.after, Some(at(100)));
    // It was noted already, or it was never polled.
    for known in [Known { status: ServiceStatus::Unknown, ..known.clone() }, nothing_known()] {
        assert_eq!(judge(&known, &well(900), &|| ids.next()).lapse, None);
    }
    let mut known = known;
    late.apply(&mut known);
    assert_eq!(known.next_poll_at, Some(at(221)));
}
