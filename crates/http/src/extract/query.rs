//! The query of a request.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

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
                let detail = format!("The query is not as expected: {}.", echo(reason));
                Err(Error::new(Code::InvalidQuery, detail))
            }
        }
    }
}
