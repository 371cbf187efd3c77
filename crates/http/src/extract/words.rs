//! What a parser says of what it can't read, for people: without the names of types, and without the value,
//! which may be all that somebody wants to keep secret. Pure.

use std::borrow::Cow;

const OTHER: &str = "another kind of value";

/// The same as a parser's reason, in words.
pub(super) fn in_words(reason: &str) -> Cow<'_, str> {
    if let Some(rest) = reason.strip_prefix("invalid type: ") {
        return mismatch(rest);
    }
    if reason.starts_with("invalid value: ") || reason.starts_with("invalid length ") {
        return match reason.rsplit_once(", expected ") {
            Some((_, wanted)) => format!("expected {}", expected(wanted)).into(),
            None => format!("expected {OTHER}").into(),
        };
    }
    if let Some(rest) = reason.strip_prefix("unknown variant ") {
        return format!("unknown value {rest}").into();
    }
    match reason {
        "invalid digit found in string" | "cannot parse integer from empty string" => {
            "expected a whole number".into()
        }
        "number too large to fit in target type" | "number out of range" => {
            "the number is too large".into()
        }
        "number too small to fit in target type" => "the number is too small".into(),
        "invalid float literal" | "cannot parse float from empty string" => {
            "expected a number".into()
        }
        "provided string was not `true` or `false`" => "expected true or false".into(),
        _ => reason.into(),
    }
}

/// What a parser calls the kind of value that it wants.
pub(super) fn expected(wanted: &str) -> Cow<'_, str> {
    match wanted {
        "u8" => "a whole number from 0 to 255".into(),
        "u16" => "a whole number from 0 to 65535".into(),
        "u32" | "u64" | "u128" | "usize" => "a whole number that is not negative".into(),
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => "a whole number".into(),
        "f32" | "f64" => "a number".into(),
        "a boolean" | "bool" => "true or false".into(),
        "a string" | "a borrowed string" | "string" | "str" | "String" | "a character" => {
            "a text".into()
        }
        "a sequence" => "a list".into(),
        "a map" => "an object".into(),
        "unit" => "null".into(),
        _ if wanted.starts_with("struct ") => "an object".into(),
        _ if [
            "enum ",
            "tuple ",
            "newtype ",
            "unit ",
            "variant ",
            "option",
            "an array of",
            "internally",
            "adjacently",
        ]
        .iter()
        .any(|of_rust| wanted.starts_with(of_rust)) =>
        {
            OTHER.into()
        }
        // Whoever wrote a parser of their own wrote this for people.
        _ => wanted.into(),
    }
}

/// The kind of a value of JSON that is no object, by how it begins; `None` for an object and for what is no JSON.
pub(super) fn no_object(text: &[u8]) -> Option<&'static str> {
    let first = text.iter().find(|byte| !byte.is_ascii_whitespace())?;
    match first {
        b'[' => Some("a list"),
        b'"' => Some("a text"),
        b't' | b'f' => Some("true or false"),
        b'n' => Some("null"),
        b'-' | b'0'..=b'9' => Some("a number"),
        _ => None,
    }
}

/// `string "x", expected u8`, and the value may hold any of these words.
fn mismatch(rest: &str) -> Cow<'_, str> {
    let Some((value, wanted)) = rest.rsplit_once(", expected ") else {
        return format!("expected {OTHER}").into();
    };
    let kind = value.split([' ', '`', '"', ',']).next().unwrap_or_default();
    let found = match kind {
        "null" | "unit" | "Option" => "null",
        "integer" | "floating" => "a number",
        "boolean" => "true or false",
        "string" | "character" => "a text",
        "sequence" => "a list",
        "map" => "an object",
        _ => return format!("expected {}", expected(wanted)).into(),
    };
    format!("found {found}, expected {}", expected(wanted)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_told_without_types_and_values() {
        for (reason, wanted) in [
            (
                "invalid type: string \"two\", expected u8",
                "found a text, expected a whole number from 0 to 255",
            ),
            ("invalid type: integer `5`, expected a string", "found a number, expected a text"),
            (
                "invalid type: floating point `1e+20`, expected u64",
                "found a number, expected a whole number that is not negative",
            ),
            ("invalid type: null, expected struct NewShare", "found null, expected an object"),
            (
                "invalid type: boolean `true`, expected a sequence",
                "found true or false, expected a list",
            ),
            ("invalid type: sequence, expected a map", "found a list, expected an object"),
            ("invalid type: map, expected f64", "found an object, expected a number"),
            ("invalid type: unit value, expected a boolean", "found null, expected true or false"),
            (
                "invalid type: string \"a, expected b\", expected i64",
                "found a text, expected a whole number",
            ),
            (
                "invalid type: newtype struct, expected u16",
                "expected a whole number from 0 to 65535",
            ),
            (
                "invalid type: map, expected an e-mail address",
                "found an object, expected an e-mail address",
            ),
            (
                "invalid type: integer `1`, expected enum Word",
                "found a number, expected another kind of value",
            ),
            ("invalid type: nobody knows", "expected another kind of value"),
            (
                "invalid value: integer `-1`, expected u32",
                "expected a whole number that is not negative",
            ),
            ("invalid value: nobody knows", "expected another kind of value"),
            ("invalid length 0, expected struct NewShare with 1 element", "expected an object"),
            ("invalid digit found in string", "expected a whole number"),
            ("cannot parse integer from empty string", "expected a whole number"),
            ("number too large to fit in target type", "the number is too large"),
            ("number too small to fit in target type", "the number is too small"),
            ("number out of range", "the number is too large"),
            ("invalid float literal", "expected a number"),
            ("provided string was not `true` or `false`", "expected true or false"),
            ("unknown variant `x`, expected `a` or `b`", "unknown value `x`, expected `a` or `b`"),
            ("unknown field `itmes`, expected `items`", "unknown field `itmes`, expected `items`"),
            ("missing field `items`", "missing field `items`"),
            ("duplicate field `items`", "duplicate field `items`"),
            ("it is no time", "it is no time"),
        ] {
            assert_eq!(in_words(reason), wanted, "{reason}");
        }
    }

    #[test]
    fn what_is_no_object_is_known_by_how_it_begins() {
        for (text, wanted) in [
            ("{}", None),
            (" \n\t{\"a\":1}", None),
            ("", None),
            ("x", None),
            (" [120]", Some("a list")),
            ("\"a\"", Some("a text")),
            ("-1", Some("a number")),
            ("7", Some("a number")),
            ("true", Some("true or false")),
            ("null", Some("null")),
        ] {
            assert_eq!(no_object(text.as_bytes()), wanted, "{text:?}");
        }
    }
}
