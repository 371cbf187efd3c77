//! The query of a request.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use super::words;
use crate::code::Code;
use crate::error::{Error, echo};

/// The query, read as `T`.
#[derive(Debug, Clone, Copy)]
pub struct Query<T>(pub T);

impl<S, T> FromRequestParts<S> for Query<T>
where
    S: Send + Sync,
    T: DeserializeOwned,
{
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        match axum::extract::Query::try_from_uri(&parts.uri) {
            Ok(axum::extract::Query(value)) => Ok(Self(value)),
            Err(rejection) => {
                let text = rejection.body_text();
                let reason = text.rsplit_once("query string: ").map_or(&*text, |(_, end)| end);
                Err(refusal(reason))
            }
        }
    }
}

/// A reason begins with the name of its parameter, where it is that of one.
fn refusal(reason: &str) -> Error {
    let is_name = |name: &str| {
        name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') && !name.is_empty()
    };
    let reason = match reason.split_once(": ") {
        Some((name, reason)) if is_name(name) => format!("`{name}`: {}", words::in_words(reason)),
        _ => words::in_words(reason).into_owned(),
    };
    Error::new(Code::InvalidQuery, format!("The query is not as expected: {}.", echo(&reason)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_named_and_no_type_is() {
        for (reason, wanted) in [
            ("limit: invalid digit found in string", "`limit`: expected a whole number."),
            ("limit: number too large to fit in target type", "`limit`: the number is too large."),
            ("missing field `to`", "missing field `to`."),
            ("unknown variant `x`, expected `a` or `b`", "unknown value `x`, expected `a` or `b`."),
        ] {
            let told = refusal(reason).to_string();
            assert!(told.ends_with(&format!("The query is not as expected: {wanted}")), "{told}");
        }
    }
}
