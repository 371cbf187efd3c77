//! What the readers of items have in common: they take what fits, and note what does not.

use std::borrow::Cow;

use mainstay_base::{Timestamp, replace_nul};
use serde::Deserialize as _;
use serde::de::IntoDeserializer as _;

use super::bounds::{MAX_JSON_BYTES, MAX_KIND_CHARS, MAX_NAME_CHARS, MAX_TEXT_CHARS, clip};
use super::canonical::Unfit;
use super::collector::{Collector, Reason};
use super::scalar::Scalar;
use crate::report::HealthState;

const DEFAULT_KIND: &str = "other";
const CODE_OF_HEALTHY: i64 = 200;
const CODE_OF_UNHEALTHY: i64 = 500;

pub(crate) const NOT_AN_OBJECT: Reason = Cow::Borrowed("it is not an object");

/// Notes about the item at one index.
#[derive(Debug)]
pub(crate) struct Notes<'c> {
    pub(crate) collector: &'c mut Collector,
    pub(crate) index: usize,
}

impl Notes<'_> {
    /// What `read` makes of a value; one that is there and does not fit is noted.
    pub(crate) fn take<'a, T>(
        &mut self,
        key: &str,
        value: &Scalar<'a>,
        read: impl FnOnce(&Scalar<'a>) -> Option<T>,
        expected: &str,
    ) -> Option<T> {
        if value.is_missing() {
            return None;
        }
        let taken = read(value);
        if taken.is_none() {
            self.note(format!("{key:?} is not {expected} and was left out"));
        }
        taken
    }

    /// The JSON, if it fits.
    pub(crate) fn json(&mut self, key: &str, json: Result<String, Unfit>) -> Option<String> {
        let problem = match json {
            Ok(text) => return Some(text),
            Err(Unfit::TooLarge) => format!("is larger than {MAX_JSON_BYTES} bytes"),
            Err(Unfit::Unreadable) => "can't be read".to_owned(),
        };
        self.note(format!("{key:?} {problem} and was left out"));
        None
    }

    pub(crate) fn note(&mut self, reason: String) {
        self.collector.warn(self.index, reason.into());
    }
}

/// Why an item's JSON can't be read. The texts of these errors are fixed: they repeat nothing of it.
pub(crate) fn unreadable(error: &serde_json::Error) -> Reason {
    let text = error.to_string();
    // The place is one within the item, which nobody could find.
    let problem = text.split_once(" at line").map_or(text.as_str(), |(problem, _)| problem);
    format!("it can't be read: {problem}").into()
}

/// A name that is neither blank nor too long.
pub(crate) fn name(text: &str) -> Result<String, Reason> {
    if text.trim().is_empty() {
        return Err(r#""name" is blank"#.into());
    }
    if text.len() > MAX_NAME_CHARS && text.chars().nth(MAX_NAME_CHARS).is_some() {
        return Err(format!(r#""name" is longer than {MAX_NAME_CHARS} characters"#).into());
    }
    Ok(replace_nul(text).into_owned())
}

/// A text that is not blank, cut if it is too long.
pub(crate) fn text(given: Option<&str>) -> Option<String> {
    given.filter(|text| !text.trim().is_empty()).map(|text| clip(text, MAX_TEXT_CHARS))
}

/// The type, `other` where none is given.
pub(crate) fn kind(given: Option<&str>) -> String {
    let given = given.filter(|text| !text.trim().is_empty());
    clip(given.unwrap_or(DEFAULT_KIND), MAX_KIND_CHARS)
}

/// The code of who gave none.
pub(crate) const fn default_code(healthy: bool) -> i64 {
    if healthy { CODE_OF_HEALTHY } else { CODE_OF_UNHEALTHY }
}

/// The state of who gave none.
pub(crate) const fn default_state(healthy: bool) -> HealthState {
    if healthy { HealthState::Healthy } else { HealthState::Down }
}

/// When the service looked; `now` where it does not say so or names a time to come.
pub(crate) fn checked_at(given: Option<&str>, now: Timestamp) -> Timestamp {
    let Some(text) = given else { return now };
    let read: Result<Timestamp, serde::de::value::Error> =
        Timestamp::deserialize(text.into_deserializer());
    read.map_or(now, |at| at.min(now))
}
