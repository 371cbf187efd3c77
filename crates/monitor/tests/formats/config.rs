//! Formats and mappings as people write them.

use mainstay_monitor::{Format, Mapping};
use serde_json::json;

#[test]
fn a_format_has_a_name_and_is_read_by_it() {
    let mapping = r#"{"root":"","fields":{"name":"n","healthy":"h"}}"#;
    for (name, config) in [("proactive-deps", None), ("status", None), ("schema", Some(mapping))] {
        let format = Format::parse(name, config).unwrap();
        assert_eq!(format.name(), name);
        let again = Format::parse(name, format.schema_config().as_deref()).unwrap();
        assert_eq!(again, format);
        assert_eq!(Format::parse(name, Some("null")).is_ok(), config.is_none());
    }
    assert_eq!(Format::default(), Format::ProactiveDeps);
}

#[test]
fn a_mapping_is_kept_as_it_was_given_in_canonical_form() {
    let given = r#" {"root" : "checks.items",
        "fields": {"type":"kind","name":"$key", "skipped":{"field":"a\\.b","equals":"Yes"},
        "healthy":{"equals":"UP","field":"status"}, "latency":null, "errorMessage":"e[0].m"} } "#;
    let canonical = concat!(
        r#"{"fields":{"errorMessage":"e[0].m","healthy":{"equals":"UP","field":"status"},"#,
        r#""name":"$key","skipped":{"equals":"Yes","field":"a\\.b"},"type":"kind"},"#,
        r#""root":"checks.items"}"#
    );
    let format = Format::parse("schema", Some(given)).unwrap();
    assert_eq!(format.schema_config().as_deref(), Some(canonical));
    assert_eq!(Format::parse("schema", Some(canonical)).unwrap(), format);
    let value = serde_json::from_str(given).unwrap();
    assert_eq!(Format::from_value("schema", Some(&value)).unwrap(), format);
    let mapping = Mapping::from_value(&value).unwrap();
    assert_eq!(serde_json::to_string(&mapping).unwrap(), canonical);
}

/// A mapping with all fields is taken back as it is.
#[test]
fn every_field_is_kept() {
    let fields = json!({
        "name": "a", "healthy": "b", "latency": "c", "impact": "d", "description": "e", "type": "f",
        "skipped": "g", "checkDetails": "h", "contact": "i", "error": "j", "errorMessage": "k"
    });
    let given = json!({"root": "$", "fields": fields});
    assert_eq!(Mapping::from_value(&given).unwrap().to_value(), given);
}

/// The key and the message of the error.
fn refused(name: &str, config: Option<&str>) -> (String, String) {
    let error = Format::parse(name, config).unwrap_err();
    (error.key().to_owned(), error.to_string())
}

