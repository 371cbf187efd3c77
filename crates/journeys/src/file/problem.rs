//! What can't be read as the YAML of a journey. No text repeats a value.

use serde_saphyr::Error;

use super::mistakes::Mistake;
use super::place::{Finder, Step, shown};
use crate::nearest::nearest;

/// The mistake that an error of the parser tells, where `path` is how far it came.
pub(super) fn mistake(text: &str, mut path: Vec<Step>, error: &Error) -> Mistake {
    let error = innermost(error);
    let mut meant = None;
    if let Error::SerdeUnknownField { field, expected, .. } = error {
        meant = nearest(field, expected.iter().copied()).map(str::to_owned);
        if path.last() != Some(&Step::Key(field.clone())) {
            path.push(Step::Key(field.clone()));
        }
    }
    if let Error::SerdeUnknownVariant { variant, expected, .. } = error {
        meant = nearest(variant, expected.iter().copied()).map(str::to_owned);
    }
    let told = error.location().map(|location| (location.line(), location.column()));
    let place = told.filter(|(line, _)| *line > 0).or_else(|| Finder::new(text).find(&path));
    let (line, column) = place.unwrap_or((1, 1));
    let message = reason(error, meant.is_some());
    Mistake { line, column, path: shown(&path), message, nearest: meant }
}

/// The error itself, without what was read around it.
fn innermost(error: &Error) -> &Error {
    match error.without_snippet() {
        Error::AliasError { error, .. } => innermost(error),
        error => error,
    }
}

fn reason(error: &Error, is_nearly_known: bool) -> String {
    match error {
        Error::SerdeUnknownField { .. } if is_nearly_known => "there is no such key".to_owned(),
        Error::SerdeUnknownField { expected, .. } => {
            format!("there is no such key; there are {}", expected.join(", "))
        }
        Error::SerdeMissingField { field, .. } => missing(field),
        Error::SerdeUnknownVariant { .. } if is_nearly_known => {
            "there is no such word here".to_owned()
        }
        Error::SerdeUnknownVariant { expected, .. } => {
            format!("there is no such word here; there are {}", expected.join(", "))
        }
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
            "there is more than one document; write each journey into a file of its own".to_owned()
        }
        Error::Eof { .. } => "the file is empty; write `journey: NAME` and its `steps`".to_owned(),
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => {
            "it is too large or too deep, with everything that its anchors stand for; write it out, \
             or split it"
                .to_owned()
        }
        Error::UnknownAnchor { .. } => "there is no such anchor; write the value out".to_owned(),
        _ => "it can't be read as the YAML of a journey; compare it with docs/guide/journeys.md"
            .to_owned(),
    }
}

/// What a poll must have is told with why.
fn missing(field: &str) -> String {
    match field {
        "within" => "`within` is missing: a poll has an end, such as within: 30s".to_owned(),
        "every" => {
            "`every` is missing: how long to wait between two polls, such as 500ms".to_owned()
        }
        "when" => "`when` is missing: the rules that say what an answer means".to_owned(),
        field => format!("`{field}` is missing; give it"),
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
