//! A JSON body, in and out.

use axum::body::Body;
use axum::extract::{FromRef, FromRequest, Request};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::error::Category;

use super::media::Media;
use super::{body, media, words};
use crate::code::Code;
use crate::error::{APPLICATION_JSON, Error, echo};
use crate::limits::Limits;

/// A JSON body: as an argument it is read within the limits, as an answer it is written.
#[derive(Debug, Clone, Copy)]
pub struct Json<T>(pub T);

impl<S, T> FromRequest<S> for Json<T>
where
    S: Send + Sync,
    T: DeserializeOwned,
    Limits: FromRef<S>,
{
    type Rejection = Error;

    async fn from_request(request: Request, state: &S) -> Result<Self, Error> {
        media::expect(request.headers(), &[Media::Json])?;
        let bytes = body::read(request.into_body(), &Limits::from_ref(state)).await?;
        parse(&bytes).map(Self)
    }
}

/// A JSON body of at most so many bytes, where the usual limit is too small.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LargeJson<T, const BYTES: usize>(pub(crate) T);

impl<S, T, const BYTES: usize> FromRequest<S> for LargeJson<T, BYTES>
where
    S: Send + Sync,
    T: DeserializeOwned,
    Limits: FromRef<S>,
{
    type Rejection = Error;

    async fn from_request(request: Request, state: &S) -> Result<Self, Error> {
        media::expect(request.headers(), &[Media::Json])?;
        let limits = Limits { body_bytes: BYTES, ..Limits::from_ref(state) };
        let bytes = body::read(request.into_body(), &limits).await?;
        parse(&bytes).map(Self)
    }
}

/// A request that says nothing more: without a body, or with an empty object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoBody;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

impl<S> FromRequest<S> for NoBody
where
    S: Send + Sync,
    Limits: FromRef<S>,
{
    type Rejection = Error;

    async fn from_request(request: Request, state: &S) -> Result<Self, Error> {
        let bytes = body::read(request.into_body(), &Limits::from_ref(state)).await?;
        if bytes.is_empty() {
            return Ok(Self);
        }
        parse::<Nothing>(&bytes).map(|_| Self)
    }
}

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        match serde_json::to_vec(&self.0) {
            Ok(bytes) => {
                ([(header::CONTENT_TYPE, APPLICATION_JSON)], Body::from(bytes)).into_response()
            }
            Err(error) => Error::internal(error).into_response(),
        }
    }
}

/// Reads the whole of `bytes` as one JSON object.
pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    // A list would be taken for the fields of an object in the order in which the program has them.
    if let Some(found) = words::no_object(bytes).filter(|_| is_json(bytes)) {
        return Err(shape(".", &format!("found {found}, expected an object")));
    }
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let read = serde_path_to_error::deserialize(&mut deserializer);
    let refused = match read {
        Ok(value) => match deserializer.end() {
            Ok(()) => return Ok(value),
            Err(error) => (".".to_owned(), error),
        },
        Err(error) => (error.path().to_string(), error.into_inner()),
    };
    Err(refusal(bytes, &refused.0, &refused.1))
}

fn refusal(bytes: &[u8], path: &str, error: &serde_json::Error) -> Error {
    let (line, column) = (error.line(), error.column());
    let text = error.to_string();
    // serde_json ends its text with the place, which has its own fields here.
    let reason = text.rsplit_once(" at line ").map_or(&*text, |(reason, _)| reason);
    match error.classify() {
        Category::Data => shape(path, &words::in_words(reason)),
        // A number in place of a word is a mistake of syntax for serde_json, and valid JSON.
        _ if is_json(bytes) => shape(path, OTHER_KIND),
        Category::Syntax | Category::Eof | Category::Io => {
            let reason = echo(reason);
            let detail = format!("Line {line}, column {column}: {reason}. Send valid JSON.");
            Error::new(Code::MalformedJson, detail)
        }
    }
    .with("line", line)
    .with("column", column)
}

fn is_json(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
}

const OTHER_KIND: &str = "another kind of value is expected";

