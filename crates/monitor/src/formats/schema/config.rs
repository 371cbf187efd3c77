//! Reads a mapping: what is wrong is told by the key it stands under.

use serde_json::{Map, Value};

use super::path::Path;
use super::rule::Rule;
use super::{KEY, Mapping, Name};
use crate::formats::bounds::{MAX_CONFIG_BYTES, MAX_EQUALS_CHARS, MAX_EXCERPT_CHARS, clip};
use crate::formats::error::FormatError;

const CONFIG: &str = "schema_config";
const TOP_KEYS: &[&str] = &["root", "fields"];
const COMPARISON_KEYS: &[&str] = &["field", "equals"];
const FIELDS: &[&str] = &[
    "name",
    "healthy",
    "latency",
    "impact",
    "description",
    "type",
    "skipped",
    "checkDetails",
    "contact",
    "error",
    "errorMessage",
];

const A_PATH: &str = "a path, as text";
const A_RULE: &str = r#"a path, as text, or {"field": path, "equals": text}"#;
const AN_OBJECT: &str = "an object";
const A_TEXT: &str = "a text of at most 256 characters; write numbers and booleans as text too";
const THE_ROOT: &str = r#"the path to the items, or "" for the document itself"#;

/// The mapping's JSON text as a value.
pub(crate) fn config_value(text: &str) -> Result<Value, FormatError> {
    if text.len() > MAX_CONFIG_BYTES {
        return Err(FormatError::ConfigTooLarge { bytes: text.len() });
    }
    serde_json::from_str(text)
        .map_err(|error| FormatError::ConfigNotJson { reason: error.to_string() })
}

impl Mapping {
    /// Reads and checks a mapping.
    ///
    /// # Errors
    /// [`FormatError`], which names the key that is wrong.
    pub fn from_value(value: &Value) -> Result<Self, FormatError> {
        let top = Section::open(CONFIG.to_owned(), value, TOP_KEYS, AN_OBJECT)?;
        let root = top.path("root", THE_ROOT, Path::parse_root)?;
        let root = root.ok_or_else(|| top.missing("root", THE_ROOT))?;
        let fields = top.get("fields").ok_or_else(|| top.missing("fields", AN_OBJECT))?;
        let fields = Section::open(top.key("fields"), fields, FIELDS, AN_OBJECT)?;
        let mapping = Self {
            root,
            name: fields.name()?,
            healthy: fields.rule("healthy")?.ok_or_else(|| fields.missing("healthy", A_RULE))?,
            latency: fields.rule("latency")?,
            impact: fields.rule("impact")?,
            description: fields.rule("description")?,
            kind: fields.rule("type")?,
            skipped: fields.rule("skipped")?,
            check_details: fields.path("checkDetails", A_PATH, Path::parse)?,
            contact: fields.path("contact", A_PATH, Path::parse)?,
            error: fields.path("error", A_PATH, Path::parse)?,
            error_message: fields.path("errorMessage", A_PATH, Path::parse)?,
        };
        // What is stored must be taken back.
        match mapping.to_string().len() {
            bytes if bytes > MAX_CONFIG_BYTES => Err(FormatError::ConfigTooLarge { bytes }),
            _ => Ok(mapping),
        }
    }
}

/// An object of the mapping, and where it stands.
struct Section<'v> {
    place: String,
    members: &'v Map<String, Value>,
}

impl<'v> Section<'v> {
    fn open(
        place: String,
        value: &'v Value,
        known: &[&str],
        expected: &'static str,
    ) -> Result<Self, FormatError> {
        let Value::Object(members) = value else {
            return Err(FormatError::WrongKind { key: place, expected });
        };
        let section = Self { place, members };
        match members.keys().find(|key| !known.contains(&key.as_str())) {
            Some(key) => Err(FormatError::UnknownKey {
                key: section.key(&clip(key, MAX_EXCERPT_CHARS)),
                place: section.place,
                known: known.join(", "),
            }),
            None => Ok(section),
        }
    }

    /// What stands under a key; null is as if it were not there.
    fn get(&self, key: &str) -> Option<&'v Value> {
        self.members.get(key).filter(|value| !value.is_null())
    }

    fn key(&self, key: &str) -> String {
        format!("{}.{key}", self.place)
    }

    fn missing(&self, key: &str, expected: &'static str) -> FormatError {
        FormatError::KeyMissing { key: self.key(key), expected }
    }

    fn wrong_kind(&self, key: &str, expected: &'static str) -> FormatError {
        FormatError::WrongKind { key: self.key(key), expected }
    }

    fn path(
        &self,
        key: &str,
        expected: &'static str,
        parse: impl FnOnce(&str) -> Result<Path, super::PathError>,
    ) -> Result<Option<Path>, FormatError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let text = value.as_str().ok_or_else(|| self.wrong_kind(key, expected))?;
        let path =
            parse(text).map_err(|problem| FormatError::Path { key: self.key(key), problem })?;
        Ok(Some(path))
    }

    fn name(&self) -> Result<Name, FormatError> {
        const EXPECTED: &str = r#"a path, as text, or "$key" for the key of an object"#;
        if self.get("name").and_then(Value::as_str) == Some(KEY) {
            return Ok(Name::Key);
        }
        let path = self.path("name", EXPECTED, Path::parse)?;
        path.map(Name::Path).ok_or_else(|| self.missing("name", EXPECTED))
    }

    fn rule(&self, key: &str) -> Result<Option<Rule>, FormatError> {
        let Some(value @ Value::Object(_)) = self.get(key) else {
            return Ok(self.path(key, A_RULE, Path::parse)?.map(Rule::Path));
        };
        let comparison = Section::open(self.key(key), value, COMPARISON_KEYS, AN_OBJECT)?;
        let field = comparison.path("field", A_PATH, Path::parse)?;
        let field = field.ok_or_else(|| comparison.missing("field", A_PATH))?;
        let equals =
            comparison.get("equals").ok_or_else(|| comparison.missing("equals", A_TEXT))?;
        let equals = equals.as_str().filter(|text| text.chars().nth(MAX_EQUALS_CHARS).is_none());
        let equals = equals.ok_or_else(|| comparison.wrong_kind("equals", A_TEXT))?;
        Ok(Some(Rule::comparison(field, equals)))
    }
}
