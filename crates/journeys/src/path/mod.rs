//! Where a value stands in an answer: JSONPath by RFC 9535, held to what can be answered quickly: `cost` bounds how
//! long that may take, `pattern` what `search` and `match` may be told, and `scan` reads a path as a text.

mod cost;
mod pattern;
mod scan;

use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use serde_json_path::JsonPath;

use crate::bounds::MAX_PATH;
use crate::document::{Document, TooLarge};
use cost::Cost;
pub(crate) use scan::{extent, outside_quotes};

/// The most steps that go down to any depth: each multiplies what has to be looked at.
const MAX_DESCENDING: usize = 1;
/// The most alternatives.
const MAX_COMMAS: usize = 3;
/// The most filters.
const MAX_FILTERS: usize = 2;

/// There is no one value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotOne {
    /// Several stand where one is wanted.
    #[error("{path} matches {count} values, and one is wanted; say which, such as [0]")]
    Several {
        /// The path.
        path: String,
        /// How many.
        count: usize,
    },
    /// It can't be looked for.
    #[error("{path} can't be looked for: {error}")]
    TooLarge {
        /// The path.
        path: String,
        /// Why.
        error: TooLarge,
    },
}

/// A JSONPath.
#[derive(Clone)]
pub struct Path {
    source: Arc<str>,
    parsed: Arc<JsonPath>,
    cost: Cost,
}

/// A text that is no path, or one that could take too long.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It does not begin as one.
    #[error("a path begins with $, such as $.status or $.items[0].id")]
    NoRoot,
    /// It is too long.
    #[error("the path is longer than {MAX_PATH} bytes; shorten it")]
    TooLong,
    /// It could take too long.
    #[error(
        "the path could take too long: it may hold `..` {MAX_DESCENDING} time, {MAX_COMMAS} commas, \
         {MAX_FILTERS} filters, and $ only at its beginning"
    )]
    TooCostly,
    /// A pattern that is not known before the answer is.
    #[error(
        "search and match take a pattern that is written out, such as search(@.name, '[a-z]+'); compare values with =="
    )]
    UnwrittenPattern,
    /// A pattern that can't be used.
    #[error("the pattern of search or match can't be used: {0}")]
    Pattern(String),
    /// It can't be read.
    #[error("it is no JSONPath, from character {position} on: {message}")]
    Unreadable {
        /// Where, from 1.
        position: usize,
        /// Why.
        message: String,
    },
}

impl Path {
    /// Reads a path.
    ///
    /// # Errors
    /// [`PathError`] says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        if !text.starts_with('$') {
            return Err(PathError::NoRoot);
        }
        if text.len() > MAX_PATH {
            return Err(PathError::TooLong);
        }
        if is_costly(text) {
            return Err(PathError::TooCostly);
        }
        let parsed = JsonPath::parse(text).map_err(|error| PathError::Unreadable {
            position: error.position().saturating_add(1),
            message: error.message().to_owned(),
        })?;
        let cost = Cost::of(text).times(pattern::check(text)?);
        Ok(Self { source: text.into(), parsed: Arc::new(parsed), cost })
    }

    /// The path of one field of an answer.
    pub(crate) fn of_key(key: &str) -> Result<Self, PathError> {
        let is_plain = key
            .starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
            && key.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        if is_plain {
            return Self::parse(&format!("$.{key}"));
        }
        let quoted = serde_json::to_string(key).unwrap_or_default();
        Self::parse(&format!("$[{quoted}]"))
    }

    /// The values that stand there.
    pub(crate) fn query<'a>(&self, document: &'a Document) -> Result<Vec<&'a Value>, TooLarge> {
        document.look(self.cost.looks(document.weight()))?;
        Ok(self.parsed.query(document.value()).all())
    }

    /// The one value that stands there, if any.
    pub(crate) fn only<'a>(&self, document: &'a Document) -> Result<Option<&'a Value>, NotOne> {
        let path = || self.source.to_string();
        let found = self.query(document);
        let found = found.map_err(|error| NotOne::TooLarge { path: path(), error })?;
        match found.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(one)),
            more => Err(NotOne::Several { path: path(), count: more.len() }),
        }
    }

    /// As it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.source
    }
}

