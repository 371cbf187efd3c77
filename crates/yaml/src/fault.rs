//! Why a text could not be read.

use serde_saphyr::Error;

/// What is wrong with a text. Whoever reads it knows better words for most of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// There is no such key.
    UnknownKey {
        /// The key.
        key: String,
        /// Those that there are.
        known: Vec<&'static str>,
    },
    /// There is no such word where one of a few is expected.
    UnknownWord {
        /// The word.
        word: String,
        /// Those that there are.
        known: Vec<&'static str>,
    },
    /// A key is missing.
    MissingKey(String),
    /// There is nothing.
    Empty,
    /// There is more than one document.
    SeveralDocuments,
    /// Another kind of value is expected: this one.
    Expected(String),
    /// What is said in the same words of every text.
    Other(String),
    /// It can't be read, and the parser says nothing that helps.
    Unreadable,
}

impl Fault {
    pub(crate) fn of(error: &Error) -> Self {
        match error {
            Error::SerdeUnknownField { field, expected, .. } => {
                Self::UnknownKey { key: field.clone(), known: expected.clone() }
            }
            Error::SerdeUnknownVariant { variant, expected, .. } => {
                Self::UnknownWord { word: variant.clone(), known: expected.clone() }
            }
            Error::SerdeMissingField { field, .. } => Self::MissingKey((*field).to_owned()),
            Error::MultipleDocuments { .. } => Self::SeveralDocuments,
            Error::Eof { .. } => Self::Empty,
            error => match expected(error) {
                Some(what) => Self::Expected(what.to_owned()),
                None => reason(error).map_or(Self::Unreadable, Self::Other),
            },
        }
    }
}

/// The error itself, without what was read around it.
pub(crate) fn innermost(error: &Error) -> &Error {
    match error.without_snippet() {
        Error::AliasError { error, .. } => innermost(error),
        error => error,
    }
}

fn reason(error: &Error) -> Option<String> {
    let reason = match error {
        Error::NullIntoString { .. } => "a text is expected, and there is none".to_owned(),
        Error::DuplicateMappingKey { key, .. } => match key {
            Some(key) => repeated(key),
            None => "a key stands there twice; leave one of them out".to_owned(),
        },
        Error::Message { msg, .. } => msg.clone(),
        Error::ExternalMessage { msg, .. } => format!("not valid YAML: {msg}"),
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => {
            "it is too large or too deep, with everything that its anchors stand for; write it out, \
             or split it"
                .to_owned()
        }
        Error::NonFiniteFloat { .. } => {
            "infinity and what is no number have no JSON; give a number, or a text in quotes".to_owned()
        }
        Error::UnknownAnchor { .. } => "there is no such anchor; write the value out".to_owned(),
        _ => return None,
    };
    Some(reason)
}

/// What is said of a key that stands there twice.
pub(crate) fn repeated(key: &str) -> String {
    format!("the key {key:?} stands there twice; leave one of them out")
}

/// What kind of value was expected, where another was found.
fn expected(error: &Error) -> Option<&str> {
    match error {
        Error::SerdeInvalidType { expected, .. } | Error::SerdeInvalidValue { expected, .. } => {
            Some(expected)
        }
        Error::InvalidScalar { ty, .. } => Some(wanted(ty)),
        Error::Unexpected { expected, .. } => Some(wanted(expected)),
        Error::InvalidBooleanStrict { .. } => Some(wanted("bool")),
        Error::ExternallyTaggedEnumExpectedScalarOrMapping { .. } => Some(wanted("string scalar")),
        _ => None,
    }
}

/// The parser's word for a kind of value, as people say it.
fn wanted(kind: &str) -> &str {
    match kind {
        "bool" | "boolean" => "true or false",
        "string scalar" => "a text",
        "mapping start" => "a mapping of keys and values, such as { key: value }",
        "sequence start" => "a list, such as [one, two]",
        kind if kind.starts_with('i') || kind.starts_with('u') => "a whole number",
        kind => kind,
    }
}
