//! Which kind of body a request announces.

use axum::http::{HeaderMap, header};

use crate::code::Code;
use crate::error::{Error, echo};

/// The kinds of bodies that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Media {
    /// `application/json` and its kin.
    Json,
    /// `application/x-www-form-urlencoded`, as a form without a script sends it.
    Form,
}

/// The announced kind, when it is one of `expected`.
pub(super) fn expect(headers: &HeaderMap, expected: &[Media]) -> Result<Media, Error> {
    if headers.get(header::CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
        let detail = "Compressed bodies are not read. Send it without Content-Encoding.";
        return Err(Error::new(Code::UnsupportedMediaType, detail));
    }
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if let Some(media) = given.and_then(read).filter(|media| expected.contains(media)) {
        return Ok(media);
    }
    let found = given.map_or_else(|| "missing".to_owned(), |given| format!("`{}`", echo(given)));
    let names: Vec<_> = expected.iter().map(|media| media.name()).collect();
    let detail = format!("Content-Type is {found}. Send the body as {}.", names.join(" or "));
    Err(Error::new(Code::UnsupportedMediaType, detail))
}

impl Media {
    /// The announced kind, if it is one of these.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).and_then(read)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Form => FORM,
        }
    }
}

const FORM: &str = "application/x-www-form-urlencoded";

fn read(content_type: &str) -> Option<Media> {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.strip_prefix("application/")? {
        "json" => Some(Media::Json),
        other if other.ends_with("+json") => Some(Media::Json),
        _ if essence == FORM => Some(Media::Form),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_known_by_its_media_type() {
        for (text, expected) in [
            ("application/json", Some(Media::Json)),
            ("Application/JSON; charset=utf-8", Some(Media::Json)),
            ("application/problem+json", Some(Media::Json)),
            ("application/x-www-form-urlencoded", Some(Media::Form)),
            ("application/X-WWW-form-urlencoded;charset=UTF-8", Some(Media::Form)),
            ("text/json", None),
            ("application/jsonx", None),
            ("application/x-www-form-urlencoded2", None),
            ("multipart/form-data; boundary=x", None),
            ("text/plain", None),
            ("", None),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn the_refusal_names_what_would_be_read() {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, FORM.parse().unwrap());
        let told = |expected: &[Media]| expect(&headers, expected).unwrap_err().to_string();
        assert!(told(&[Media::Json]).ends_with("Send the body as application/json."));
        headers.insert(header::CONTENT_TYPE, "text/plain".parse().unwrap());
        let told = expect(&headers, &[Media::Json, Media::Form]).unwrap_err().to_string();
        assert!(told.contains("`text/plain`"), "{told}");
        assert!(told.ends_with("application/json or application/x-www-form-urlencoded."), "{told}");
    }
}
