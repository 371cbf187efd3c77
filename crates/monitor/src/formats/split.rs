//! Cuts a body into its items without reading them. JSON is checked as a whole here, in a loop and
//! not by recursion, so that no depth of nesting costs stack.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::bounds::MAX_ITEMS;
use super::error::BadBody;

/// Some programs put it before their JSON, where RFC 8259 lets a reader ignore it.
const BYTE_ORDER_MARK: char = '\u{FEFF}';

/// The document or a part of it, one level down.
#[derive(Debug)]
pub(crate) enum Split<'a> {
    /// The items of an array.
    Array(Vec<&'a RawValue>),
    /// The members of an object.
    Object(Vec<(Cow<'a, str>, &'a RawValue)>),
    /// An array or object with more than [`MAX_ITEMS`].
    TooMany,
    /// Neither array nor object, but this.
    Scalar(&'static str),
}

/// The body as text.
pub(crate) fn text(body: &[u8]) -> Result<&str, BadBody> {
    let text = std::str::from_utf8(body)
        .map_err(|error| BadBody::NotUtf8 { offset: error.valid_up_to() })?;
    Ok(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text))
}

/// The document, cut one level down.
pub(crate) fn split(text: &str) -> Result<Split<'_>, BadBody> {
    serde_json::from_str(text).map_err(|error| not_json(&error))
}

/// The document, checked but not cut.
pub(crate) fn whole(text: &str) -> Result<&RawValue, BadBody> {
    serde_json::from_str(text).map_err(|error| not_json(&error))
}

/// What stands under this key of an object (the last one, if there are several) or at this index of
/// an array.
pub(crate) fn child<'a>(
    value: &'a RawValue,
    key: &str,
    index: Option<usize>,
) -> Result<Option<&'a RawValue>, BadBody> {
    if !value.get().starts_with(['{', '[']) {
        return Ok(None);
    }
    let mut document = serde_json::Deserializer::from_str(value.get());
    Pick { key, index }.deserialize(&mut document).map_err(|error| not_json(&error))
}

/// The texts of these errors are fixed: they repeat nothing of the body.
fn not_json(error: &serde_json::Error) -> BadBody {
    BadBody::NotJson { reason: error.to_string() }
}

impl<'de: 'a, 'a> Deserialize<'de> for Split<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SplitVisitor)
    }
}

struct SplitVisitor;

impl<'de> Visitor<'de> for SplitVisitor {
    type Value = Split<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while list.len() < MAX_ITEMS {
            match items.next_element()? {
                Some(item) => list.push(item),
                None => return Ok(Split::Array(list)),
            }
        }
        let mut more = false;
        while items.next_element::<IgnoredAny>()?.is_some() {
            more = true;
        }
        Ok(if more { Split::TooMany } else { Split::Array(list) })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while list.len() < MAX_ITEMS {
            match members.next_entry::<Key<'de>, _>()? {
                Some((Key(key), value)) => list.push((key, value)),
                None => return Ok(Split::Object(list)),
            }
        }
        let mut more = false;
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            more = true;
        }
        Ok(if more { Split::TooMany } else { Split::Object(list) })
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Split::Scalar("a boolean"))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Split::Scalar("a number"))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Split::Scalar("a number"))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Split::Scalar("a number"))
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(Split::Scalar("a string"))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Split::Scalar("null"))
    }
}

/// A key, borrowed where it has no escapes.
#[derive(Deserialize)]
pub(crate) struct Key<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

/// Takes one value out of an array or object and passes over the others.
struct Pick<'k> {
    key: &'k str,
    index: Option<usize>,
}

impl<'de> DeserializeSeed<'de> for Pick<'_> {
    type Value = Option<&'de RawValue>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Pick<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array or an object")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        let mut at = 0_usize;
        while let Some(item) = items.next_element()? {
            if self.index == Some(at) {
                found = Some(item);
            }
            at = at.saturating_add(1);
        }
        Ok(found)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some((Key(name), value)) = members.next_entry()? {
            if name == self.key {
                found = Some(value);
            }
        }
        Ok(found)
    }
}
