//! Where a value stands in an answer: JSONPath by RFC 9535, held to what can be answered quickly.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use serde_json_path::JsonPath;

use crate::bounds::MAX_PATH;

/// The most steps that go down to any depth: each multiplies what has to be looked at.
const MAX_DESCENDING: usize = 1;
/// The most alternatives.
const MAX_COMMAS: usize = 3;
/// The most filters.
const MAX_FILTERS: usize = 2;

/// Several values stand where one is wanted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path} matches {count} values, and one is wanted; say which, such as [0]")]
pub(crate) struct Several {
    path: String,
    count: usize,
}

/// A JSONPath.
#[derive(Clone)]
pub struct Path {
    source: Arc<str>,
    parsed: Arc<JsonPath>,
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
        Ok(Self { source: text.into(), parsed: Arc::new(parsed) })
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
    #[must_use]
    pub fn query<'a>(&self, value: &'a Value) -> Vec<&'a Value> {
        self.parsed.query(value).all()
    }

    /// The one value that stands there, if any.
    pub(crate) fn only<'a>(&self, value: &'a Value) -> Result<Option<&'a Value>, Several> {
        let found = self.parsed.query(value);
        match found.len() {
            0 | 1 => Ok(found.first()),
            count => Err(Several { path: self.source.to_string(), count }),
        }
    }

    /// The value that stands there: the first, where there are several.
    #[must_use]
    pub fn first<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        self.parsed.query(value).first()
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

/// How long the path that a text begins with is, in bytes; 0 where it begins with none.
pub(crate) fn extent(text: &str) -> usize {
    let mut letters = text.char_indices().peekable();
    if letters.next().map(|(_, letter)| letter) != Some('$') {
        return 0;
    }
    let mut end = 1;
    while let Some((at, letter)) = letters.next() {
        match letter {
            '.' => end = at.saturating_add(1),
            '*' if text.get(..at).is_some_and(|before| before.ends_with('.')) => {
                end = at.saturating_add(1);
            }
            '[' => match closing(text.get(at..).unwrap_or_default()) {
                Some(length) => {
                    end = at.saturating_add(length);
                    while letters.peek().is_some_and(|(next, _)| *next < end) {
                        letters.next();
                    }
                }
                None => return text.len(),
            },
            letter if letter.is_alphanumeric() || letter == '_' => {
                end = at.saturating_add(letter.len_utf8());
            }
            _ => break,
        }
    }
    end
}

/// How long a text in brackets is, quotes and brackets in it respected.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, letter) in outside_quotes(text) {
        match letter {
            '[' => depth = depth.saturating_add(1),
            ']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at.saturating_add(1));
                }
            }
            _ => {}
        }
    }
    None
}

/// The characters of a text that do not stand in quotes.
pub(crate) fn outside_quotes(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut quote = None;
    let mut is_escaped = false;
    text.char_indices().filter(move |(_, letter)| match quote {
        Some(open) => {
            if is_escaped {
                is_escaped = false;
            } else if *letter == '\\' {
                is_escaped = true;
            } else if *letter == open {
                quote = None;
            }
            false
        }
        None => {
            let is_quote = matches!(letter, '"' | '\'');
            quote = is_quote.then_some(*letter);
            !is_quote
        }
    })
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
        let value = json!({"a": [{"b": 1}, {"b": 2}], "c d": null});
        let found = |path: &str| Path::parse(path).unwrap().first(&value).cloned();
        assert_eq!(found("$.a[1].b"), Some(json!(2)));
        assert_eq!(found("$['c d']"), Some(Value::Null));
        assert_eq!(found("$.a[?@.b > 1].b"), Some(json!(2)));
        assert_eq!(found("$.none"), None);
        assert_eq!(Path::parse("$..b").unwrap().query(&value).len(), 2);
        assert_eq!(Path::of_key("c d").unwrap().first(&value), Some(&Value::Null));
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
    fn a_path_in_an_expression_ends_where_it_does() {
        for (text, path) in [
            ("$.decline_reason }}", "$.decline_reason"),
            ("$.a[0].b | upper", "$.a[0].b"),
            ("$['a b]'].c ~ 1", "$['a b]'].c"),
            ("$.a[*].b", "$.a[*].b"),
            ("$..name,", "$..name"),
            ("$ | length", "$"),
            ("a", ""),
            ("$.a[", "$.a["),
        ] {
            assert_eq!(&text[..extent(text)], path, "{text}");
        }
    }
}
