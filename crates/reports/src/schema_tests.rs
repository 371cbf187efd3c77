//! Reports that are some, and answers that are none.

use serde_json::json;

use super::*;

fn claim() -> Value {
    json!({ "text": "the pool was full", "evidence": [{ "quote": "pool is full", "timecode": "00:01:02" }] })
}

fn report() -> Value {
    json!({
        "title": "Checkout was down",
        "summary": "The pool was full.",
        "impact": { "text": "Nobody could pay.", "evidence": [] },
        "severity": "high",
        "started_at": "2026-11-17T10:00:00Z",
        "ended_at": null,
        "timeline": [{ "at": "00:01:02", "what": "the pool is full", "evidence": claim()["evidence"] }],
        "root_causes": [claim()],
        "contributing_factors": [],
        "what_went_well": [claim()],
        "actions": [{ "owner": null, "action": "raise it", "due": null, "evidence": claim()["evidence"] }],
        "affected_dependencies": [{ "name": "postgres", "effect": "refused", "evidence": claim()["evidence"] }],
        "open_questions": [{ "question": "why now?", "evidence": claim()["evidence"] }],
    })
}

fn with(pointer: &str, value: Value) -> Value {
    let mut report = report();
    *report.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = value;
    report
}

#[test]
fn a_report_is_one() {
    assert_eq!(validate(&report()), Ok(()));
    let html = with("/title", json!("<script>alert(1)</script>"));
    assert_eq!(validate(&html), Ok(()), "text is text, whatever stands in it");
}

#[test]
fn what_is_wrong_is_told_by_path_and_keyword() {
    let long = "x".repeat(1_001);
    for (pointer, value, path, keyword) in [
        ("/severity", json!("very bad"), "/severity", "enum"),
        ("/title", json!(""), "/title", "minLength"),
        ("/title", json!(17), "/title", "type"),
        ("/title", json!(null), "/title", "type"),
        ("/root_causes/0/text", json!(long), "/root_causes/0/text", "maxLength"),
        ("/root_causes/0/evidence", json!([]), "/root_causes/0/evidence", "minItems"),
        (
            "/root_causes/0/evidence/0",
            json!({ "quote": "x" }),
            "/root_causes/0/evidence/0/timecode",
            "required",
        ),
        ("/timeline", json!(vec![1; 101]), "/timeline", "maxItems"),
        ("/impact/text", json!({}), "/impact/text", "type"),
        ("", json!([]), "/", "type"),
    ] {
        let error = validate(&with(pointer, value)).unwrap_err();
        let is_told = |problem: &SchemaProblem| problem.path == path && problem.keyword == keyword;
        assert!(error.errors.iter().any(is_told), "{pointer}: {error:?}");
        assert!(error.summary.contains(path) && error.summary.contains(keyword), "{error}");
    }
}

#[test]
fn a_field_that_is_none_of_ours_is_refused_everywhere() {
    for pointer in
        ["", "/impact", "/timeline/0", "/root_causes/0", "/actions/0", "/root_causes/0/evidence/0"]
    {
        let mut report = report();
        let object = report.pointer_mut(pointer).unwrap().as_object_mut().unwrap();
        object.insert("extra".to_owned(), json!(1));
        let error = validate(&report).unwrap_err();
        assert_eq!(error.errors[0].keyword, "additionalProperties", "{pointer}");
    }
}

#[test]
fn every_field_is_required() {
    for field in report().as_object().unwrap().keys() {
        let mut report = report();
        report.as_object_mut().unwrap().remove(field);
        let error = validate(&report).unwrap_err();
        let SchemaProblem { path, keyword } = &error.errors[0];
        assert_eq!((path, keyword.as_str()), (&format!("/{field}"), "required"));
    }
}

#[test]
fn what_is_told_is_bounded_and_holds_nothing_of_the_answer() {
    let mut report = report();
    for at in 0..50 {
        let name = format!("{at}{}\n", "k".repeat(500));
        report.as_object_mut().unwrap().insert(name, json!("hunter2"));
    }
    for field in ["title", "summary", "severity", "timeline", "root_causes"] {
        report[field] = json!({ "secret": "hunter2" });
    }
    let error = validate(&report).unwrap_err();
    assert_eq!(error.errors.len(), MAX_ERRORS);
    assert!(error.summary.chars().count() <= MAX_SUMMARY);
    assert!(error.summary.contains("more"), "{error}");
    assert!(!error.to_string().contains("hunter2"), "{error}");
    let long = SchemaProblem { path: "p".repeat(200), keyword: "type".to_owned() };
    let cut = summary(&[long.clone(), long.clone(), long], 9);
    assert_eq!(cut.chars().count(), MAX_SUMMARY);
}

/// All objects of the strict copy: closed, and every property required.
fn check_strict(schema: &Value) {
    if let Some(keywords) = schema.as_object() {
        for (name, _) in REFUSED {
            assert!(!keywords.contains_key(name), "{name} in {schema}");
        }
        if let Some(properties) = keywords.get("properties").and_then(Value::as_object) {
            assert_eq!(keywords["additionalProperties"], json!(false), "{schema}");
            let mut named: Vec<&str> = properties.keys().map(String::as_str).collect();
            let mut required: Vec<&str> = keywords["required"]
                .as_array()
                .unwrap()
                .iter()
                .map(|one| one.as_str().unwrap())
                .collect();
            named.sort_unstable();
            required.sort_unstable();
            assert_eq!(named, required);
            properties.values().for_each(check_strict);
        }
        for name in ["items", "$defs"] {
            match keywords.get(name) {
                Some(Value::Object(defs)) if name == "$defs" => {
                    defs.values().for_each(check_strict);
                }
                Some(items) => check_strict(items),
                None => {}
            }
        }
    }
}

#[test]
fn the_strict_copy_has_what_strict_modes_take() {
    let strict = strict(TEXT);
    check_strict(&strict);
    assert!(strict["properties"]["title"].is_object(), "a property of the name of a keyword stays");
    let told = strict["properties"]["timeline"]["description"].as_str().unwrap();
    assert!(told.contains("100 items at most"), "{told}");
    assert!(jsonschema::draft202012::new(&strict).unwrap().is_valid(&report()));
}

#[test]
fn the_schema_is_a_schema() {
    let schema: Value = serde_json::from_str(TEXT).unwrap();
    assert!(jsonschema::draft202012::meta::is_valid(&schema));
    assert!(VALIDATOR.is_some());
}