impl fmt::Display for Path {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.source)
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Path({})", self.source)
    }
}

fn is_costly(text: &str) -> bool {
    let bare: String = outside_quotes(text).map(|(_, letter)| letter).collect();
    let count = |part: &str| bare.matches(part).count();
    count("..") > MAX_DESCENDING
        || count(",") > MAX_COMMAS
        || count("?") > MAX_FILTERS
        || count("$") > 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_path_finds_what_stands_there() {
        let value = Document::new(json!({"a": [{"b": 1}, {"b": 2}], "c d": null}));
        let only = |path: Path| path.only(&value).unwrap().cloned();
        let found = |path: &str| only(Path::parse(path).unwrap());
        assert_eq!(found("$.a[1].b"), Some(json!(2)));
        assert_eq!(found("$['c d']"), Some(Value::Null));
        assert_eq!(found("$.a[?@.b > 1].b"), Some(json!(2)));
        assert_eq!(found("$.none"), None);
        assert_eq!(Path::parse("$..b").unwrap().query(&value).unwrap().len(), 2);
        assert_eq!(only(Path::of_key("c d").unwrap()), Some(Value::Null));
        assert_eq!(Path::of_key("a").unwrap().as_str(), "$.a");
    }

    #[test]
    fn what_is_no_path_is_told_with_its_place() {
        assert_eq!(Path::parse("status").unwrap_err(), PathError::NoRoot);
        let told = Path::parse("$.items[").unwrap_err().to_string();
        assert!(told.starts_with("it is no JSONPath, from character "), "{told}");
    }

    #[test]
    fn what_could_take_too_long_is_refused() {
        for path in ["$..*..*", "$[0,1,2,3,4]", "$[?@[?@[?@]]]", "$[?count($[*]) > 1]"] {
            assert_eq!(Path::parse(path).unwrap_err(), PathError::TooCostly, "{path}");
        }
        assert!(Path::parse("$['..$,,,,,,,']").is_ok());
        assert_eq!(
            Path::parse(&format!("$.{}", "a".repeat(MAX_PATH))).unwrap_err(),
            PathError::TooLong
        );
    }

    #[test]
    fn a_large_answer_is_looked_at_only_so_often() {
        let items: Vec<Value> = (0..50_000).map(|_| json!({"a": "aaaaaaaaaa"})).collect();
        let large = Document::new(Value::Array(items));
        let chains: Vec<Value> =
            (0..500).map(|_| (0..100).fold(json!(0), |inner, _| json!([inner]))).collect();
        let deep = Document::new(Value::Array(chains));
        let patterns = format!("$..[?{}]", ["search(@.a, '[a-z]+b')"; 2].join("||"));
        let filters = format!("$[?{}]", ["count(@.*) > 9"; 10].join("||"));
        for (path, document) in [
            (patterns.as_str(), &large),
            (filters.as_str(), &large),
            ("$[?search(@.a, '[ab]*a[ab]{200}[cd]')]", &large),
            ("$..[?@ == @]", &deep),
            ("$..[0,0,0,0]", &deep),
        ] {
            assert_eq!(Path::parse(path).unwrap().query(document), Err(TooLarge), "{path}");
        }
        let sought = Path::parse("$[?search(@.a, '[a-z]{1,20}b')].a").unwrap();
        assert_eq!(sought.query(&large).unwrap().len(), 0);
        let first = Path::parse("$[0].a").unwrap();
        assert_eq!(first.only(&large).unwrap(), Some(&json!("aaaaaaaaaa")));
        let all = Path::parse("$[*]").unwrap();
        assert!((0..100).any(|_| all.query(&large).is_err()), "all paths share the looks");
    }
}
