//! Whatever a body or a mapping holds: no panic, the same answer each time, everything within its bounds.

use std::collections::HashSet;

use mainstay_monitor::formats::bounds::{
    MAX_ITEMS, MAX_JSON_BYTES, MAX_KIND_CHARS, MAX_LATENCY, MAX_NAME_CHARS, MAX_TEXT_CHARS,
    MAX_WARNINGS,
};
use mainstay_monitor::{Format, Report, Reported};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::NOW;

/// Names of members that the readers look at, and others.
fn key() -> impl Strategy<Value = String> {
    const KNOWN: &[&str] = &[
        "name",
        "healthy",
        "health",
        "state",
        "code",
        "latency",
        "skipped",
        "healthCode",
        "latencyMs",
        "type",
        "description",
        "impact",
        "contact",
        "checkDetails",
        "error",
        "errorMessage",
        "lastChecked",
        "items",
        "a.b",
        "0",
    ];
    prop_oneof![4 => prop::sample::select(KNOWN).prop_map(str::to_owned), 1 => ".{0,6}"]
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1i64..4).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(&["up", "DOWN", "warn", "a", "b", "\0", "2026-01-01T00:00:00Z"][..])
            .prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        (0usize..3_000).prop_map(|length| Value::from("ä".repeat(length))),
    ]
}

fn tree() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key(), inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Items that are mostly right, so that the tests get past the first look.
fn item() -> impl Strategy<Value = Value> {
    let members = prop::collection::vec((key(), tree()), 0..5);
    (members, "[ab]{0,2}|.{0,8}|x{250,260}", any::<bool>()).prop_map(|(members, name, healthy)| {
        let mut item: serde_json::Map<_, _> = members.into_iter().collect();
        item.insert("name".to_owned(), name.into());
        item.insert("healthy".to_owned(), healthy.into());
        Value::Object(item)
    })
}

fn body() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => prop::collection::vec(prop_oneof![4 => item().boxed(), 1 => tree().boxed()], 0..8)
            .prop_map(|items| Value::from(items).to_string()),
        2 => tree().prop_map(|value| value.to_string()),
        1 => ".{0,40}",
        1 => r#"[\[\]{}",:0-9a-z\\ ]{0,80}"#,
    ]
}

fn path() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => key(),
        1 => prop::collection::vec(key(), 1..4).prop_map(|keys| keys.join(".")),
        1 => r"[a-b.$\\\[\]0-9]{0,12}",
        1 => "x{250,260}",
    ]
}

fn rule() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => path().prop_map(Value::from),
        2 => (path(), ".{0,8}").prop_map(|(field, equals)| json!({"field": field, "equals": equals})),
    ]
}

/// A mapping that is sometimes right.
fn config() -> impl Strategy<Value = Value> {
    let root = prop_oneof![3 => Just(String::new()), 1 => path()];
    let fields = prop::collection::vec((key(), rule()), 0..6);
    (root, fields, rule(), rule()).prop_map(|(root, fields, name, healthy)| {
        let mut fields: serde_json::Map<_, _> = fields.into_iter().collect();
        fields.insert("name".to_owned(), name);
        fields.insert("healthy".to_owned(), healthy);
        json!({"root": root, "fields": fields})
    })
}

/// Mappings that are right, for trees of the keys above.
fn mapping() -> impl Strategy<Value = Format> {
    let root = prop::sample::select(&["", "$", "items", "health", "0", r"a\.b"][..]);
    let name = prop::sample::select(&["name", "$key", "health.name"][..]);
    (root, name, any::<bool>()).prop_map(|(root, name, compared)| {
        let healthy = if compared { json!({"field": "healthy", "equals": "true"}) } else { json!("healthy") };
        let fields = json!({
            "name": name, "healthy": healthy, "latency": "latencyMs", "impact": "impact",
            "description": "description", "type": "type", "skipped": "skipped", "contact": "contact",
            "checkDetails": "checkDetails", "error": "error", "errorMessage": "errorMessage"
        });
        Format::from_value("schema", Some(&json!({"root": root, "fields": fields}))).unwrap()
    })
}

