//! The session's cookie: found in a request, written into an answer.

use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, header};

use crate::error::Error;

/// Its name, unless told otherwise.
const NAME: &str = "session";
/// Values of it that signing out looks at.
const MOST: usize = 8;

/// The name of the session's cookie. A clone is the same.
///
/// Browsers keep cookies by host for every port: of two sites on one machine, each that has a name of
/// its own keeps its session when somebody signs in to the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CookieName(Arc<str>);

impl CookieName {
    /// The name for a site that shares its host with others, by its port.
    #[must_use]
    pub fn of_port(port: u16) -> Self {
        Self(format!("{NAME}_{port}").into())
    }
}

impl Default for CookieName {
    fn default() -> Self {
        Self(NAME.into())
    }
}

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

impl CookieName {
    /// Looks for the cookie in every `Cookie` line.
    pub(crate) fn find<'a>(&self, headers: &'a HeaderMap) -> SessionCookie<'a> {
        let mut found = SessionCookie::Absent;
        for value in self.values(headers) {
            // What is no text can't be ours, but it is there.
            let Ok(value) = std::str::from_utf8(value) else { return SessionCookie::Ambiguous };
            match found {
                SessionCookie::Absent => found = SessionCookie::One(value),
                SessionCookie::One(first) if first == value => {}
                _ => return SessionCookie::Ambiguous,
            }
        }
        found
    }

    /// Every value that a request carries under the name, for signing out of all of them.
    pub(crate) fn every<'a>(&self, headers: &'a HeaderMap) -> Vec<&'a str> {
        self.values(headers)
            .filter_map(|value| std::str::from_utf8(value).ok())
            .take(MOST)
            .collect()
    }

    /// `Set-Cookie` that keeps `token` for `age`.
    pub(crate) fn keep(
        &self,
        token: &str,
        age: Duration,
        https: bool,
    ) -> Result<HeaderValue, Error> {
        debug_assert!(
            token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        );
        let text = self.text(token, age, https);
        let mut value = HeaderValue::try_from(text).map_err(Error::internal)?;
        // Neither a debug print nor HTTP/2's table of recent headers keeps it.
        value.set_sensitive(true);
        Ok(value)
    }

    /// `Set-Cookie` that has the browser forget it.
    pub(crate) fn forget(&self, https: bool) -> Result<HeaderValue, Error> {
        HeaderValue::try_from(self.text("", Duration::ZERO, https)).map_err(Error::internal)
    }

    fn values<'a>(&self, headers: &'a HeaderMap) -> impl Iterator<Item = &'a [u8]> {
        let lines = headers.get_all(header::COOKIE).iter();
        let pairs = lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b';'));
        pairs.filter_map(|pair| self.value(pair))
    }

    /// The value, when the pair has the cookie's name.
    fn value<'a>(&self, pair: &'a [u8]) -> Option<&'a [u8]> {
        let rest = pair.trim_ascii().strip_prefix(self.0.as_bytes())?;
        rest.trim_ascii_start().strip_prefix(b"=").map(<[u8]>::trim_ascii_start)
    }

    fn text(&self, token: &str, age: Duration, https: bool) -> String {
        let (name, seconds) = (&self.0, age.as_secs());
        let secure = if https { "; Secure" } else { "" };
        format!("{name}={token}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name() -> CookieName {
        CookieName::default()
    }

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
            assert_eq!(name().find(&headers(&[line.as_bytes()])), expected, "{line}");
        }
        assert_eq!(name().find(&headers(&[])), Absent);
        assert_eq!(name().find(&headers(&[b"a=1", b"session=abc"])), One("abc"));
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
            assert_eq!(name().find(&headers(lines)), SessionCookie::Ambiguous, "{lines:?}");
        }
    }

    #[test]
    fn it_is_kept_from_scripts_other_sites_and_plain_http() {
        let age = Duration::from_secs(14 * 24 * 3600);
        let kept = name().keep("abc_-9", age, true).unwrap();
        assert_eq!(
            kept.to_str().unwrap(),
            "session=abc_-9; Path=/; HttpOnly; SameSite=Lax; Max-Age=1209600; Secure"
        );
        assert!(kept.is_sensitive());
        let plain = name().keep("abc", age, false).unwrap();
        assert_eq!(
            plain.to_str().unwrap(),
            "session=abc; Path=/; HttpOnly; SameSite=Lax; Max-Age=1209600"
        );
    }

    #[test]
    fn it_is_forgotten_with_the_attributes_it_was_kept_with() {
        for https in [false, true] {
            let kept = name().keep("", Duration::ZERO, https).unwrap();
            assert_eq!(name().forget(https).unwrap(), kept);
        }
    }

    #[test]
    fn sites_on_two_ports_do_not_take_each_others() {
        let (here, there) = (CookieName::of_port(7373), CookieName::of_port(7374));
        let both = headers(&[b"session_7374=there; session=usual; session_7373=here"]);
        assert_eq!(here.find(&both), SessionCookie::One("here"));
        assert_eq!(there.every(&both), ["there"]);
        assert_eq!(name().find(&both), SessionCookie::One("usual"));
        let kept = here.keep("abc", Duration::from_secs(1), false).unwrap();
        assert!(kept.to_str().unwrap().starts_with("session_7373=abc; "));
    }
}
