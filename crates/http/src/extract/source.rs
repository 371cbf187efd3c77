//! Where a call came from, as the audit log and a session keep it.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use mainstay_accounts::Source;

use crate::client::Client;
use crate::error::Error;
use crate::limits::MAX_USER_AGENT_CHARS;
use crate::request_id::{self, RequestId};

/// Where a call came from.
#[derive(Debug, Clone)]
pub(crate) struct CameFrom(pub(crate) Source);

impl<S: Send + Sync> FromRequestParts<S> for CameFrom {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let Client(address) = Client::from_request_parts(parts, state).await?;
        let id = parts.extensions.get::<RequestId>();
        Ok(Self(Source {
            address: Some(address),
            user_agent: user_agent(&parts.headers),
            request_id: id.map(|RequestId(id)| request_id::text(id).to_owned()),
        }))
    }
}

/// What the client calls itself, as far as it is worth keeping.
fn user_agent(headers: &HeaderMap) -> Option<String> {
    let given = String::from_utf8_lossy(headers.get(header::USER_AGENT)?.as_bytes());
    let plain = given.chars().filter(|character| !character.is_control());
    let kept = plain.take(MAX_USER_AGENT_CHARS).collect::<String>();
    let kept = kept.trim();
    (!kept.is_empty()).then(|| kept.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn a_client_calls_itself_what_it_likes_within_bounds() {
        let long = "ä".repeat(MAX_USER_AGENT_CHARS + 5);
        let cut = "ä".repeat(MAX_USER_AGENT_CHARS);
        for (given, kept) in [
            (&b"Mozilla/5.0 (X11)"[..], Some("Mozilla/5.0 (X11)")),
            (b"a\tb", Some("ab")),
            (b"\xff", Some("\u{fffd}")),
            (b"a\xc2\x85b", Some("ab")),
            (b"  ", None),
            (b"", None),
            (long.as_bytes(), Some(cut.as_str())),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::USER_AGENT, HeaderValue::from_bytes(given).unwrap());
            assert_eq!(user_agent(&headers).as_deref(), kept, "{given:?}");
        }
        assert_eq!(user_agent(&HeaderMap::new()), None);
    }
}
