//! What a placeholder holds. A NULL has a type, because PostgreSQL refuses one without.

use mainstay_base::{BoundedText, Id, Timestamp};

/// A value for a placeholder (`$1`, `$2`, …), or the typed absence of one.
#[derive(Clone, PartialEq)]
pub enum Value<'a> {
    /// A whole number, a time in ms, or a bool as 0/1.
    Int(Option<i64>),
    /// A floating-point number.
    Real(Option<f64>),
    /// Text without NUL.
    Text(Option<&'a str>),
    /// Text made for this statement, such as an id.
    OwnedText(String),
    /// Raw bytes.
    Bytes(Option<&'a [u8]>),
    /// Many whole numbers in one placeholder: an array on PostgreSQL (`= ANY($1)`, `unnest($1)`), a
    /// JSON text on SQLite (`IN (SELECT value FROM json_each($1))`).
    Ints(&'a [i64]),
    /// Many texts in one placeholder, as [`Value::Ints`].
    Texts(&'a [String]),
}

impl std::fmt::Debug for Value<'_> {
    /// A value may be anything, a secret too: only its type is printed.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Int(_) => "Int",
            Self::Real(_) => "Real",
            Self::Text(_) | Self::OwnedText(_) => "Text",
            Self::Bytes(_) => "Bytes",
            Self::Ints(_) => "Ints",
            Self::Texts(_) => "Texts",
        })
    }
}

impl Value<'_> {
    /// Whether a text inside holds a NUL.
    pub(crate) fn has_nul(&self) -> bool {
        match self {
            Self::Text(text) => text.is_some_and(|text| text.contains('\0')),
            Self::OwnedText(text) => text.contains('\0'),
            Self::Texts(texts) => texts.iter().any(|text| text.contains('\0')),
            Self::Int(_) | Self::Real(_) | Self::Bytes(_) | Self::Ints(_) => false,
        }
    }
}

/// The values of a statement, in the order of its placeholders: `values![id, name, None::<i64>]`.
#[macro_export]
macro_rules! values {
    ($($value:expr),* $(,)?) => { &[$($crate::Value::from($value)),*] };
}

macro_rules! from_optional {
    ($type:ty, $value:ident => $converted:expr, $variant:ident) => {
        impl<'a> From<$type> for Value<'a> {
            fn from($value: $type) -> Self {
                Self::$variant(Some($converted))
            }
        }

        impl<'a> From<Option<$type>> for Value<'a> {
            fn from(optional: Option<$type>) -> Self {
                Self::$variant(optional.map(|$value| $converted))
            }
        }
    };
}

from_optional!(i64, value => value, Int);
from_optional!(i32, value => i64::from(value), Int);
from_optional!(u32, value => i64::from(value), Int);
from_optional!(bool, value => i64::from(value), Int);
from_optional!(Timestamp, value => value.as_millis(), Int);
from_optional!(f64, value => value, Real);
from_optional!(&'a str, value => value, Text);
from_optional!(&'a String, value => value.as_str(), Text);
from_optional!(&'a [u8], value => value, Bytes);

impl<'a> From<&'a [i64]> for Value<'a> {
    fn from(ints: &'a [i64]) -> Self {
        Self::Ints(ints)
    }
}

impl<'a> From<&'a Vec<i64>> for Value<'a> {
    fn from(ints: &'a Vec<i64>) -> Self {
        Self::Ints(ints)
    }
}

impl<'a> From<&'a [String]> for Value<'a> {
    fn from(texts: &'a [String]) -> Self {
        Self::Texts(texts)
    }
}

impl<'a> From<&'a Vec<String>> for Value<'a> {
    fn from(texts: &'a Vec<String>) -> Self {
        Self::Texts(texts)
    }
}

impl From<Id> for Value<'_> {
    fn from(id: Id) -> Self {
        Self::OwnedText(id.to_string())
    }
}

impl From<Option<Id>> for Value<'_> {
    fn from(id: Option<Id>) -> Self {
        id.map_or(Self::Text(None), Self::from)
    }
}

impl<'a, const MAX: usize> From<&'a BoundedText<MAX>> for Value<'a> {
    fn from(text: &'a BoundedText<MAX>) -> Self {
        Self::Text(Some(text.as_str()))
    }
}
