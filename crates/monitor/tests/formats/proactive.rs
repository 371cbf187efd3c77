//! The proactive-deps format.

use std::time::Duration;

use mainstay_base::Timestamp;
use mainstay_monitor::{DependencyStatus, HealthState, Reported};

use crate::{NOW, only, read, told};

/// A dependency of which only the name and `healthy` are given.
fn plain(name: &str, healthy: bool) -> Reported {
    Reported {
        name: name.to_owned(),
        kind: "other".to_owned(),
        description: None,
        impact: None,
        contact: None,
        check_details: None,
        healthy,
        state: if healthy { HealthState::Healthy } else { HealthState::Down },
        code: if healthy { 200 } else { 500 },
        latency: Duration::ZERO,
        skipped: false,
        error: None,
        error_message: None,
        checked_at: NOW,
    }
}

/// One item whose name is `a`, with these members beside it.
fn item(members: &str) -> String {
    format!(r#"[{{"name":"a",{members}}}]"#)
}

#[test]
fn what_is_not_said_has_its_default() {
    assert_eq!(only(read(r#"[{"name":"db","healthy":true}]"#)), plain("db", true));
    assert_eq!(only(read(r#"[{"name":"db","healthy":false}]"#)), plain("db", false));
}

#[test]
fn everything_that_can_be_said_is_read() {
    let body = r#"[{
        "name": "orders-db", "type": "database", "description": "Orders", "impact": "No orders",
        "healthy": false, "health": {"state": 1, "code": 503, "latency": 12.5, "skipped": false},
        "contact": {"slack": "orders", "email": "o@example.com"},
        "checkDetails": {"query": "select 1", "a": [1, {"z": 1, "b": 2}]},
        "error": {"code": "ECONN", "at": [3, 1]}, "errorMessage": "refused",
        "lastChecked": "2026-11-15T21:59:00+01:00", "unknown": {"x": [1, 2]}
    }]"#;
    let expected = Reported {
        name: "orders-db".to_owned(),
        kind: "database".to_owned(),
        description: Some("Orders".to_owned()),
        impact: Some("No orders".to_owned()),
        contact: Some(r#"{"email":"o@example.com","slack":"orders"}"#.to_owned()),
        check_details: Some(r#"{"a":[1,{"b":2,"z":1}],"query":"select 1"}"#.to_owned()),
        healthy: false,
        state: HealthState::Degraded,
        code: 503,
        latency: Duration::from_micros(12_500),
        skipped: false,
        error: Some(r#"{"at":[3,1],"code":"ECONN"}"#.to_owned()),
        error_message: Some("refused".to_owned()),
        checked_at: Timestamp::from_millis(NOW.as_millis() - 60_000),
    };
    assert_eq!(only(read(body)), expected);
}

#[test]
fn state_code_and_latency_stand_in_health_or_beside_it() {
    for (members, state, code, millis) in [
        (r#""healthy":true,"health":{"state":1,"code":206,"latency":7}"#, 1, 206, 7),
        (r#""healthy":true,"healthCode":206,"latencyMs":7"#, 0, 206, 7),
        // What stands in `health` is more exact.
        (
            r#""healthy":true,"healthCode":1,"latencyMs":1,"health":{"code":206,"latency":7}"#,
            0,
            206,
            7,
        ),
        (r#""healthy":true,"healthCode":206,"latencyMs":7,"health":{"code":null}"#, 0, 206, 7),
        // What the body says wins over what follows from `healthy`.
        (r#""healthy":true,"health":{"state":2,"code":500}"#, 2, 500, 0),
        (r#""healthy":false,"health":{"state":0,"code":200}"#, 0, 200, 0),
        (r#""healthy":false,"health":{"state":1}"#, 1, 500, 0),
        (r#""healthy":false,"health":null"#, 2, 500, 0),
        (r#""healthy":true,"health":{"state":1.0,"code":206.0}"#, 1, 206, 0),
    ] {
        let read = only(read(&item(members)));
        let numbers = (read.state.number(), read.code, read.latency);
        assert_eq!(numbers, (state, code, Duration::from_millis(millis)), "{members}");
    }
}

#[test]
fn the_state_decides_the_level_and_healthy_stays_as_it_was_said() {
    for (members, healthy, status) in [
        (r#""healthy":true"#, true, DependencyStatus::Healthy),
        (r#""healthy":false"#, false, DependencyStatus::Down),
        (r#""healthy":true,"health":{"state":1}"#, true, DependencyStatus::Degraded),
        (r#""healthy":false,"health":{"state":1}"#, false, DependencyStatus::Degraded),
        (r#""healthy":true,"health":{"state":2}"#, true, DependencyStatus::Down),
        (r#""healthy":false,"health":{"state":0}"#, false, DependencyStatus::Down),
        (r#""healthy":false,"health":{"skipped":true}"#, true, DependencyStatus::Skipped),
    ] {
        let read = only(read(&item(members)));
        assert_eq!((read.healthy, read.status()), (healthy, status), "{members}");
    }
    let all = [
        (DependencyStatus::Healthy, "healthy"),
        (DependencyStatus::Degraded, "degraded"),
        (DependencyStatus::Down, "down"),
        (DependencyStatus::Unknown, "unknown"),
        (DependencyStatus::Skipped, "skipped"),
    ];
    for (status, name) in all {
        assert_eq!((status.name(), status.to_string().as_str()), (name, name));
    }
}

#[test]
fn what_is_skipped_is_recorded_healthy_whatever_is_said_of_it() {
    for members in [
        r#""health":{"skipped":true}"#,
        r#""healthy":false,"health":{"skipped":true}"#,
        r#""healthy":"perhaps","health":{"skipped":true}"#,
        r#""healthy":false,"health":{"skipped":true,"state":2}"#,
    ] {
        let expected = Reported { skipped: true, ..plain("a", true) };
        assert_eq!(only(read(&item(members))), expected, "{members}");
    }
    let body = item(r#""healthy":false,"health":{"skipped":false}"#);
    assert_eq!(only(read(&body)), plain("a", false));
}

#[test]
fn an_empty_array_is_a_success() {
    for body in ["[]", " [ ] ", "\u{FEFF}[]"] {
        assert_eq!(told(read(body)), (vec![], vec![]), "{body:?}");
    }
}

#[test]
fn a_bad_item_is_left_out_with_its_reason_and_the_others_stay() {
    let long = format!(r#"{{"name":"{}","healthy":true}}"#, "x".repeat(256));
    for (bad, reason) in [
        ("7", "it is not an object"),
        ("null", "it is not an object"),
        (r#"[{"name":"a","healthy":true}]"#, "it is not an object"),
        (r#"{"healthy":true}"#, r#""name" is missing"#),
        (r#"{"name":null,"healthy":true}"#, r#""name" is missing"#),
        (r#"{"name":"","healthy":true}"#, r#""name" is blank"#),
        (r#"{"name":" \t","healthy":true}"#, r#""name" is blank"#),
        (r#"{"name":5,"healthy":true}"#, r#""name" is not a string"#),
        (r#"{"name":["a"],"healthy":true}"#, r#""name" is not a string"#),
        (&long, r#""name" is longer than 255 characters"#),
        (r#"{"name":"a"}"#, r#""healthy" is missing"#),
        (r#"{"name":"a","healthy":null}"#, r#""healthy" is missing"#),
        (r#"{"name":"a","healthy":"true"}"#, r#""healthy" is not a boolean"#),
        (r#"{"name":"a","healthy":1}"#, r#""healthy" is not a boolean"#),
        (r#"{"name":"a","health":{"skipped":false}}"#, r#""healthy" is missing"#),
        (
            r#"{"name":"a","healthy":true,"latencyMs":1e999}"#,
            "it can't be read: number out of range",
        ),
        (r#"{"name":"\ud800","healthy":true}"#, "it can't be read: unexpected end of hex escape"),
    ] {
        let good = r#"{"name":"good","healthy":true}"#;
        let body = format!("[{good},{bad}]");
        let expected = (vec!["good".to_owned()], vec![format!("index 1: {reason}")]);
        assert_eq!(told(read(&body)), expected, "{bad}");
    }
}

#[test]
fn a_name_is_kept_exactly() {
    for (given, expected) in [
        (" Orders DB ", " Orders DB "),
        ("äöü", "äöü"),
        (r"a\u0000b", "a\u{FFFD}b"),
        (r"\u00e4\ud83d\ude00", "ä😀"),
    ] {
        let body = format!(r#"[{{"name":"{given}","healthy":true}}]"#);
        assert_eq!(only(read(&body)).name, expected);
    }
    let longest = "ä".repeat(255);
    let body = format!(r#"[{{"name":"{longest}","healthy":true}}]"#);
    assert_eq!(only(read(&body)).name, longest);
}

#[test]
fn of_two_items_of_one_name_the_worst_state_counts() {
    const HEALTHY: &str = r#"{"name":"a","healthy":true,"impact":"healthy"}"#;
    const DEGRADED: &str =
        r#"{"name":"a","healthy":true,"health":{"state":1},"impact":"degraded"}"#;
    const DOWN: &str = r#"{"name":"a","healthy":false,"impact":"down"}"#;
    const SAID_HEALTHY: &str =
        r#"{"name":"a","healthy":true,"health":{"state":2},"impact":"said"}"#;
    const SKIPPED: &str = r#"{"name":"a","health":{"skipped":true},"impact":"skipped"}"#;
    const AGAIN: &str = r#"{"name":"a","healthy":true,"impact":"again"}"#;
    let warning = r#""a" is named more than once; the worst state counts"#;
    for (one, other, kept) in [
        (HEALTHY, DEGRADED, "degraded"),
        (DEGRADED, DOWN, "down"),
        (HEALTHY, DOWN, "down"),
        (SKIPPED, HEALTHY, "healthy"),
        (SAID_HEALTHY, DOWN, "down"),
    ] {
        for body in [format!("[{one},{other}]"), format!("[{other},{one}]")] {
            let report = read(&body).unwrap();
            assert_eq!(report.dependencies.len(), 1, "{body}");
            assert_eq!(report.dependencies[0].impact.as_deref(), Some(kept), "{body}");
            assert_eq!(report.warnings[0].to_string(), format!("index 1: {warning}"));
        }
    }
    let body = format!(r#"[{{"name":"b","healthy":true}},{HEALTHY},{AGAIN},{AGAIN}]"#);
    let report = read(&body).unwrap();
    assert_eq!(report.dependencies[1].impact.as_deref(), Some("healthy"), "the first of equals");
    assert_eq!(report.warnings[0].to_string(), format!("index 2: {warning} (and 1 more)"));
}

#[test]
fn warnings_are_grouped_by_their_reason() {
    let body = r#"[{"name":"a","healthy":true},5,{"healthy":true},{"healthy":true},6,{}]"#;
    let warnings =
        ["index 1: it is not an object (and 1 more)", r#"index 2: "name" is missing (and 2 more)"#];
    assert_eq!(told(read(body)), (vec!["a".to_owned()], warnings.map(str::to_owned).to_vec()));
}

#[test]
fn there_are_at_most_20_warnings() {
    let twice = |name: usize| format!(r#"{{"name":"{name}","healthy":true}}"#).repeat(2);
    let items: Vec<String> = (0..30).map(|name| twice(name).replace("}{", "},{")).collect();
    let report = read(&format!("[{},7]", items.join(","))).unwrap();
    assert_eq!((report.dependencies.len(), report.warnings.len()), (30, 20));
    assert!(report.warnings[0].reason.starts_with(r#""0" is named"#), "the first ones are kept");
}

#[test]
fn a_number_that_can_not_be_right_is_left_out_with_a_warning() {
    for (members, warning) in [
        (r#""health":{"latency":-1}"#, r#""health.latency" is not a number of milliseconds"#),
        (r#""latencyMs":1e300"#, r#""health.latency" is not a number of milliseconds"#),
        (r#""latencyMs":"12""#, r#""health.latency" is not a number of milliseconds"#),
        (r#""health":{"code":2147483648}"#, r#""health.code" is not a whole number"#),
        (r#""healthCode":"200""#, r#""health.code" is not a whole number"#),
        (r#""health":{"state":3}"#, r#""health.state" is not 0, 1 or 2"#),
        (r#""health":{"state":"1"}"#, r#""health.state" is not 0, 1 or 2"#),
        (r#""health":{"skipped":"yes"}"#, r#""health.skipped" is not a boolean"#),
        (r#""health":"fine""#, r#""health" is not an object"#),
        (r#""health":[1]"#, r#""health" is not an object"#),
    ] {
        let report = read(&item(&format!(r#""healthy":true,{members}"#))).unwrap();
        assert_eq!(report.dependencies, [plain("a", true)], "{members}");
        let told: Vec<_> = report.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].starts_with(&format!("index 0: {warning}")), "{told:?}");
        assert!(told[0].ends_with("and was left out"), "{told:?}");
    }
}

#[test]
fn contact_and_check_details_are_objects_and_error_is_any_json() {
    for (given, object, error) in [
        ("null", None, None),
        ("[1]", None, Some("[1]")),
        (r#""x""#, None, Some(r#""x""#)),
        ("5", None, Some("5")),
        ("false", None, Some("false")),
        (r#"{"b":1,"a":"\u0000"}"#, Some("{\"a\":\"\u{FFFD}\",\"b\":1}"), None),
    ] {
        let read = only(read(&item(&format!(
            r#""healthy":true,"contact":{given},"checkDetails":{given},"error":{given}"#
        ))));
        assert_eq!((read.contact.as_deref(), read.check_details.as_deref()), (object, object));
        assert_eq!(read.error.as_deref(), error.or(object), "{given}");
    }
}

#[test]
fn json_that_does_not_fit_is_left_out_with_a_warning() {
    let large = format!(r#"{{"x":"{}"}}"#, "y".repeat(16 * 1024));
    let deep = format!(r#"{{"x":{}{}}}"#, "[".repeat(1_000), "]".repeat(1_000));
    for (json, problem) in [(&large, "is larger than 16384 bytes"), (&deep, "can't be read")] {
        for key in ["contact", "checkDetails", "error"] {
            let (names, warnings) = told(read(&item(&format!(r#""healthy":true,"{key}":{json}"#))));
            assert_eq!(names, ["a"]);
            assert_eq!(warnings, [format!("index 0: {key:?} {problem} and was left out")]);
        }
    }
}

#[test]
fn texts_are_cut_and_blank_or_odd_ones_are_as_if_not_given() {
    let long = "ä".repeat(3_000);
    let cut = |chars: usize| format!("{}…", "ä".repeat(chars - 1));
    let members = format!(
        r#""healthy":true,"type":"{long}","description":"{long}","impact":"{long}","errorMessage":"{long}""#
    );
    let expected = Reported {
        kind: cut(64),
        description: Some(cut(2_000)),
        impact: Some(cut(2_000)),
        error_message: Some(cut(2_000)),
        ..plain("a", true)
    };
    assert_eq!(only(read(&item(&members))), expected);
    for odd in [r#""""#, r#"" ""#, "5", "{}", "[]", "null", "true"] {
        let members = format!(
            r#""healthy":true,"type":{odd},"description":{odd},"impact":{odd},"errorMessage":{odd},"lastChecked":{odd}"#
        );
        assert_eq!(only(read(&item(&members))), plain("a", true), "{odd}");
    }
    let nul = only(read(&item(r#""healthy":true,"errorMessage":"a\u0000""#)));
    assert_eq!(nul.error_message.as_deref(), Some("a\u{FFFD}"));
}

#[test]
fn the_time_of_the_check_is_never_later_than_now() {
    let now = NOW.as_millis();
    for (text, millis) in [
        ("2026-11-15T20:59:59.250Z", now - 750),
        ("2026-11-15T22:00:00+01:00", now),
        ("1999-01-01T00:00:00Z", 915_148_800_000),
        ("2026-11-15T21:00:01Z", now),
        ("9999-01-01T00:00:00Z", now),
        ("yesterday", now),
        ("2026-11-15", now),
        ("", now),
    ] {
        let read = only(read(&item(&format!(r#""healthy":true,"lastChecked":"{text}""#))));
        assert_eq!(read.checked_at.as_millis(), millis, "{text}");
    }
}

#[test]
fn the_last_of_equal_keys_counts() {
    let body = r#"[{"name":"a","name":"b","healthy":true,"healthy":false,"health":{"state":0,"state":1}}]"#;
    let read = only(read(body));
    assert_eq!((read.name.as_str(), read.healthy, read.state.number()), ("b", false, 1));
}
