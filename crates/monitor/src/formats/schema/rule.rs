//! How a field is found: by a path, or by comparing what stands at one.

use serde_json::{Map, Value};

use super::path::Path;
use crate::formats::scalar::Scalar;

/// A path, or a comparison that is true or false.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Rule {
    Path(Path),
    Comparison {
        field: Path,
        equals: String,
        /// `equals` in lower case.
        lower: String,
    },
}

impl Rule {
    pub(super) fn comparison(field: Path, equals: &str) -> Self {
        Self::Comparison { field, equals: equals.to_owned(), lower: equals.to_lowercase() }
    }

    /// What the rule makes of an item; missing where it can't be told.
    pub(super) fn find<'a>(&self, item: &'a Value) -> Scalar<'a> {
        match self {
            Self::Path(path) => Scalar::of(path.find(item)),
            Self::Comparison { field, lower, .. } => Scalar::of(field.find(item))
                .shown()
                .map_or(Scalar::Missing, |text| Scalar::Bool(text.to_lowercase() == *lower)),
        }
    }

    /// Where it looks.
    pub(super) const fn path(&self) -> &Path {
        match self {
            Self::Path(path) => path,
            Self::Comparison { field, .. } => field,
        }
    }

    pub(super) fn to_value(&self) -> Value {
        match self {
            Self::Path(path) => path.to_value(),
            Self::Comparison { field, equals, .. } => {
                let mut comparison = Map::new();
                comparison.insert("equals".to_owned(), Value::from(equals.as_str()));
                comparison.insert("field".to_owned(), field.to_value());
                Value::Object(comparison)
            }
        }
    }
}
