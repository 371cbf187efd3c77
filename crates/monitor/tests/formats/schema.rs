//! The schema format.

use std::time::Duration;

use mainstay_monitor::Reported;
use serde_json::json;

use crate::{NOW, mapped, only, told};

/// A mapping of an array at the document's root, with these fields beside the name.
fn with(fields: &serde_json::Value) -> String {
    let mut config = json!({"root": "", "fields": {"name": "n", "healthy": "h"}});
    for (key, value) in fields.as_object().unwrap() {
        config["fields"][key] = value.clone();
    }
    config.to_string()
}

fn item(members: &str) -> String {
    format!(r#"[{{"n":"a",{members}}}]"#)
}

#[test]
fn the_root_leads_to_an_array_or_an_object() {
    let in_array = r#"[{"n":"a","h":true}]"#;
    for (root, body) in [
        ("", in_array.to_owned()),
        ("$", in_array.to_owned()),
        ("a", format!(r#"{{"a":{in_array}}}"#)),
        ("a.b.c", format!(r#"{{"a":{{"b":{{"c":{in_array}}}}}}}"#)),
        ("$.a", format!(r#"{{"a":{in_array}}}"#)),
        (r"a\.b", format!(r#"{{"a.b":{in_array}}}"#)),
        ("a.1", format!(r#"{{"a":[5,{in_array}]}}"#)),
        ("a[1]", format!(r#"{{"a":[5,{in_array}]}}"#)),
        ("a.0", format!(r#"{{"a":{{"0":{in_array}}}}}"#)),
        ("a", format!(r#"{{"a":5,"a":{in_array}}}"#)),
        ("", r#"{"x":{"n":"a","h":true}}"#.to_owned()),
        ("a", r#"{"a":{"x":{"n":"a","h":true}}}"#.to_owned()),
    ] {
        let config = json!({"root": root, "fields": {"name": "n", "healthy": "h"}}).to_string();
        assert_eq!(only(mapped(&config, &body)).name, "a", "{root}: {body}");
    }
}

#[test]
fn a_root_that_leads_nowhere_fails_and_is_named() {
    for (root, body, found) in [
        ("a.b", r#"{"a":{}}"#, "nothing"),
        ("a.b", r#"{"a":5}"#, "nothing"),
        ("a.5", r#"{"a":[]}"#, "nothing"),
        ("a", r#"{"a":null}"#, "null"),
        ("a", r#"{"a":"text"}"#, "a string"),
        ("a", r#"{"a":5}"#, "a number"),
        ("", "true", "a boolean"),
    ] {
        let config = json!({"root": root, "fields": {"name": "n", "healthy": "h"}}).to_string();
        let error = mapped(&config, body).unwrap_err().to_string();
        let told = format!(
            "expected an array or an object at the root {root:?} of the mapping, not {found}"
        );
        assert_eq!(error, told, "{body}");
    }
}

#[test]
fn a_root_without_items_is_a_success() {
    for body in ["[]", "{}"] {
        assert_eq!(told(mapped(&with(&json!({})), body)), (vec![], vec![]));
    }
}

#[test]
fn an_object_has_an_item_for_each_key() {
    let config = json!({"root": "c", "fields": {"name": "$key", "healthy": "s"}}).to_string();
    let body = r#"{"c":{"z":{"s":"UP"},"a.b":{"s":"DOWN"},"bad":5,"\u00e4":{"s":"UP"}}}"#;
    let names = ["z", "a.b", "ä"].map(str::to_owned).to_vec();
    let warnings = vec!["index 2: it is not an object".to_owned()];
    assert_eq!(told(mapped(&config, body)), (names, warnings), "in the order of the body");
    let error = mapped(&config, r#"{"c":[{"s":"UP"}]}"#).unwrap_err().to_string();
    assert!(error.contains(r#""name" is "$key", but the items are those of an array"#), "{error}");
    let twice = r#"{"c":{"a":{"s":"UP"},"a":{"s":"DOWN"}}}"#;
    let report = mapped(&config, twice).unwrap();
    assert!(!report.dependencies[0].healthy, "the worst state counts");
    assert_eq!(report.warnings.len(), 1);
}

#[test]
fn the_words_of_health_are_understood_in_any_case() {
    let words = [
        (true, 0, 200, &["true", "ok", "healthy", "up", "pass", "passing"][..]),
        (false, 2, 500, &["false", "error", "unhealthy", "down", "critical", "fail", "failing"]),
        (true, 1, 200, &["degraded", "warn", "warning"]),
    ];
    for (healthy, state, code, words) in words {
        for word in words {
            let mut title = word.to_uppercase();
            title.replace_range(1.., &word[1..]);
            for word in [(*word).to_owned(), word.to_uppercase(), title] {
                let read = only(mapped(&with(&json!({})), &item(&format!(r#""h":"{word}""#))));
                let judged = (read.healthy, read.state.number(), read.code);
                assert_eq!(judged, (healthy, state, code), "{word}");
            }
        }
    }
    for (value, healthy) in [("true", true), ("false", false)] {
        let read = only(mapped(&with(&json!({})), &item(&format!(r#""h":{value}"#))));
        assert_eq!(read.healthy, healthy);
    }
}

#[test]
fn items_that_can_not_be_read_are_left_out_with_the_reason() {
    for (bad, reason) in [
        ("5", "it is not an object"),
        (r#""UP""#, "it is not an object"),
        (r#"{"h":true}"#, r#""name" is missing at "n""#),
        (r#"{"n":null,"h":true}"#, r#""name" is missing at "n""#),
        (r#"{"n":" ","h":true}"#, r#""name" is blank"#),
        (r#"{"n":{},"h":true}"#, r#""name" at "n" is not a text"#),
        (r#"{"n":true,"h":true}"#, r#""name" at "n" is not a text"#),
        (r#"{"n":"a"}"#, r#""healthy" is missing at "h""#),
        (r#"{"n":"a","h":null}"#, r#""healthy" is missing at "h""#),
        (r#"{"n":"a","h":1}"#, r#""healthy" at "h" is "1", which is no known word"#),
        (
            r#"{"n":"a","h":"OUT_OF_SERVICE"}"#,
            r#""healthy" at "h" is "OUT_OF_SERVICE", which is no known word"#,
        ),
        (r#"{"n":"a","h":{}}"#, r#""healthy" at "h" is neither a boolean nor a word"#),
        (r#"{"n":"a","h":1e999}"#, "it can't be read: number out of range"),
    ] {
        let body = format!(r#"[{bad},{{"n":"good","h":"up"}}]"#);
        let expected = (vec!["good".to_owned()], vec![format!("index 0: {reason}")]);
        assert_eq!(told(mapped(&with(&json!({})), &body)), expected, "{bad}");
    }
}

#[test]
fn a_number_can_be_a_name() {
    let read = only(mapped(&with(&json!({})), r#"[{"n":17,"h":true}]"#));
    assert_eq!(read.name, "17");
}

#[test]
fn a_comparison_looks_at_the_text_of_a_value_in_any_case() {
    for (value, equals, healthy) in [
        (r#""UP""#, "up", true),
        (r#""up""#, "UP", true),
        (r#""GRÜN""#, "grün", true),
        (r#""UP ""#, "up", false),
        (r#""DOWN""#, "up", false),
        ("1", "1", true),
        ("0", "1", false),
        ("1.5", "1.5", true),
        ("true", "TRUE", true),
        ("false", "true", false),
        (r#""""#, "", true),
    ] {
        let config = with(&json!({"healthy": {"field": "h", "equals": equals}}));
        let read = only(mapped(&config, &item(&format!(r#""h":{value}"#))));
        assert_eq!(read.healthy, healthy, "{value} {equals}");
    }
    for members in [r#""x":1"#, r#""h":null"#, r#""h":[1]"#, r#""h":{}"#] {
        let config = with(&json!({"healthy": {"field": "h", "equals": "1"}}));
        let error = mapped(&config, &item(members)).unwrap_err().to_string();
        assert!(error.contains(r#""healthy" is missing at "h""#), "{error}");
    }
}

#[test]
fn every_field_is_taken_from_its_path() {
    let config = with(&json!({
        "latency": "t.ms", "impact": "i", "description": "d", "type": "k", "checkDetails": "c",
        "contact": "who[0]", "error": "e", "errorMessage": "m", "healthy": r"h\.s"
    }));
    let body = item(concat!(
        r#""h.s":"down","t":{"ms":1.5},"i":"no mail","d":7,"k":"smtp","c":{"b":1,"a":2},"#,
        r#""who":[{"mail":"x"}],"e":["b",{"d":1,"c":2}],"m":"refused""#
    ));
    let expected = Reported {
        name: "a".to_owned(),
        kind: "smtp".to_owned(),
        description: Some("7".to_owned()),
        impact: Some("no mail".to_owned()),
        contact: Some(r#"{"mail":"x"}"#.to_owned()),
        check_details: Some(r#"{"a":2,"b":1}"#.to_owned()),
        healthy: false,
        state: mainstay_monitor::HealthState::Down,
        code: 500,
        latency: Duration::from_micros(1_500),
        skipped: false,
        error: Some(r#"["b",{"c":2,"d":1}]"#.to_owned()),
        error_message: Some("refused".to_owned()),
        checked_at: NOW,
    };
    assert_eq!(only(mapped(&config, &body)), expected);
}

#[test]
fn an_optional_field_that_is_not_there_has_its_default() {
    let config = with(&json!({
        "latency": "x", "impact": "x", "description": "x", "type": "x", "checkDetails": "x",
        "contact": "x", "error": "x", "errorMessage": "x", "skipped": "x"
    }));
    let plain = only(mapped(&with(&json!({})), &item(r#""h":"up""#)));
    assert_eq!(plain.kind, "other");
    for members in [r#""h":"up""#, r#""h":"up","x":null"#] {
        assert_eq!(only(mapped(&config, &item(members))), plain, "{members}");
    }
    let lists =
        with(&json!({"checkDetails": "x", "contact": "x", "errorMessage": "x", "type": "x"}));
    assert_eq!(only(mapped(&lists, &item(r#""h":"up","x":[1]"#))), plain, "objects only");
}

#[test]
fn a_comparison_can_stand_for_texts_too() {
    let config = with(
        &json!({"type": {"field": "k", "equals": "db"}, "latency": {"field": "k", "equals": "db"}}),
    );
    let report = mapped(&config, &item(r#""h":"up","k":"DB""#)).unwrap();
    assert_eq!(report.dependencies[0].kind, "true");
    assert_eq!(report.dependencies[0].latency, Duration::ZERO);
    let told = r#"index 0: "latency" is not a time up to a day and was left out"#;
    assert_eq!(report.warnings[0].to_string(), told);
}

#[test]
fn skipped_is_looked_at_before_healthy() {
    let path = with(&json!({"skipped": "s"}));
    let comparison = with(&json!({"skipped": {"field": "s", "equals": "off"}}));
    for (config, members) in [
        (&path, r#""s":true"#),
        (&path, r#""s":"True","h":"down""#),
        (&path, r#""s":true,"h":"nobody knows""#),
        (&comparison, r#""s":"OFF","h":false"#),
    ] {
        let read = only(mapped(config, &item(members)));
        let judged = (read.skipped, read.healthy, read.state.number(), read.code);
        assert_eq!(judged, (true, true, 0, 200), "{members}");
    }
    for (config, members) in [
        (&path, r#""s":false,"h":"down""#),
        (&path, r#""h":"down""#),
        (&comparison, r#""s":"on","h":false"#),
        (&comparison, r#""h":false"#),
    ] {
        let read = only(mapped(config, &item(members)));
        assert_eq!((read.skipped, read.healthy), (false, false), "{members}");
    }
    let report = mapped(&path, &item(r#""s":"perhaps","h":"down""#)).unwrap();
    assert!(!report.dependencies[0].skipped);
    let told = r#"index 0: "skipped" is not a boolean and was left out"#;
    assert_eq!(report.warnings[0].to_string(), told);
}

#[test]
fn json_that_does_not_fit_is_left_out_with_a_warning() {
    let config = with(&json!({"error": "e"}));
    let large = format!(r#""h":"up","e":"{}""#, "x".repeat(16 * 1024));
    let (_, warnings) = told(mapped(&config, &item(&large)));
    assert_eq!(warnings, [r#"index 0: "error" is larger than 16384 bytes and was left out"#]);
}

#[test]
fn the_item_itself_can_be_a_field() {
    let read = only(mapped(&with(&json!({"checkDetails": "$"})), &item(r#""h":"up""#)));
    assert_eq!(read.check_details.as_deref(), Some(r#"{"h":"up","n":"a"}"#));
}
