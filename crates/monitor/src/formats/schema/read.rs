//! Applies a mapping to a body: one item at a time, so that no more than one is held as a tree.

use std::borrow::Cow;

use mainstay_base::Timestamp;
use serde_json::Value;
use serde_json::value::RawValue;

use super::rule::Rule;
use super::{Mapping, Name, Path, health, latency};
use crate::formats::bounds::{MAX_EXCERPT_CHARS, MAX_MAPPED_ITEM_BYTES, clip};
use crate::formats::canonical;
use crate::formats::collector::{Collector, Reason};
use crate::formats::error::BadBody;
use crate::formats::notes::{self, NOT_AN_OBJECT, Notes};
use crate::formats::scalar::Scalar;
use crate::formats::split::{Split, split, whole};
use crate::report::{HealthState, Report, Reported};

/// An item, and its key where it stands in an object.
type Keyed<'a> = (Option<Cow<'a, str>>, &'a RawValue);

impl Mapping {
    /// What a body says by this mapping.
    pub(crate) fn read(&self, text: &str, now: Timestamp) -> Result<Report, BadBody> {
        let items = self.items(text)?;
        let mut collector = Collector::with_capacity(items.len());
        for (index, (key, raw)) in items.into_iter().enumerate() {
            let mut notes = Notes { collector: &mut collector, index };
            let item = self.read_item(key.as_deref(), raw, now, &mut notes);
            collector.add(index, item);
        }
        collector.finish()
    }

    fn items<'a>(&self, text: &'a str) -> Result<Vec<Keyed<'a>>, BadBody> {
        let no_root = |found| BadBody::Root { path: self.root.to_string(), found };
        let root = self.root.find_raw(whole(text)?)?.ok_or_else(|| no_root("nothing"))?;
        match split(root.get())? {
            Split::Array(items) => Ok(items.into_iter().map(|item| (None, item)).collect()),
            Split::Object(members) => {
                Ok(members.into_iter().map(|(key, item)| (Some(key), item)).collect())
            }
            Split::TooMany => Err(BadBody::TooManyItems),
            Split::Scalar(found) => Err(no_root(found)),
        }
    }

    fn read_item(
        &self,
        key: Option<&str>,
        raw: &RawValue,
        now: Timestamp,
        notes: &mut Notes<'_>,
    ) -> Result<Reported, Reason> {
        let item = object(raw)?;
        let name = self.name_of(key, &item)?;
        let skipped = found(self.skipped.as_ref(), &item);
        let skipped = notes.take("skipped", &skipped, truth, "a boolean") == Some(true);
        let (healthy, state) =
            if skipped { (true, HealthState::Healthy) } else { self.health_of(&item)? };
        let latency = found(self.latency.as_ref(), &item);
        let latency = notes.take("latency", &latency, latency::understand, "a time up to a day");
        Ok(Reported {
            name,
            kind: notes::kind(shown(self.kind.as_ref(), &item).as_deref()),
            description: notes::text(shown(self.description.as_ref(), &item).as_deref()),
            impact: notes::text(shown(self.impact.as_ref(), &item).as_deref()),
            contact: json("contact", self.contact.as_ref(), &item, Value::is_object, notes),
            check_details: json(
                "checkDetails",
                self.check_details.as_ref(),
                &item,
                Value::is_object,
                notes,
            ),
            healthy,
            state,
            code: notes::default_code(healthy),
            latency: latency.unwrap_or_default(),
            skipped,
            error: json("error", self.error.as_ref(), &item, |value| !value.is_null(), notes),
            error_message: message(self.error_message.as_ref(), &item),
            checked_at: now,
        })
    }

    fn name_of(&self, key: Option<&str>, item: &Value) -> Result<String, Reason> {
        let path = match (&self.name, key) {
            (Name::Key, Some(key)) => return notes::name(key),
            (Name::Key, None) => {
                return Err(r#""name" is "$key", but the items are those of an array"#.into());
            }
            (Name::Path(path), _) => path,
        };
        match Scalar::of(path.find(item)) {
            Scalar::Missing => Err(format!(r#""name" is missing at {:?}"#, path.as_str()).into()),
            Scalar::Bool(_) | Scalar::Nested => {
                Err(format!(r#""name" at {:?} is not a text"#, path.as_str()).into())
            }
            value => notes::name(&value.shown().unwrap_or_default()),
        }
    }

    fn health_of(&self, item: &Value) -> Result<(bool, HealthState), Reason> {
        let value = self.healthy.find(item);
        health::understand(&value).ok_or_else(|| {
            let path = self.healthy.path().as_str();
            match value.shown() {
                None if value.is_missing() => format!(r#""healthy" is missing at {path:?}"#).into(),
                None => format!(r#""healthy" at {path:?} is neither a boolean nor a word"#).into(),
                Some(word) => {
                    let word = clip(&word, MAX_EXCERPT_CHARS);
                    format!(r#""healthy" at {path:?} is {word:?}, which is no known word"#).into()
                }
            }
        })
    }
}

fn object(raw: &RawValue) -> Result<Value, Reason> {
    if !raw.get().starts_with('{') {
        return Err(NOT_AN_OBJECT);
    }
    if raw.get().len() > MAX_MAPPED_ITEM_BYTES {
        return Err(format!("it is larger than {MAX_MAPPED_ITEM_BYTES} bytes").into());
    }
    serde_json::from_str(raw.get()).map_err(|error| notes::unreadable(&error))
}

fn found<'a>(rule: Option<&Rule>, item: &'a Value) -> Scalar<'a> {
    rule.map_or(Scalar::Missing, |rule| rule.find(item))
}

fn shown(rule: Option<&Rule>, item: &Value) -> Option<String> {
    found(rule, item).shown().map(Cow::into_owned)
}

fn message(path: Option<&Path>, item: &Value) -> Option<String> {
    notes::text(Scalar::of(path?.find(item)).shown().as_deref())
}

fn json(
    key: &str,
    path: Option<&Path>,
    item: &Value,
    fits: impl FnOnce(&Value) -> bool,
    notes: &mut Notes<'_>,
) -> Option<String> {
    let value = path?.find(item).filter(|value| fits(value))?;
    notes.json(key, canonical::of_value(value))
}

/// A boolean, also as text.
fn truth(value: &Scalar<'_>) -> Option<bool> {
    match value {
        Scalar::Text(text) if text.eq_ignore_ascii_case("true") => Some(true),
        Scalar::Text(text) if text.eq_ignore_ascii_case("false") => Some(false),
        other => other.boolean(),
    }
}