fn is_short(text: &str, max: usize) -> bool {
    text.chars().count() <= max && !text.contains('\0')
}

fn is_bounded(one: &Reported) -> bool {
    let texts = [&one.description, &one.impact, &one.error_message];
    let blobs = [&one.contact, &one.check_details, &one.error];
    let is_canonical = |json: &String| {
        json.len() <= MAX_JSON_BYTES
            && !json.contains('\0')
            && serde_json::from_str::<Value>(json).is_ok()
    };
    is_short(&one.name, MAX_NAME_CHARS)
        && !one.name.trim().is_empty()
        && is_short(&one.kind, MAX_KIND_CHARS)
        && texts.into_iter().flatten().all(|text| is_short(text, MAX_TEXT_CHARS))
        && blobs.into_iter().flatten().all(is_canonical)
        && one.latency <= MAX_LATENCY
        && one.checked_at <= NOW
        && (!one.skipped || one.healthy)
}

fn check(format: &Format, body: &[u8]) -> Result<(), TestCaseError> {
    let read = format.read(body, NOW);
    prop_assert_eq!(&read, &format.read(body, NOW), "the same each time");
    let report = match read {
        Ok(report) => report,
        Err(error) => {
            prop_assert!(error.to_string().len() < 2_000, "{}", error);
            return Ok(());
        }
    };
    let Report { dependencies, warnings } = report;
    prop_assert!(dependencies.len() <= MAX_ITEMS && warnings.len() <= MAX_WARNINGS);
    let names: HashSet<&str> = dependencies.iter().map(|one| one.name.as_str()).collect();
    prop_assert_eq!(names.len(), dependencies.len(), "each name once");
    let reasons: HashSet<&str> = warnings.iter().map(|one| one.reason.as_str()).collect();
    prop_assert_eq!(reasons.len(), warnings.len(), "each reason once");
    for one in &dependencies {
        prop_assert!(is_bounded(one), "{:?}", one);
    }
    prop_assert!(warnings.iter().all(|one| one.count > 0 && is_short(&one.reason, 800)));
    Ok(())
}

proptest! {
    #[test]
    fn whatever_the_bytes_are(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        check(&Format::ProactiveDeps, &bytes)?;
    }

    #[test]
    fn whatever_the_array_holds(body in body()) {
        check(&Format::ProactiveDeps, body.as_bytes())?;
    }

    /// One bad item has all of them read one by one instead of in one go.
    #[test]
    fn a_bad_item_changes_nothing_about_the_others(items in prop::collection::vec(item(), 0..6)) {
        let alone = Format::ProactiveDeps.read(Value::from(items.clone()).to_string().as_bytes(), NOW);
        let joined = Value::from([items, vec![Value::from(7)]].concat()).to_string();
        let beside = Format::ProactiveDeps.read(joined.as_bytes(), NOW);
        match alone {
            Ok(report) if !report.dependencies.is_empty() => {
                let beside = beside.unwrap();
                prop_assert_eq!(&beside.dependencies, &report.dependencies);
                let bad = beside.warnings.iter().find(|one| one.reason == "it is not an object");
                prop_assert!(bad.is_some());
            }
            _ => prop_assert!(beside.is_err()),
        }
    }

    #[test]
    fn whatever_a_mapping_is_applied_to(format in mapping(), body in body()) {
        check(&format, body.as_bytes())?;
    }

    #[test]
    fn a_mapping_that_is_taken_is_taken_back(config in config(), body in body()) {
        let given = Format::from_value("schema", Some(&config));
        match given {
            Err(error) => prop_assert!(error.to_string().len() < 800, "{}", error),
            Ok(format) => {
                let stored = format.schema_config().unwrap();
                let again = Format::parse("schema", Some(&stored));
                prop_assert_eq!(again.as_ref(), Ok(&format));
                prop_assert_eq!(serde_json::from_str::<Value>(&stored).unwrap(), config);
                check(&format, body.as_bytes())?;
            }
        }
    }

    #[test]
    fn whatever_the_text_of_a_mapping_is(text in body()) {
        if let Ok(format) = Format::parse("schema", Some(&text)) {
            prop_assert_eq!(format.name(), "schema");
        }
    }
}
