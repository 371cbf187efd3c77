//! The committed document is the one that the code makes, and it is complete.

use serde_json::Value;

const SNAPSHOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/api/openapi.json");

#[test]
fn the_committed_document_is_the_one_the_code_makes() {
    let committed = std::fs::read_to_string(SNAPSHOT).unwrap_or_default();
    assert!(
        committed == crate::openapi(),
        "docs/api/openapi.json is not what the code makes; renew it with \
         `cargo run -- openapi > openapi.new && mv openapi.new docs/api/openapi.json`"
    );
}

#[test]
fn every_operation_is_named_and_says_how_it_fails() {
    let document: Value = serde_json::from_str(&crate::openapi()).unwrap();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    let mut names = std::collections::HashSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let place = format!("{method} {path}");
            let name = operation["operationId"].as_str().unwrap_or_else(|| panic!("{place}"));
            assert!(names.insert(name.to_owned()), "{name} is there twice");
            assert!(operation["summary"].as_str().is_some_and(|text| !text.is_empty()), "{place}");
            assert!(operation["tags"].as_array().is_some_and(|tags| tags.len() == 1), "{place}");
            let failure = &operation["responses"]["default"]["content"]["application/json"];
            assert_eq!(failure["schema"]["$ref"], "#/components/schemas/ErrorBody", "{place}");
        }
    }
}

#[test]
fn every_reference_leads_somewhere() {
    let document: Value = serde_json::from_str(&crate::openapi()).unwrap();
    let mut left = vec![&document];
    let mut seen = 0;
    while let Some(value) = left.pop() {
        match value {
            Value::Object(fields) => {
                if let Some(reference) = fields.get("$ref").and_then(Value::as_str) {
                    let place = reference.strip_prefix('#').unwrap();
                    assert!(document.pointer(place).is_some(), "{reference}");
                    seen += 1;
                }
                left.extend(fields.values());
            }
            Value::Array(items) => left.extend(items),
            _ => {}
        }
    }
    assert!(seen > 0);
}
