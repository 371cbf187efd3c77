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
