//! The generation that a caller thinks a thing has.

use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;

use crate::code::Code;
use crate::error::Error;

/// What `If-Match` names, where it is sent: a generation, with quotes or without; `*` is any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IfMatch(pub(crate) Option<i64>);

impl<S: Send + Sync> FromRequestParts<S> for IfMatch {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        let mut values = parts.headers.get_all(header::IF_MATCH).iter();
        match (values.next(), values.next()) {
            (None, _) => Ok(Self(None)),
            (Some(value), None) => value.to_str().ok().and_then(read).ok_or_else(unreadable),
            (Some(_), Some(_)) => Err(unreadable()),
        }
    }
}

fn read(text: &str) -> Option<IfMatch> {
    let text = text.trim();
    if text == "*" {
        return Some(IfMatch(None));
    }
    let bare = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    let is_number = !bare.is_empty() && bare.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| bare.parse().ok()).flatten().map(|number| IfMatch(Some(number)))
}

fn unreadable() -> Error {
    let detail = "Send one generation, such as If-Match: 7, or leave the header out.";
    Error::new(Code::InvalidIfMatch, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generation_is_a_number_with_quotes_or_without() {
        for (text, wanted) in [
            ("7", Some(Some(7))),
            ("\"7\"", Some(Some(7))),
            (" 7 ", Some(Some(7))),
            ("*", Some(None)),
            ("", None),
            ("\"\"", None),
            ("W/\"7\"", None),
            ("-7", None),
            ("7, 8", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(read(text).map(|IfMatch(number)| number), wanted, "{text:?}");
        }
    }
}
