//! Where the value of a header comes from. None of it is ever shown.

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use mainstay_base::Secret;
use mainstay_monitor::services::headers::MAX_HEADER_VALUE_BYTES;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::config::environment::Variables;

/// What a file says of a header's value.
#[derive(Debug)]
pub(super) enum Given {
    /// The stored one is kept.
    Kept,
    /// This text.
    Text(Secret<String>),
    /// What this variable holds.
    Variable(String),
    /// What this file holds.
    File(String),
}

/// Where values are looked for.
pub(super) struct Values<'a> {
    pub(super) variables: &'a Variables,
    pub(super) folder: &'a Path,
}

impl Values<'_> {
    /// The value, if one is given at all.
    pub(super) fn find(&self, given: Given) -> Result<Option<Secret<String>>, String> {
        match given {
            Given::Kept => Ok(None),
            Given::Text(text) => Ok(Some(text)),
            Given::Variable(name) => self.variable(&name).map(Some),
            Given::File(path) => self.file(&path).map(Some),
        }
    }

    fn variable(&self, name: &str) -> Result<Secret<String>, String> {
        let found = self.variables.iter().find(|(known, value)| known == name && !value.is_empty());
        let value = found.map(|(_, value)| value.to_str());
        match value {
            Some(Some(text)) => Ok(Secret::new(text.to_owned())),
            Some(None) => Err(format!("the variable {name} is not UTF-8; set it again")),
            None => Err(format!("the variable {name} is not set; set it, or leave the header out")),
        }
    }

    fn file(&self, path: &str) -> Result<Secret<String>, String> {
        // One byte more than a value may have, and a line break of an editor.
        let most = u64::try_from(MAX_HEADER_VALUE_BYTES).unwrap_or(u64::MAX).saturating_add(3);
        let mut text = String::new();
        File::open(self.folder.join(path))
            .and_then(|file| file.take(most).read_to_string(&mut text))
            .map_err(|error| format!("{path} can't be read: {error}; check the path"))?;
        let line = text.strip_suffix('\n').unwrap_or(&text);
        Ok(Secret::new(line.strip_suffix('\r').unwrap_or(line).to_owned()))
    }
}

impl<'de> Deserialize<'de> for Given {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(GivenVisitor)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Elsewhere {
    from_environment: Option<String>,
    from_file: Option<String>,
}

struct GivenVisitor;

const EXPECTED: &str = "expected a text in quotes, null for the stored value, \
    {from_environment: NAME} or {from_file: PATH}";

/// Refuses a value of another kind without showing it.
impl<'de> Visitor<'de> for GivenVisitor {
    type Value = Given;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the value of a header")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Given, E> {
        Ok(Given::Text(Secret::new(text.to_owned())))
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Given, E> {
        Ok(Given::Kept)
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<Given, E> {
        Ok(Given::Kept)
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<Given, D::Error> {
        inner.deserialize_any(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Given, A::Error> {
        let elsewhere = Elsewhere::deserialize(MapAccessDeserializer::new(map))?;
        match (elsewhere.from_environment, elsewhere.from_file) {
            (Some(name), None) => Ok(Given::Variable(name)),
            (None, Some(path)) => Ok(Given::File(path)),
            _ => Err(A::Error::custom(EXPECTED)),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Given, A::Error> {
        Err(A::Error::custom(EXPECTED))
    }

    fn visit_bool<E: serde::de::Error>(self, _: bool) -> Result<Given, E> {
        Err(E::custom(EXPECTED))
    }

    fn visit_i64<E: serde::de::Error>(self, _: i64) -> Result<Given, E> {
        Err(E::custom(EXPECTED))
    }

    fn visit_i128<E: serde::de::Error>(self, _: i128) -> Result<Given, E> {
        Err(E::custom(EXPECTED))
    }

    fn visit_u64<E: serde::de::Error>(self, _: u64) -> Result<Given, E> {
        Err(E::custom(EXPECTED))
    }

    fn visit_u128<E: serde::de::Error>(self, _: u128) -> Result<Given, E> {
        Err(E::custom(EXPECTED))
    }

    fn visit_f64<E: serde::de::Error>(self, _: f64) -> Result<Given, E> {
        Err(E::custom(EXPECTED))
    }
}
