//! The form of a report, and whether an answer has it. Pure.

use std::sync::LazyLock;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::{Map, Value};

/// Which schema reports are checked against.
pub const VERSION: &str = "v1";

/// The schema itself (JSON Schema 2020-12).
pub const TEXT: &str = include_str!("../schemas/report/v1.json");

/// The most errors that are told.
pub const MAX_ERRORS: usize = 3;

/// The most characters of the summary of what is wrong.
pub const MAX_SUMMARY: usize = 280;

/// The most characters of a path to what is wrong: its keys may come from the model.
const MAX_PATH: usize = 80;

/// What strict modes refuse, and what it says to the model instead.
const REFUSED: [(&str, Option<&str>); 9] = [
    ("$schema", None),
    ("$id", None),
    ("title", None),
    ("minLength", None),
    ("maxLength", Some("characters at most")),
    ("minItems", Some("items at least")),
    ("maxItems", Some("items at most")),
    ("pattern", None),
    ("format", None),
];

/// Compiled once.
static VALIDATOR: LazyLock<Option<Validator>> = LazyLock::new(|| {
    let schema = serde_json::from_str(TEXT).ok()?;
    jsonschema::draft202012::new(&schema).ok()
});

/// An answer that is no report.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{summary}")]
pub struct SchemaError {
    /// What is wrong in one line of at most [`MAX_SUMMARY`] characters, without what the model wrote.
    pub summary: String,
    /// At most [`MAX_ERRORS`] of the errors.
    pub errors: Vec<SchemaProblem>,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct SchemaProblem {
    /// Where, as a JSON pointer; the whole answer is `/`.
    pub path: String,
    /// The keyword of the schema that it breaks.
    pub keyword: String,
}

impl SchemaError {
    /// The word for it on jobs and files.
    pub const CODE: &'static str = "schema_validation_failed";
}

/// Whether an answer is a report.
///
/// # Errors
/// [`SchemaError`] says where it is none.
pub fn validate(report: &Value) -> Result<(), SchemaError> {
    // The schema is part of the program: a test reads it.
    let Some(validator) = VALIDATOR.as_ref() else {
        return Err(SchemaError { summary: "the schema can't be read".to_owned(), errors: vec![] });
    };
    if validator.is_valid(report) {
        return Ok(());
    }
    let mut count = 0_usize;
    let mut errors = Vec::new();
    for error in validator.iter_errors(report) {
        count = count.saturating_add(1);
        if errors.len() < MAX_ERRORS {
            errors.push(SchemaProblem::of(&error));
        }
    }
    Err(SchemaError { summary: summary(&errors, count), errors })
}

/// The schema for servers that hold a model to it: without the keywords that strict modes refuse. What
/// they bound is told in words, and checked by [`validate`] afterwards.
#[must_use]
pub fn strict(schema: &str) -> Value {
    let mut schema = serde_json::from_str(schema).unwrap_or(Value::Null);
    relax(&mut schema);
    schema
}

impl SchemaProblem {
    fn of(error: &ValidationError<'_>) -> Self {
        // What is missing has no place of its own: it is told by where it should be.
        let missing = match error.kind() {
            ValidationErrorKind::Required { property } => property.as_str(),
            _ => None,
        };
        let missing = missing.map(|name| format!("/{name}")).unwrap_or_default();
        let path: String = error.instance_path().as_str().chars().take(MAX_PATH).collect();
        let path = path + &missing;
        let path: String =
            path.chars().map(|one| if one.is_control() { '?' } else { one }).collect();
        let path = if path.is_empty() { "/".to_owned() } else { path };
        Self { path, keyword: error.kind().keyword().to_owned() }
    }
}

fn summary(errors: &[SchemaProblem], count: usize) -> String {
    let told: Vec<String> =
        errors.iter().map(|error| format!("{} ({})", error.path, error.keyword)).collect();
    let more = match count.saturating_sub(errors.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let text = format!("the model's answer is no report: {}{more}", told.join(", "));
    if text.chars().nth(MAX_SUMMARY).is_none() {
        return text;
    }
    text.chars().take(MAX_SUMMARY.saturating_sub(1)).chain(['…']).collect()
}

/// A property may be called like a keyword, so only schemas are looked at, not what names them.
fn relax(schema: &mut Value) {
    let Value::Object(keywords) = schema else { return };
    let bounds: Vec<String> = REFUSED
        .iter()
        .filter_map(|(name, words)| {
            let bound = keywords.remove(*name)?;
            words.map(|words| format!("{bound} {words}"))
        })
        .collect();
    describe(keywords, &bounds);
    for (name, inner) in keywords.iter_mut() {
        match (name.as_str(), inner) {
            ("properties" | "$defs", Value::Object(named)) => named.values_mut().for_each(relax),
            ("items", inner) => relax(inner),
            _ => {}
        }
    }
}

fn describe(keywords: &mut Map<String, Value>, bounds: &[String]) {
    if bounds.is_empty() {
        return;
    }
    let told = keywords.get("description").and_then(Value::as_str).unwrap_or_default();
    let text = format!("{told} ({})", bounds.join(", "));
    keywords.insert("description".to_owned(), Value::from(text.trim().to_owned()));
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