fn shape(path: &str, reason: &str) -> Error {
    let field = echo(path);
    let place = if path == "." { "The body".into() } else { format!("`{field}`") };
    let detail = format!("{place} is not as expected: {}.", echo(reason));
    Error::new(Code::InvalidBody, detail).with("field", field)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Order {
        #[expect(dead_code, reason = "only its type matters here")]
        items: Vec<Item>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Item {
        #[expect(dead_code, reason = "only its type matters here")]
        count: u8,
    }

    fn refused(text: &str) -> (Code, String) {
        let error = parse::<Order>(text.as_bytes()).unwrap_err();
        (error.code(), error.to_string())
    }

    #[test]
    fn a_wrong_type_names_the_field_by_its_whole_path() {
        let (code, text) = refused(r#"{"items":[{"count":1},{"count":"two"}]}"#);
        assert_eq!(code, Code::InvalidBody);
        assert!(text.contains("`items[1].count`"), "{text}");
        assert!(text.contains("found a text, expected a whole number from 0 to 255"), "{text}");
    }

    #[test]
    fn what_stands_in_place_of_the_body_is_not_repeated() {
        for (text, kind) in [
            (r#""70707 at line 7, expected 70707""#, "found a text"),
            ("70707", "found a number"),
            ("true", "found true or false"),
            ("null", "found null"),
            ("[70707]", "found a list"),
            ("[]", "found a list"),
        ] {
            let (code, told) = refused(text);
            assert_eq!(code, Code::InvalidBody);
            assert!(told.contains(kind) && !told.contains("707"), "{told}");
            assert!(told.contains("expected an object"), "{told}");
        }
    }

    #[test]
    fn a_list_is_not_taken_for_the_fields_of_an_object() {
        #[derive(Debug, Deserialize)]
        struct NewShare {
            #[expect(dead_code, reason = "only its type matters here")]
            expires_in: Option<u64>,
        }
        assert!(parse::<NewShare>(b"{\"expires_in\":120}").is_ok());
        for text in ["[120]", " [null]", "[]"] {
            assert_eq!(
                parse::<NewShare>(text.as_bytes()).unwrap_err().code(),
                Code::InvalidBody,
                "{text}"
            );
        }
    }

    #[test]
    fn a_number_in_place_of_a_word_is_json() {
        #[derive(Debug, Deserialize)]
        enum Word {
            Yes,
        }
        type Words = std::collections::BTreeMap<String, Word>;
        assert!(matches!(parse::<Words>(b"{\"a\":\"Yes\"}").unwrap()["a"], Word::Yes));
        let error = parse::<Words>(b"{\"a\":1}").unwrap_err();
        assert_eq!(error.code(), Code::InvalidBody);
        assert!(error.to_string().contains("`a`"), "{error}");
    }

    #[test]
    fn an_unknown_field_is_named_with_what_was_expected() {
        let (code, text) = refused(r#"{"items":[],"itmes":[]}"#);
        assert_eq!(code, Code::InvalidBody);
        assert!(text.contains("unknown field `itmes`, expected `items`"), "{text}");
    }

    #[test]
    fn what_is_no_json_is_told_by_line_and_column() {
        for (text, place) in [
            ("{\n  \"items\": [}", "Line 2, column 13"),
            ("", "Line 1, column 0"),
            ("{\"items\":[]} x", "Line 1, column 14"),
            ("\u{feff}{}", "Line 1, column 1"),
        ] {
            let (code, message) = refused(text);
            assert_eq!(code, Code::MalformedJson, "{text}");
            assert!(message.contains(place), "{message}");
        }
    }

    #[test]
    fn deep_nesting_is_refused_before_it_fills_the_stack() {
        let deep = "[".repeat(100_000);
        let error = parse::<serde_json::Value>(deep.as_bytes()).unwrap_err();
        assert_eq!(error.code(), Code::MalformedJson);
    }

    #[test]
    fn long_names_from_outside_are_cut() {
        let (_, text) = refused(&format!(r#"{{"{}":1}}"#, "x".repeat(10_000)));
        assert!(text.len() < 400, "{}", text.len());
    }
}
