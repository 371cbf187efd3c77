//! The schema format: a [`Mapping`] says where in somebody's JSON the dependencies stand.
//!
//! `config` reads the mapping, `path` and `rule` find values, `health` and `latency` understand them,
//! `read` makes dependencies of them.

mod config;
mod health;
mod latency;
mod path;
mod read;
mod rule;

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use path::Path;
use rule::Rule;

pub(crate) use config::config_value;
pub use path::PathError;

/// Where the dependencies stand, and where in each of them its fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    root: Path,
    name: Name,
    healthy: Rule,
    latency: Option<Rule>,
    impact: Option<Rule>,
    description: Option<Rule>,
    kind: Option<Rule>,
    skipped: Option<Rule>,
    check_details: Option<Path>,
    contact: Option<Path>,
    error: Option<Path>,
    error_message: Option<Path>,
}

/// Where the name stands.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Name {
    /// `$key`: the key of the item in an object.
    Key,
    Path(Path),
}

/// What stands for the key of an item.
const KEY: &str = "$key";

impl Mapping {
    /// The mapping as it was given, without what was null.
    #[must_use]
    pub fn to_value(&self) -> Value {
        // In order, so that the text is the canonical one whatever map the JSON library has.
        let fields = [
            ("checkDetails", self.check_details.as_ref().map(Path::to_value)),
            ("contact", self.contact.as_ref().map(Path::to_value)),
            ("description", self.description.as_ref().map(Rule::to_value)),
            ("error", self.error.as_ref().map(Path::to_value)),
            ("errorMessage", self.error_message.as_ref().map(Path::to_value)),
            ("healthy", Some(self.healthy.to_value())),
            ("impact", self.impact.as_ref().map(Rule::to_value)),
            ("latency", self.latency.as_ref().map(Rule::to_value)),
            ("name", Some(self.name.to_value())),
            ("skipped", self.skipped.as_ref().map(Rule::to_value)),
            ("type", self.kind.as_ref().map(Rule::to_value)),
        ];
        let given = fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
        let mut mapping = Map::new();
        mapping.insert("fields".to_owned(), Value::Object(given.collect()));
        mapping.insert("root".to_owned(), self.root.to_value());
        Value::Object(mapping)
    }
}

/// The canonical JSON text.
impl fmt::Display for Mapping {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.to_value())
    }
}

impl Serialize for Mapping {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_value().serialize(serializer)
    }
}

impl Name {
    fn to_value(&self) -> Value {
        match self {
            Self::Key => Value::from(KEY),
            Self::Path(path) => path.to_value(),
        }
    }
}
