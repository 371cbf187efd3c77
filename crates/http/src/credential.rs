//! What a request proves its sender with. The check of its origin and the look-up of its caller both
//! ask here, so that they never take one request for two different ones.

use axum::http::{HeaderMap, HeaderValue, header};

use crate::cookie::{CookieName, SessionCookie};

/// What a request proves its sender with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Credential<'a> {
    /// Nothing.
    None,
    /// A cookie, which the browser sends with every request, whoever caused it.
    Cookie(SessionCookie<'a>),
    /// `Authorization: Bearer`, which no other site can have a browser send. A cookie beside it does
    /// not count. Without a text it is not readable, and proves nothing.
    Bearer(Option<&'a str>),
}

/// The credential of a request.
pub(crate) fn find<'a>(headers: &'a HeaderMap, name: &CookieName) -> Credential<'a> {
    let mut lines = headers.get_all(header::AUTHORIZATION).iter();
    let first = lines.next().and_then(bearer);
    match (first, lines.next()) {
        (Some(token), None) => return Credential::Bearer(token),
        // Of two it can't be told which one is meant.
        (_, Some(_)) => return Credential::Bearer(None),
        // Another scheme is for the proxy before us.
        (None, None) => {}
    }
    match name.find(headers) {
        SessionCookie::Absent => Credential::None,
        found => Credential::Cookie(found),
    }
}

/// What stands after `Bearer`, when that is the scheme.
fn bearer(line: &HeaderValue) -> Option<Option<&str>> {
    let bytes = line.as_bytes();
    let end = bytes.iter().position(|byte| *byte == b' ').unwrap_or(bytes.len());
    let (scheme, rest) = bytes.split_at_checked(end)?;
    if !scheme.eq_ignore_ascii_case(b"bearer") {
        return None;
    }
    let token = std::str::from_utf8(rest.trim_ascii()).ok();
    Some(token.filter(|token| !token.is_empty() && !token.contains([' ', '\t'])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(authorization: &[&[u8]], cookie: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for line in authorization {
            headers.append(header::AUTHORIZATION, HeaderValue::from_bytes(line).unwrap());
        }
        headers.insert(header::COOKIE, HeaderValue::from_static(cookie));
        headers
    }

    fn found(headers: &HeaderMap) -> Credential<'_> {
        find(headers, &CookieName::default())
    }

    #[test]
    fn a_bearer_token_goes_before_a_cookie() {
        use Credential::Bearer;
        for (line, expected) in [
            (&b"Bearer abc"[..], Bearer(Some("abc"))),
            (b"bearer abc", Bearer(Some("abc"))),
            (b"BEARER   abc ", Bearer(Some("abc"))),
            (b"Bearer", Bearer(None)),
            (b"Bearer ", Bearer(None)),
            (b"Bearer a b", Bearer(None)),
            (b"Bearer \xff", Bearer(None)),
        ] {
            assert_eq!(found(&headers(&[line], "session=s")), expected, "{line:?}");
        }
    }

    #[test]
    fn another_scheme_leaves_the_cookie() {
        let cookie = Credential::Cookie(SessionCookie::One("s"));
        for line in [&b"Basic abc"[..], b"Bearerabc", b"Bearer\tabc", b""] {
            assert_eq!(found(&headers(&[line], "session=s")), cookie, "{line:?}");
            assert_eq!(found(&headers(&[line], "other=s")), Credential::None, "{line:?}");
        }
    }

    #[test]
    fn of_two_lines_none_is_taken() {
        for lines in [[&b"Bearer a"[..], b"Bearer b"], [b"Basic a", b"Bearer b"]] {
            assert_eq!(found(&headers(&lines, "session=s")), Credential::Bearer(None));
        }
    }
}
