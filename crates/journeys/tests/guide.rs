//! What the guide shows is right, and an editor thinks so too.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

use std::path::PathBuf;

use mainstay_journeys::{Journey, schema};

fn docs(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(path)
}

/// The journeys of the guide: the example and the five recipes.
fn journeys() -> Vec<String> {
    let guide = std::fs::read_to_string(docs("guide/journeys.md")).unwrap();
    let blocks = guide.split("```yaml\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn every_journey_of_the_guide_has_no_mistake() {
    let journeys = journeys();
    assert_eq!(journeys.len(), 6);
    for text in journeys {
        if let Err(mistakes) = Journey::parse(&text) {
            let told: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
            panic!("{}\n{text}", told.join("\n"));
        }
    }
}

#[test]
fn the_schema_is_as_it_was() {
    let stored = std::fs::read_to_string(docs("api/journey.schema.json")).unwrap_or_default();
    assert!(
        stored == schema(),
        "it changed: cargo run -- journey schema > docs/api/journey.schema.json"
    );
}

#[test]
fn the_schema_takes_what_is_right_and_finds_what_is_not() {
    let schema = serde_json::from_str(&schema()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let read = |text: &str| -> serde_json::Value { serde_saphyr::from_str(text).unwrap() };
    for text in journeys() {
        let errors: Vec<String> =
            validator.iter_errors(&read(&text)).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}\n{text}");
    }
    let right = read("{journey: 5, steps: [{id: a, get: http://x}]}");
    assert!(validator.is_valid(&right), "a number is a name, as `journey check` says");
    for wrong in [
        "{journey: x, steps: []}",
        "{journey: x, steps: [{id: a}]}",
        "{journey: x, steps: [{id: a, get: http://x, post: http://x}]}",
        "steps: []",
        "{journey: x, stps: [], steps: []}",
        "{journey: x, every: 60, steps: []}",
        "{journey: x, mode: often, steps: []}",
        "{journey: x, steps: [{id: a, get: http://x, expect: {status: 999}}]}",
        "{journey: x, steps: [{id: a, get: http://x, poll: {get: http://x, every: 1s, when: []}}]}",
    ] {
        assert!(!validator.is_valid(&read(wrong)), "{wrong}");
    }
}

/// A step with this in it, or a poll, or an `expect`.
fn with(more: &str) -> String {
    let rules = "when: [{do: done}]";
    let base = match more.split_once(' ') {
        Some(("poll", rest)) => {
            format!("poll: {{get: 'http://x', every: 1s, within: 5s, {rules}, {rest}}}")
        }
        Some(("rule", rest)) => {
            format!(
                "poll: {{get: 'http://x', every: 1s, within: 5s, when: [{{{rest}}}, {{do: done}}]}}"
            )
        }
        Some(("expect", rest)) => format!("expect: {{{rest}}}"),
        _ => more.to_owned(),
    };
    format!("{{journey: x, steps: [{{id: a, get: 'http://x', {base}}}]}}")
}

#[test]
fn the_schema_and_the_parser_are_of_one_mind() {
    let schema = serde_json::from_str(&schema()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let long = "x".repeat(121);
    let whole = [
        ("{journey: x, steps: [{id: 1, get: 'http://x'}]}".to_owned(), true),
        ("{journey: x, steps: [{id: 'a b', get: 'http://x'}]}".to_owned(), false),
        ("{journey: x, steps: [{id: a, get: 'http://x', post: null}]}".to_owned(), true),
        ("{journey: x, steps: [{id: a, get: null}]}".to_owned(), false),
        ("{journey: x, steps: [{id: a, get: 'ftp://x'}]}".to_owned(), false),
        ("{journey: x, touches: [5, a], steps: [{id: a, get: 'http://x'}]}".to_owned(), true),
        ("{journey: x, vars: {a-b: 1}, steps: [{id: a, get: 'http://x'}]}".to_owned(), false),
        ("{journey: x, every: null, steps: [{id: a, get: 'http://x'}]}".to_owned(), true),
        (format!("{{journey: {long}, steps: [{{id: a, get: 'http://x'}}]}}"), false),
        (format!("{{journey: x, touches: [{long}], steps: [{{id: a, get: 'http://x'}}]}}"), false),
    ];
    let parts = [
        ("headers: {X-A: 5}", true),
        ("headers: {X-A: [5]}", false),
        ("form: {a: 5, b: true}", true),
        ("body: 5", true),
        ("json: {a: 1}", true),
        ("json: {}, body: x", false),
        ("json: {}, body: null", true),
        ("form: {a: b}, body: x", false),
        ("emit: [5]", true),
        ("emit: 5", false),
        ("emit: 'a b'", false),
        ("needs: 'a'", false),
        ("capture: {a: $.b}", true),
        ("capture: {a: b}", false),
        ("capture: {a b: $.b}", false),
        ("timeout: 5", false),
        ("expect headers: {a: 5}", true),
        ("expect body_contains: [5]", true),
        ("expect body_contains: 404", false),
        ("expect body_contains: ''", false),
        ("expect body_contains: [a, '']", false),
        ("expect status: [200, 4xx]", true),
        ("expect status: 600", false),
        ("poll on_timeout: {error: 5}", true),
        ("poll on_timeout: never", false),
        ("poll max_polls: 0", false),
        ("poll max_polls: 100000", true),
        ("poll max_polls: 100001", false),
        ("poll tolerate: 1001", false),
        ("rule if: {status: 500}, do: error, reason: 5", true),
        ("rule if: {foo: 1}, do: done", false),
        ("rule if: {}, do: done", false),
        ("rule if: [], do: done", false),
        ("rule if: [{$.a: 1}, {status: 2xx}], do: done", true),
        ("rule if: {error: true}, do: done", true),
        ("rule if: {error: [timeout, dns]}, do: done", true),
        ("rule if: {error: nothing}, do: done", false),
        ("rule if: {error: true, status: 200}, do: done", false),
        ("poll when: []", false),
    ];
    let parts = parts.map(|(part, is_right)| match part {
        // A key that stands there twice is another mistake.
        "poll when: []" => {
            (with("poll: {get: 'http://x', every: 1s, within: 5s, when: []}"), is_right)
        }
        part => (with(part), is_right),
    });
    for (text, is_right) in whole.into_iter().chain(parts) {
        let parsed = Journey::parse(&text).map(drop);
        let valid = validator.is_valid(&serde_saphyr::from_str(&text).unwrap());
        assert_eq!((parsed.is_ok(), valid), (is_right, is_right), "{text}: {parsed:?}");
    }
}
