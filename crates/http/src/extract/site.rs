//! Where the site is, as links to it begin.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use crate::error::Error;
use crate::router::SharedState;

/// Where the site is, such as `https://mainstay.example.com`.
#[derive(Debug, Clone)]
pub(crate) struct SiteAddress(pub(crate) String);

impl FromRequestParts<SharedState> for SiteAddress {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &SharedState) -> Result<Self, Error> {
        state.origin.address(&parts.uri, &parts.headers).map(Self)
    }
}
