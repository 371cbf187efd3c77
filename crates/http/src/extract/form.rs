//! A body that a script sends as JSON, and a page without a script as a form.

use axum::extract::{FromRef, FromRequest, Request};
use percent_encoding::percent_decode;
use serde::de::DeserializeOwned;

use super::media::Media;
use super::{body, json, media, words};
use crate::code::Code;
use crate::error::{Error, echo};
use crate::limits::Limits;

/// A body of either kind, read within the limits.
#[derive(Debug, Clone, Copy)]
pub struct JsonOrForm<T> {
    /// What was sent.
    pub value: T,
    /// How it was sent, since a browser that sends a form waits for a page.
    pub media: Media,
}

impl<S, T> FromRequest<S> for JsonOrForm<T>
where
    S: Send + Sync,
    T: DeserializeOwned,
    Limits: FromRef<S>,
{
    type Rejection = Error;

    async fn from_request(request: Request, state: &S) -> Result<Self, Error> {
        let media = media::expect(request.headers(), &[Media::Json, Media::Form])?;
        let bytes = body::read(request.into_body(), &Limits::from_ref(state)).await?;
        let value = match media {
            Media::Json => json::parse(&bytes)?,
            Media::Form => parse(&bytes)?,
        };
        Ok(Self { value, media })
    }
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    // The parser would put a replacement character where a password holds something else.
    if percent_decode(bytes).decode_utf8().is_err() {
        let detail = "The form is not UTF-8 once its % parts are decoded. Encode it as UTF-8.";
        return Err(Error::new(Code::InvalidBody, detail));
    }
    let deserializer = serde_urlencoded::Deserializer::new(form_urlencoded::parse(bytes));
    serde_path_to_error::deserialize(deserializer).map_err(|error| {
        let field = echo(&error.path().to_string());
        let reason = error.into_inner().to_string();
        let reason = echo(&words::in_words(&reason));
        let place = if field == "." { "The form".into() } else { format!("`{field}`") };
        Error::new(Code::InvalidBody, format!("{place} is not as expected: {reason}."))
            .with("field", field)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Login {
        email: String,
        password: String,
        next: Option<String>,
        tries: Option<u8>,
    }

    fn login(password: &str) -> Login {
        Login { email: "a@b.example".into(), password: password.into(), next: None, tries: None }
    }

    #[test]
    fn a_form_is_decoded() {
        for (text, expected) in [
            ("email=a%40b.example&password=p", login("p")),
            ("password=p&email=a%40b.example&", login("p")),
            ("email=a@b.example&password=a+b%2B%26%3D%25", login("a b+&=%")),
            ("email=a@b.example&password=%E2%82%AC\u{e4}", login("€ä")),
            ("email=a@b.example&password=", login("")),
            ("email=a@b.example&password=a=b", login("a=b")),
            // What is no escape stands for itself, as the standard of forms says.
            ("email=a@b.example&password=100%", login("100%")),
            (
                "email=a@b.example&password=p&next=&tries=3",
                Login { next: Some(String::new()), tries: Some(3), ..login("p") },
            ),
        ] {
            assert_eq!(parse::<Login>(text.as_bytes()).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_as_expected_is_refused_by_name() {
        for (text, word) in [
            (&b""[..], "missing field `email`"),
            (b"email=a", "missing field `password`"),
            (b"email=a&password=b&more=1", "unknown field `more`"),
            (b"email=a&email=b&password=c", "duplicate field `email`"),
            (b"email=a&password=b&tries=x", "`tries`"),
            (b"email=a&password=b&tries=256", "`tries`"),
            (b"{\"email\":\"a\",\"password\":\"b\"}", "unknown field"),
            (b"email=a&password=%ff", "UTF-8"),
            (b"email=a&password=\xff", "UTF-8"),
        ] {
            let error = parse::<Login>(text).unwrap_err();
            assert_eq!(error.code(), Code::InvalidBody);
            let told = error.to_string();
            assert!(told.contains(word), "{}: {told}", String::from_utf8_lossy(text));
        }
    }
}