#[test]
fn a_wrong_format_says_what_to_do() {
    for (name, config, key, told) in [
        (
            "yaml",
            None,
            "format",
            r#"there is no format "yaml"; there are proactive-deps, schema and status"#,
        ),
        ("Schema", None, "format", r#"there is no format "Schema""#),
        ("schema", None, "schema_config", "the format schema needs schema_config"),
        ("schema", Some("null"), "schema_config", "the format schema needs schema_config"),
        ("status", Some("{}"), "schema_config", "the format status takes no schema_config"),
        ("proactive-deps", Some("{}"), "schema_config", "the format proactive-deps takes no"),
        ("schema", Some("{"), "schema_config", "schema_config is not JSON: EOF"),
        ("schema", Some("[]"), "schema_config", "schema_config must be an object"),
    ] {
        let (found, message) = refused(name, config);
        assert_eq!(found, key, "{message}");
        assert!(message.starts_with(told), "{message}");
    }
}

#[test]
fn a_wrong_mapping_names_the_key() {
    let long = format!(r#"{{"root":"","fields":{{"name":"{}","healthy":"h"}}}}"#, "n".repeat(257));
    let equals = format!(
        r#"{{"root":"","fields":{{"name":"n","healthy":{{"field":"h","equals":"{}"}}}}}}"#,
        "e".repeat(257)
    );
    for (config, key, told) in [
        (r#"{"fields":{}}"#, "schema_config.root", "is missing; give the path to the items"),
        (r#"{"root":5,"fields":{}}"#, "schema_config.root", "must be the path to the items"),
        (r#"{"root":"a..b","fields":{}}"#, "schema_config.root", "the path has an empty step"),
        (r#"{"root":""}"#, "schema_config.fields", "is missing; give an object"),
        (r#"{"root":"","fields":[]}"#, "schema_config.fields", "must be an object"),
        (
            r#"{"root":"","field":{}}"#,
            "schema_config.field",
            "is not known; schema_config takes root, fields",
        ),
        (
            r#"{"root":"","fields":{"healthy":"h"}}"#,
            "schema_config.fields.name",
            "is missing; give a path",
        ),
        (
            r#"{"root":"","fields":{"name":"n"}}"#,
            "schema_config.fields.healthy",
            "is missing; give a path",
        ),
        (
            r#"{"root":"","fields":{"name":5,"healthy":"h"}}"#,
            "schema_config.fields.name",
            "must be a path",
        ),
        (
            r#"{"root":"","fields":{"name":"","healthy":"h"}}"#,
            "schema_config.fields.name",
            "the path is empty",
        ),
        (
            r#"{"root":"","fields":{"name":{"field":"n","equals":"a"},"healthy":"h"}}"#,
            "schema_config.fields.name",
            "must be a path",
        ),
        (
            r#"{"root":"","fields":{"name":"n","healthy":true}}"#,
            "schema_config.fields.healthy",
            "must be a path",
        ),
        (
            r#"{"root":"","fields":{"name":"n","healthy":"h","latencyMs":"l"}}"#,
            "schema_config.fields.latencyMs",
            "is not known; schema_config.fields takes name, healthy",
        ),
        (
            r#"{"root":"","fields":{"name":"n","healthy":"h","contact":{"field":"c","equals":"d"}}}"#,
            "schema_config.fields.contact",
            "must be a path",
        ),
        (
            r#"{"root":"","fields":{"name":"n","healthy":{"equals":"UP"}}}"#,
            "schema_config.fields.healthy.field",
            "is missing",
        ),
        (
            r#"{"root":"","fields":{"name":"n","healthy":{"field":"h"}}}"#,
            "schema_config.fields.healthy.equals",
            "is missing",
        ),
        (
            r#"{"root":"","fields":{"name":"n","healthy":{"field":"h","equals":true}}}"#,
            "schema_config.fields.healthy.equals",
            "must be a text",
        ),
        (
            r#"{"root":"","fields":{"name":"n","healthy":{"field":"h","equal":"UP"}}}"#,
            "schema_config.fields.healthy.equal",
            "is not known",
        ),
        (&long, "schema_config.fields.name", "the path has more than 256 characters"),
        (&equals, "schema_config.fields.healthy.equals", "must be a text of at most 256"),
    ] {
        let (found, message) = refused("schema", Some(config));
        assert_eq!(found, key, "{message}");
        assert!(message.starts_with(key) && message.contains(told), "{message}");
    }
}

#[test]
fn a_mapping_has_a_size() {
    let text = format!("{}{{}}", " ".repeat(16 * 1024));
    let (key, message) = refused("schema", Some(&text));
    assert_eq!(key, "schema_config");
    assert_eq!(message, "schema_config has 16386 bytes; it may have at most 16384");
    let path = "\u{1F600}".repeat(256);
    let rule = json!({"field": path, "equals": path});
    let fields = json!({
        "name": path, "healthy": rule, "latency": rule, "impact": rule, "description": rule,
        "type": rule, "skipped": rule, "contact": path, "error": path, "errorMessage": path,
        "checkDetails": path
    });
    let error = Mapping::from_value(&json!({"root": path, "fields": fields})).unwrap_err();
    assert!(error.to_string().ends_with("it may have at most 16384"), "{error}");
}

#[test]
fn what_others_wrote_is_cut_in_an_error() {
    let (_, message) = refused(&"x".repeat(10_000), None);
    assert!(message.len() < 200, "{message}");
    let config = format!(r#"{{"{}":1}}"#, "x".repeat(10_000));
    let (key, message) = refused("schema", Some(&config));
    assert!(key.len() < 100 && message.len() < 200, "{message}");
}
