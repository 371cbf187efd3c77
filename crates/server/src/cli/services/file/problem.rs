//! What is wrong with a file. No text repeats a value: any of them may be a secret.

use std::fmt;

use serde_saphyr::Error;

use super::place::{Step, shown};
use crate::config::nearest;

/// A mistake, and where it stands.
#[derive(Debug)]
pub(super) struct Problem {
    /// The way to it.
    pub(super) path: Vec<Step>,
    /// Line and column, where the parser knows them.
    pub(super) place: Option<(u64, u64)>,
    reason: String,
}

impl Problem {
    pub(super) fn new(mut path: Vec<Step>, error: &Error) -> Self {
        let error = innermost(error);
        if let Error::SerdeUnknownField { field, .. } = error
            && path.last() != Some(&Step::Key(field.clone()))
        {
            path.push(Step::Key(field.clone()));
        }
        let place = error.location().map(|location| (location.line(), location.column()));
        Self { path, place: place.filter(|(line, _)| *line > 0), reason: reason(error) }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            return formatter.write_str(&self.reason);
        }
        write!(formatter, "{}: {}", shown(&self.path), self.reason)
    }
}

/// The error itself, without what was read around it.
fn innermost(error: &Error) -> &Error {
    match error.without_snippet() {
        Error::AliasError { error, .. } => innermost(error),
        error => error,
    }
}

fn reason(error: &Error) -> String {
    match error {
        Error::SerdeUnknownField { field, expected, .. } => unknown(field, expected),
        Error::SerdeMissingField { field, .. } => format!("`{field}` is missing; give it"),
        Error::SerdeInvalidType { expected, .. } | Error::SerdeInvalidValue { expected, .. } => {
            format!("another kind of value is expected: {expected}")
        }
        Error::InvalidScalar { ty, .. } => {
            format!("another kind of value is expected: {}", wanted(ty))
        }
        Error::Unexpected { expected, .. } => {
            format!("another kind of value is expected: {expected}")
        }
        Error::NullIntoString { .. } => "a text is expected, and there is none".to_owned(),
        Error::DuplicateMappingKey { key, .. } => match key {
            Some(key) => format!("the key {key:?} stands there twice; leave one of them out"),
            None => "a key stands there twice; leave one of them out".to_owned(),
        },
        Error::Message { msg, .. } => msg.clone(),
        Error::ExternalMessage { msg, .. } => format!("not valid YAML: {msg}"),
        Error::MultipleDocuments { .. } => {
            "there is more than one document; write each into a file of its own".to_owned()
        }
        Error::Eof { .. } => "the file is empty; write `version: 1` and what you want".to_owned(),
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => {
            "it is too large or too deep, with everything that its anchors stand for; write it out, \
             or split it"
                .to_owned()
        }
        Error::UnknownAnchor { .. } => "there is no such anchor; write the value out".to_owned(),
        _ => "it can't be read as YAML of this kind; compare it with docs/guide/config-as-code.md"
            .to_owned(),
    }
}

fn unknown(field: &str, expected: &[&'static str]) -> String {
    match nearest(field, expected.iter().copied()) {
        Some(name) => format!("there is no such key; did you mean {name}?"),
        None => format!("there is no such key; there are {}", expected.join(", ")),
    }
}

/// The parser's word for a kind of value, as people say it.
fn wanted(kind: &str) -> &str {
    match kind {
        "bool" | "boolean" => "true or false",
        kind if kind.starts_with('i') || kind.starts_with('u') => "a whole number",
        kind => kind,
    }
}
