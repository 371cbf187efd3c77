//! The session's cookie: found in a request, written into an answer.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, header};

use crate::error::Error;

/// Its name.
const NAME: &str = "session";
/// Values of it that signing out looks at.
const MOST: usize = 8;

/// What a request carries under the cookie's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionCookie<'a> {
    /// Nothing.
    Absent,
    /// One value, once or repeated.
    One(&'a str),
    /// Values that differ. Browsers do not say which of them we set: the other may have been planted
    /// by a neighbour on the same host or by a site above it, to have somebody work in the planter's
    /// account. So none of them is believed, and such a request counts as signed out.
    Ambiguous,
}

/// Looks for the cookie in every `Cookie` line.
pub(crate) fn find(headers: &HeaderMap) -> SessionCookie<'_> {
    let mut found = SessionCookie::Absent;
    for line in headers.get_all(header::COOKIE) {
        for pair in line.as_bytes().split(|byte| *byte == b';') {
            let Some(value) = value(pair) else { continue };
            // What is no text can't be ours, but it is there.
            let Ok(value) = std::str::from_utf8(value) else { return SessionCookie::Ambiguous };
            match found {
                SessionCookie::Absent => found = SessionCookie::One(value),
                SessionCookie::One(first) if first == value => {}
                _ => return SessionCookie::Ambiguous,
            }
        }
    }
    found
}

/// Every value that a request carries under the cookie's name, for signing out of all of them.
pub(crate) fn every(headers: &HeaderMap) -> Vec<&str> {
    let lines = headers.get_all(header::COOKIE).iter();
    let pairs = lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b';'));
    pairs.filter_map(value).filter_map(|value| std::str::from_utf8(value).ok()).take(MOST).collect()
}

/// The value, when the pair has the cookie's name.
fn value(pair: &[u8]) -> Option<&[u8]> {
    let rest = pair.trim_ascii().strip_prefix(NAME.as_bytes())?;
    rest.trim_ascii_start().strip_prefix(b"=").map(<[u8]>::trim_ascii_start)
}

/// `Set-Cookie` that keeps `token` for `age`.
pub(crate) fn keep(token: &str, age: Duration, https: bool) -> Result<HeaderValue, Error> {
    debug_assert!(token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
    let mut value = HeaderValue::try_from(text(token, age, https)).map_err(Error::internal)?;
    // Neither a debug print nor HTTP/2's table of recent headers keeps it.
    value.set_sensitive(true);
    Ok(value)
}

/// `Set-Cookie` that has the browser forget it.
pub(crate) fn forget(https: bool) -> HeaderValue {
    HeaderValue::from_static(if https { FORGET_OVER_HTTPS } else { FORGET })
}

const FORGET: &str = "session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0";
const FORGET_OVER_HTTPS: &str = "session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0; Secure";

fn text(token: &str, age: Duration, https: bool) -> String {
    let secure = if https { "; Secure" } else { "" };
    let seconds = age.as_secs();
    format!("{NAME}={token}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[&[u8]]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(header::COOKIE, HeaderValue::from_bytes(line).unwrap());
        }
        headers
    }

    #[test]
    fn the_cookie_is_found_by_its_exact_name() {
        use SessionCookie::{Absent, One};
        for (line, expected) in [
            ("session=abc", One("abc")),
            ("a=1; session=abc; b=2", One("abc")),
            ("a=1;session=abc;b=2", One("abc")),
            (" session = abc ", One("abc")),
            ("session=abc=", One("abc=")),
            ("session=\"abc\"", One("\"abc\"")),
            ("session=", One("")),
            ("session=abc; session=abc", One("abc")),
            ("", Absent),
            ("session", Absent),
            ("Session=abc", Absent),
            ("session2=abc", Absent),
            ("xsession=abc", Absent),
            ("a=session=abc", Absent),
            ("__Host-session=abc", Absent),
            (";;=;", Absent),
        ] {
            assert_eq!(find(&headers(&[line.as_bytes()])), expected, "{line}");
        }
        assert_eq!(find(&headers(&[])), Absent);
        assert_eq!(find(&headers(&[b"a=1", b"session=abc"])), One("abc"));
    }

    #[test]
    fn of_values_that_differ_none_is_believed() {
        for lines in [
            &[&b"session=abc; session=abd"[..]][..],
            &[b"session=; session=abc"],
            &[b"session=abc", b"session=abd"],
            &[b"session=abc; session=abc; session=abd"],
            &[b"session=\xff"],
            &[b"session=abc", b"session=\xff"],
        ] {
            assert_eq!(find(&headers(lines)), SessionCookie::Ambiguous, "{lines:?}");
        }
    }

    #[test]
    fn it_is_kept_from_scripts_other_sites_and_plain_http() {
        let age = Duration::from_secs(14 * 24 * 3600);
        let kept = keep("abc_-9", age, true).unwrap();
        assert_eq!(
            kept.to_str().unwrap(),
            "session=abc_-9; Path=/; HttpOnly; SameSite=Lax; Max-Age=1209600; Secure"
        );
        assert!(kept.is_sensitive());
        let plain = keep("abc", age, false).unwrap();
        assert_eq!(
            plain.to_str().unwrap(),
            "session=abc; Path=/; HttpOnly; SameSite=Lax; Max-Age=1209600"
        );
    }

    #[test]
    fn it_is_forgotten_with_the_attributes_it_was_kept_with() {
        for https in [false, true] {
            assert_eq!(forget(https), text("", Duration::ZERO, https));
        }
    }
}
