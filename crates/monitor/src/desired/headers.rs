//! Headers as people give them. Whatever stands in their place, or in place of a value, may be the
//! secret itself: it is refused with a sentence that repeats none of it.

use std::collections::BTreeMap;
use std::fmt;

use mainstay_base::Secret;
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

const EXPECTED: &str = "expected headers by their names, each with a text as its value";
const EXPECTED_TEXT: &str = "expected a text (in quotes) or null as a header's value";

/// The value of a header: a text, or nothing for the one that is stored.
///
/// It is written out as it is, for whoever sends a document; what is read back never holds one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeaderText(pub Option<Secret<String>>);

/// Reads headers; `null` in place of all of them is `None`.
///
/// # Errors
/// When they are no map of texts, without repeating what they are.
pub fn read_headers<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<BTreeMap<String, HeaderText>>, D::Error> {
    // Asked for a map, a deserializer writes the error itself, and shows what it found.
    deserializer.deserialize_any(All)
}

/// Reads headers that are given.
pub(super) fn given<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, HeaderText>, D::Error> {
    read_headers(deserializer)?.ok_or_else(|| D::Error::custom(EXPECTED))
}

impl Serialize for HeaderText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_ref().map(Secret::expose).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for HeaderText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Text)
    }
}

struct All;

struct Text;

/// Refuses values of these kinds without showing them.
macro_rules! refuse {
    ($says:ident: $($visit:ident $kind:ty),+) => {
        $(fn $visit<E: serde::de::Error>(self, _: $kind) -> Result<Self::Value, E> {
            Err(E::custom($says))
        })+

        fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Self::Value, A::Error> {
            Err(A::Error::custom($says))
        }
    };
}

impl<'de> Visitor<'de> for All {
    type Value = Option<BTreeMap<String, HeaderText>>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("headers")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut headers = BTreeMap::new();
        while let Some((name, text)) = map.next_entry()? {
            headers.insert(name, text);
        }
        Ok(Some(headers))
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<Self::Value, D::Error> {
        inner.deserialize_any(self)
    }

    refuse!(EXPECTED: visit_str &str, visit_bool bool, visit_i64 i64, visit_u64 u64, visit_f64 f64);
}

impl<'de> Visitor<'de> for Text {
    type Value = HeaderText;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text or null")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<HeaderText, E> {
        self.visit_string(text.to_owned())
    }

    fn visit_string<E: serde::de::Error>(self, text: String) -> Result<HeaderText, E> {
        Ok(HeaderText(Some(Secret::new(text))))
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<HeaderText, E> {
        Ok(HeaderText(None))
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<HeaderText, E> {
        Ok(HeaderText(None))
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<HeaderText, D::Error> {
        inner.deserialize_any(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<HeaderText, A::Error> {
        Err(A::Error::custom(EXPECTED_TEXT))
    }

    refuse!(EXPECTED_TEXT: visit_bool bool, visit_i64 i64, visit_u64 u64, visit_f64 f64);
}
