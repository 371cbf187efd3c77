//! JSON in canonical form: keys sorted, no white space, no NUL. Equal values have equal texts, which
//! is how a changed error is told from the same one again.

use std::borrow::Cow;
use std::fmt;

use mainstay_base::replace_nul;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::bounds::MAX_JSON_BYTES;
use super::split::Key;

/// Why JSON is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// More than [`MAX_JSON_BYTES`].
    TooLarge,
    /// Nested too deeply, a number that no float holds, half a surrogate pair.
    Unreadable,
}

/// The canonical form of a JSON text.
pub(crate) fn of_text(json: &str) -> Result<String, Unfit> {
    // What is too large as it stands is not worth reading.
    if json.len() > MAX_JSON_BYTES {
        return Err(Unfit::TooLarge);
    }
    let node: Node<'_> = serde_json::from_str(json).map_err(|_| Unfit::Unreadable)?;
    of_node(&node)
}

/// The canonical form of a value that was read already.
pub(crate) fn of_value(value: &serde_json::Value) -> Result<String, Unfit> {
    of_node(&Node::deserialize(value).map_err(|_| Unfit::Unreadable)?)
}

fn of_node(node: &Node<'_>) -> Result<String, Unfit> {
    let text = serde_json::to_string(node).map_err(|_| Unfit::Unreadable)?;
    if text.len() > MAX_JSON_BYTES { Err(Unfit::TooLarge) } else { Ok(text) }
}

/// A value whose strings are borrowed where they can be and whose objects are sorted.
enum Node<'a> {
    Null,
    Bool(bool),
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    Text(Cow<'a, str>),
    Array(Vec<Node<'a>>),
    Object(Vec<(Cow<'a, str>, Node<'a>)>),
}

impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Signed(value) => serializer.serialize_i64(*value),
            Self::Unsigned(value) => serializer.serialize_u64(*value),
            Self::Float(value) => serializer.serialize_f64(*value),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Array(items) => serializer.collect_seq(items),
            Self::Object(members) => {
                serializer.collect_map(members.iter().map(|(key, value)| (key, value)))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Node<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Node::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Node::Signed(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Node::Unsigned(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Node::Float(value))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Node::Text(replace_nul(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Node::Text(Cow::Owned(replace_nul(text).into_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Node::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut list: Vec<(Cow<'de, str>, Node<'de>)> = Vec::new();
        while let Some((Key(key), value)) = members.next_entry()? {
            list.push((clean(key), value));
        }
        // The last of equal keys counts, as in most readers: reversed, the stable sort has it first.
        list.reverse();
        list.sort_by(|(one, _), (other, _)| one.cmp(other));
        list.dedup_by(|(later, _), (kept, _)| later == kept);
        Ok(Node::Object(list))
    }
}

fn clean(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => replace_nul(text),
        Cow::Owned(text) => Cow::Owned(replace_nul(&text).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_equal_texts() {
        for (json, expected) in [
            (r#" {"b" : 1, "a" : {"d":[], "c":null}} "#, r#"{"a":{"c":null,"d":[]},"b":1}"#),
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
            (r#"[3, 1, 2]"#, "[3,1,2]"),
            ("-7", "-7"),
            ("1.50", "1.5"),
            ("18446744073709551615", "18446744073709551615"),
            (r#""a\u0000b""#, "\"a\u{FFFD}b\""),
            (r#"{"k\u0000":"\u00e4\n"}"#, "{\"k\u{FFFD}\":\"ä\\n\"}"),
            (r#"false"#, "false"),
        ] {
            assert_eq!(of_text(json).as_deref(), Ok(expected), "{json}");
            let value = serde_json::from_str(json).unwrap();
            assert_eq!(of_value(&value).as_deref(), Ok(expected), "{json}");
        }
    }

    #[test]
    fn what_does_not_fit_is_left_out() {
        let long = format!("\"{}\"", "x".repeat(MAX_JSON_BYTES));
        let grown = format!("[{}1e15]", "1e15,".repeat(2_000));
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for (json, unfit) in [
            (long.as_str(), Unfit::TooLarge),
            (&grown, Unfit::TooLarge),
            (&deep, Unfit::Unreadable),
            ("1e999", Unfit::Unreadable),
            (r#""\ud800""#, Unfit::Unreadable),
        ] {
            assert_eq!(of_text(json), Err(unfit), "{}", bounds_of(json));
        }
        let fits = format!("\"{}\"", "x".repeat(MAX_JSON_BYTES - 2));
        assert_eq!(of_text(&fits).as_deref(), Ok(fits.as_str()));
    }

    fn bounds_of(json: &str) -> String {
        json.chars().take(20).collect()
    }
}
