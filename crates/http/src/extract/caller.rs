//! Who is calling.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use mainstay_accounts::Caller;

use crate::cookie::SessionCookie;
use crate::credential::{self, Credential};
use crate::error::Error;
use crate::router::SharedState;

/// The caller whom the door let in. A public route has none.
#[derive(Debug, Clone)]
pub(crate) struct SignedIn(pub(crate) Caller);

impl<S: Send + Sync> FromRequestParts<S> for SignedIn {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        let caller = parts.extensions.remove::<Caller>();
        caller.map(Self).ok_or_else(|| Error::internal("the route knows no caller"))
    }
}

/// What the request's cookie holds, if it proves anything; nobody looked it up.
#[derive(Clone)]
pub(crate) struct OldSession(pub(crate) Option<String>);

impl FromRequestParts<SharedState> for OldSession {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(
        parts: &mut Parts,
        state: &SharedState,
    ) -> Result<Self, Self::Rejection> {
        Ok(Self(match credential::find(&parts.headers, &state.site.cookie) {
            Credential::Cookie(SessionCookie::One(text)) => Some(text.to_owned()),
            Credential::Cookie(_) | Credential::Bearer(_) | Credential::None => None,
        }))
    }
}
