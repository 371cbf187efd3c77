//! The variable parts of a path.

use axum::extract::FromRequestParts;
use axum::extract::path::ErrorKind;
use axum::extract::rejection::PathRejection;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use super::words;
use crate::code::Code;
use crate::error::{Error, echo};

/// The variable parts of a path, read as `T`.
#[derive(Debug, Clone, Copy)]
pub struct Path<T>(pub T);

impl<S, T> FromRequestParts<S> for Path<T>
where
    S: Send + Sync,
    T: DeserializeOwned + Send,
{
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        match axum::extract::Path::from_request_parts(parts, state).await {
            Ok(axum::extract::Path(value)) => Ok(Self(value)),
            Err(rejection) => Err(refusal(rejection)),
        }
    }
}

fn refusal(rejection: PathRejection) -> Error {
    let PathRejection::FailedToDeserializePathParams(failure) = rejection else {
        return Error::internal(rejection);
    };
    let reason = match failure.into_kind() {
        // These are mistakes in the route, not in the request.
        kind @ (ErrorKind::WrongNumberOfParameters { .. } | ErrorKind::UnsupportedType { .. }) => {
            return Error::internal(kind.to_string());
        }
        ErrorKind::ParseErrorAtKey { key, value, expected_type } => {
            let wanted = words::expected(expected_type);
            format!("`{}` is `{}`, expected {wanted}", echo(&key), echo(&value))
        }
        ErrorKind::DeserializeError { key, value, message } => {
            format!("`{}` is `{}`: {}", echo(&key), echo(&value), echo(&message))
        }
        kind => echo(&kind.to_string()),
    };
    Error::new(Code::InvalidPath, format!("A part of the path is not as expected: {reason}."))
}
