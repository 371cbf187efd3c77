//! Where a value stands: `a.b`, `a.0`, `a[0]`, with `\.` for a dot inside a key.

use std::fmt;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::formats::bounds::{MAX_PATH_CHARS, MAX_PATH_STEPS};
use crate::formats::error::BadBody;
use crate::formats::split;

/// The document or item itself.
const SELF: &str = "$";

/// What is wrong with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// No path at all.
    #[error("the path is empty; write $ for the item itself")]
    Empty,
    /// Too many characters.
    #[error("the path has more than {MAX_PATH_CHARS} characters")]
    TooLong,
    /// Too many steps.
    #[error("the path has more than {MAX_PATH_STEPS} steps")]
    TooDeep,
    /// Nothing between two dots.
    #[error("the path has an empty step; write a dot inside a key as \\.")]
    EmptyStep,
    /// A backslash before something else.
    #[error("a backslash stands only before a dot, a bracket or a backslash")]
    Escape,
    /// Brackets without a number.
    #[error("brackets hold an index, as in items[0]; write a bracket inside a key as \\[")]
    Bracket,
}

/// A path as it was given, and its steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Path {
    given: String,
    steps: Vec<Step>,
}

/// A key of an object, which is an index of an array if it is a number.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Step {
    key: String,
    index: Option<usize>,
}

impl Path {
    /// Reads a path; the empty one is the document itself.
    pub(super) fn parse_root(given: &str) -> Result<Self, PathError> {
        if given.is_empty() {
            return Ok(Self { given: String::new(), steps: Vec::new() });
        }
        Self::parse(given)
    }

    /// Reads a path that is not empty.
    pub(super) fn parse(given: &str) -> Result<Self, PathError> {
        if given.is_empty() {
            return Err(PathError::Empty);
        }
        if given.chars().nth(MAX_PATH_CHARS).is_some() {
            return Err(PathError::TooLong);
        }
        let rest = match given.strip_prefix(SELF) {
            Some("") => return Ok(Self { given: given.to_owned(), steps: Vec::new() }),
            // `$.a` and `$[0]`, as other languages of paths write it.
            Some(rest) if rest.starts_with('[') => rest,
            Some(rest) => rest.strip_prefix('.').unwrap_or(given),
            None => given,
        };
        let steps = Steps::default().read(rest)?;
        if steps.len() > MAX_PATH_STEPS {
            return Err(PathError::TooDeep);
        }
        Ok(Self { given: given.to_owned(), steps })
    }

    /// As it was given.
    pub(super) fn as_str(&self) -> &str {
        &self.given
    }

    pub(super) fn to_value(&self) -> Value {
        Value::from(self.given.as_str())
    }

    /// What stands there.
    pub(super) fn find<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        self.steps.iter().try_fold(value, |value, step| match value {
            Value::Object(members) => members.get(&step.key),
            Value::Array(items) => items.get(step.index?),
            _ => None,
        })
    }

    /// What stands there, in JSON that was not read yet.
    pub(super) fn find_raw<'a>(
        &self,
        document: &'a RawValue,
    ) -> Result<Option<&'a RawValue>, BadBody> {
        let mut value = document;
        for step in &self.steps {
            match split::child(value, &step.key, step.index)? {
                Some(child) => value = child,
                None => return Ok(None),
            }
        }
        Ok(Some(value))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.given)
    }
}

impl From<String> for Step {
    fn from(key: String) -> Self {
        // `parse` alone would take +1 as well.
        let is_number = key.bytes().all(|byte| byte.is_ascii_digit());
        let index = if is_number { key.parse().ok() } else { None };
        Self { key, index }
    }
}

/// The steps read so far, and the one that is being read.
#[derive(Default)]
struct Steps {
    done: Vec<Step>,
    key: String,
    /// Whether an index in brackets has just ended, after which a dot ends no key.
    after_bracket: bool,
}

impl Steps {
    fn read(mut self, text: &str) -> Result<Vec<Step>, PathError> {
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            match character {
                '.' => self.end_key()?,
                '[' => self.bracket(&mut characters)?,
                '\\' => match characters.next() {
                    Some(escaped @ ('.' | '[' | ']' | '\\')) => self.push(escaped)?,
                    _ => return Err(PathError::Escape),
                },
                other => self.push(other)?,
            }
        }
        self.end_key()?;
        Ok(self.done)
    }

    fn push(&mut self, character: char) -> Result<(), PathError> {
        if self.after_bracket {
            return Err(PathError::Bracket);
        }
        self.key.push(character);
        Ok(())
    }

    fn end_key(&mut self) -> Result<(), PathError> {
        let after_bracket = std::mem::take(&mut self.after_bracket);
        let key = std::mem::take(&mut self.key);
        match (key.is_empty(), after_bracket) {
            (false, _) => self.done.push(key.into()),
            (true, true) => {}
            (true, false) => return Err(PathError::EmptyStep),
        }
        Ok(())
    }

    /// Reads on to the closing bracket.
    fn bracket(&mut self, characters: &mut std::str::Chars<'_>) -> Result<(), PathError> {
        let (index, rest) = characters.as_str().split_once(']').ok_or(PathError::Bracket)?;
        if index.is_empty() || !index.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(PathError::Bracket);
        }
        if !self.key.is_empty() {
            self.done.push(std::mem::take(&mut self.key).into());
        }
        self.done.push(index.to_owned().into());
        self.after_bracket = true;
        *characters = rest.chars();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn keys(path: &str) -> Result<Vec<String>, PathError> {
        Ok(Path::parse(path)?.steps.into_iter().map(|step| step.key).collect())
    }

    #[test]
    fn a_path_is_cut_into_steps() {
        for (path, expected) in [
            ("a", &["a"][..]),
            ("a.b.c", &["a", "b", "c"]),
            (r"a\.b.c", &["a.b", "c"]),
            (r"a\\.b", &[r"a\", "b"]),
            ("items.0.name", &["items", "0", "name"]),
            ("items[0].name", &["items", "0", "name"]),
            ("grid[0][12]", &["grid", "0", "12"]),
            (r"a\[0\]", &["a[0]"]),
            ("a]", &["a]"]),
            ("$", &[]),
            ("$.a", &["a"]),
            ("$[1].a", &["1", "a"]),
            ("$schema", &["$schema"]),
            ("ä ö", &["ä ö"]),
        ] {
            let read = keys(path).unwrap();
            assert_eq!(read.iter().map(String::as_str).collect::<Vec<_>>(), expected, "{path}");
        }
    }

    #[test]
    fn what_is_no_path_is_refused_with_the_reason() {
        let long = "a".repeat(MAX_PATH_CHARS + 1);
        let deep = vec!["a"; MAX_PATH_STEPS + 1].join(".");
        for (path, reason) in [
            ("", PathError::Empty),
            (".", PathError::EmptyStep),
            ("a..b", PathError::EmptyStep),
            (".a", PathError::EmptyStep),
            ("a.", PathError::EmptyStep),
            ("a[0].", PathError::EmptyStep),
            ("$.", PathError::EmptyStep),
            (r"a\b", PathError::Escape),
            (r"a\", PathError::Escape),
            ("a[", PathError::Bracket),
            ("a[b]", PathError::Bracket),
            ("a[]", PathError::Bracket),
            ("a[-1]", PathError::Bracket),
            ("a[0]b", PathError::Bracket),
            (&long, PathError::TooLong),
            (&deep, PathError::TooDeep),
        ] {
            assert_eq!(keys(path), Err(reason), "{path}");
        }
        assert!(keys(&"a".repeat(MAX_PATH_CHARS)).is_ok());
        assert!(keys(&vec!["a"; MAX_PATH_STEPS].join(".")).is_ok());
    }

    #[test]
    fn a_path_finds_the_same_in_values_and_in_text() {
        let document = json!({"a": [{"b.c": 1}, {"0": "zero"}], "a.b": null, "n": 5});
        let text = document.to_string();
        let raw: &RawValue = serde_json::from_str(&text).unwrap();
        for (path, expected) in [
            ("$", Some(document.clone())),
            (r"a.0.b\.c", Some(json!(1))),
            ("a[1].0", Some(json!("zero"))),
            (r"a\.b", Some(json!(null))),
            ("a.2", None),
            ("a.b", None),
            ("a.+1", None),
            ("a.99999999999999999999", None),
            ("n.a", None),
            ("missing", None),
        ] {
            let path = Path::parse(path).unwrap();
            assert_eq!(path.find(&document), expected.as_ref(), "{path}");
            let found = path.find_raw(raw).unwrap();
            let found: Option<Value> = found.map(|raw| serde_json::from_str(raw.get()).unwrap());
            assert_eq!(found, expected, "{path}");
        }
    }
}
