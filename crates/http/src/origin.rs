//! Whether a request that changes something comes from the site itself.
//!
//! A browser sends the session's cookie with requests that a page of any other site causes. So such
//! a request must say that one of our own pages made it: by `Origin`, which scripts can't forge, or,
//! where a browser leaves that out, by `Referer`. A bearer token is sent by nobody but its owner. And
//! a request without a credential may still sign somebody in, so a foreign `Origin` is refused there
//! too; programs that are no browsers send none.

use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};

use crate::code::Code;
use crate::cookie::CookieName;
use crate::credential::{self, Credential};
use crate::error::{Error, echo};
use crate::surface::Site;

/// Where the site's own pages come from.
#[derive(Debug, Clone)]
pub(crate) enum SiteOrigin {
    /// The public URL.
    Public(String),
    /// Whatever host the request names: without a public URL nothing else is known.
    Host {
        /// Mainstay speaks TLS itself.
        https: bool,
    },
}

impl SiteOrigin {
    pub(crate) fn new(site: &Site) -> Self {
        match &site.origin {
            Some(origin) => Self::Public(origin.clone()),
            None => Self::Host { https: site.https },
        }
    }

    /// Refuses a request that changes something and comes, or may come, from another site.
    pub(crate) fn check(&self, request: &Request, name: &CookieName) -> Result<(), Error> {
        if [Method::GET, Method::HEAD, Method::OPTIONS].contains(request.method()) {
            return Ok(());
        }
        let cookie = match credential::find(request.headers(), name) {
            Credential::Bearer(_) => return Ok(()),
            Credential::Cookie(_) => true,
            Credential::None => false,
        };
        match sender(request.headers(), cookie) {
            Sender::Unnamed if cookie => Err(unnamed()),
            Sender::Unnamed => Ok(()),
            Sender::Named(text) if self.is(text, request) => Ok(()),
            Sender::Named(text) => Err(foreign(text)),
        }
    }

    /// Whether `text` is this site's origin.
    fn is(&self, text: &[u8], request: &Request) -> bool {
        let Some(given) = Origin::read(text) else { return false };
        match self {
            Self::Public(own) => Origin::read(own.as_bytes()).is_some_and(|own| own.is(&given)),
            Self::Host { https } => Origin::of_host(request.uri(), request.headers(), *https)
                .is_some_and(|own| own.is(&given)),
        }
    }

    /// Where the site is, for whoever sent this request: what links to it begin with.
    pub(crate) fn address(&self, target: &Uri, headers: &HeaderMap) -> Result<String, Error> {
        match self {
            Self::Public(own) => Ok(own.clone()),
            Self::Host { https } => {
                let own = Origin::of_host(target, headers, *https).ok_or_else(no_host)?;
                let scheme = if own.https { "https" } else { "http" };
                Ok(format!("{scheme}://{}", own.authority))
            }
        }
    }
}

/// Which site a request says it comes from.
enum Sender<'a> {
    Named(&'a [u8]),
    Unnamed,
}

/// `Origin`, and where only a cookie speaks for the request and there is none, `Referer`.
fn sender(headers: &HeaderMap, cookie: bool) -> Sender<'_> {
    match only(headers, &header::ORIGIN) {
        Sender::Unnamed if cookie => match only(headers, &header::REFERER) {
            Sender::Named(page) => Sender::Named(origin_of(page)),
            Sender::Unnamed => Sender::Unnamed,
        },
        named => named,
    }
}

/// The only value of a header. Several of them are of nobody's making, and match no site.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Sender<'a> {
    let mut values = headers.get_all(name).iter().map(HeaderValue::as_bytes);
    match (values.next(), values.next()) {
        (None, _) => Sender::Unnamed,
        (Some(value), None) => Sender::Named(value),
        (Some(_), Some(_)) => Sender::Named(b""),
    }
}

/// The part of a page's address that names its site.
fn origin_of(page: &[u8]) -> &[u8] {
    let authority = page.windows(3).position(|part| part == b"://").map_or(0, |start| start + 3);
    let end = page.iter().skip(authority).position(|byte| b"/?#".contains(byte));
    end.and_then(|length| page.get(..authority + length)).unwrap_or(page)
}

/// A scheme, a host and a port.
struct Origin {
    https: bool,
    authority: Authority,
    port: u16,
}

impl Origin {
    fn read(text: &[u8]) -> Option<Self> {
        let (scheme, authority) = std::str::from_utf8(text).ok()?.split_once("://")?;
        let https = scheme.eq_ignore_ascii_case("https");
        if !https && !scheme.eq_ignore_ascii_case("http") {
            return None;
        }
        Self::new(https, Authority::try_from(authority).ok()?)
    }

    fn of_host(target: &Uri, headers: &HeaderMap, https: bool) -> Option<Self> {
        let target = target.authority().cloned();
        let named = || {
            let named = headers.get(header::HOST)?;
            Authority::try_from(named.as_bytes()).ok()
        };
        Self::new(https, target.or_else(named)?)
    }

    /// `None` where something other than a port stands beside the host.
    fn new(https: bool, authority: Authority) -> Option<Self> {
        let port = match authority.as_str().strip_prefix(authority.host())? {
            "" if https => 443,
            "" => 80,
            rest => {
                let digits = rest.strip_prefix(':')?;
                digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())??
            }
        };
        Some(Self { https, authority, port })
    }

    fn is(&self, other: &Self) -> bool {
        self.https == other.https
            && self.port == other.port
            && self.authority.host().eq_ignore_ascii_case(other.authority.host())
    }
}

fn unnamed() -> Error {
    let detail = "A request that changes something by a session's cookie must have the header \
                  Origin or Referer of this site. Programs use an API token instead: \
                  Authorization: Bearer.";
    Error::new(Code::Csrf, detail)
}

fn no_host() -> Error {
    let detail = "Host is missing or not readable, so nobody knows what links to this site begin \
                  with. Send it as NAME or NAME:PORT.";
    Error::new(Code::InvalidHost, detail)
}

fn foreign(text: &[u8]) -> Error {
    let detail = format!(
        "The request comes from `{}`, which is not this site's address. If it is, start Mainstay \
         with it as --public-url; programs send no Origin, or use an API token.",
        echo(&String::from_utf8_lossy(text))
    );
    Error::new(Code::Csrf, detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    const COOKIE: (&str, &str) = ("cookie", "session=abc");

    fn public(origin: &str) -> SiteOrigin {
        SiteOrigin::Public(origin.to_owned())
    }

    fn site() -> SiteOrigin {
        public("https://mainstay.example")
    }

    /// Whether a request with these headers is let through.
    fn passes(site: &SiteOrigin, method: Method, headers: &[(&str, &str)]) -> bool {
        let mut request = Request::builder().method(method).uri("/api/things");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let checked = site.check(&request.body(Body::empty()).unwrap(), &CookieName::default());
        let code = checked.err().map(|error| error.code());
        assert!(matches!(code, None | Some(Code::Csrf)), "{code:?}");
        code.is_none()
    }

    #[test]
    fn what_changes_nothing_is_not_asked() {
        for (method, passing) in [
            (Method::GET, true),
            (Method::HEAD, true),
            (Method::OPTIONS, true),
            (Method::POST, false),
            (Method::PUT, false),
            (Method::PATCH, false),
            (Method::DELETE, false),
            (Method::TRACE, false),
            (Method::from_bytes(b"PURGE").unwrap(), false),
        ] {
            let headers = [COOKIE, ("origin", "https://evil.example")];
            assert_eq!(passes(&site(), method.clone(), &headers), passing, "{method}");
        }
    }

    #[test]
    fn with_a_cookie_the_request_must_come_from_the_site() {
        for (headers, passing) in [
            (&[][..], false),
            (&[("origin", "https://mainstay.example")], true),
            (&[("origin", "HTTPS://Mainstay.Example:443")], true),
            (&[("origin", "https://evil.example")], false),
            (&[("origin", "null")], false),
            (&[("origin", "")], false),
            (&[("origin", "https://mainstay.example"), ("origin", "https://evil.example")], false),
            (&[("origin", "https://mainstay.example https://evil.example")], false),
            (&[("referer", "https://mainstay.example")], true),
            (&[("referer", "https://mainstay.example/")], true),
            (&[("referer", "https://mainstay.example/account?a=https://b#c")], true),
            (&[("referer", "https://mainstay.example?x")], true),
            (&[("referer", "https://mainstay.example.evil.example/")], false),
            (&[("referer", "https://evil.example/https://mainstay.example/")], false),
            (&[("referer", "https://evil.example?https://mainstay.example/")], false),
            (&[("referer", "/account")], false),
            (&[("referer", "")], false),
            // An Origin that is there is the one that counts.
            (
                &[("origin", "https://evil.example"), ("referer", "https://mainstay.example/")],
                false,
            ),
            (&[("origin", "null"), ("referer", "https://mainstay.example/")], false),
        ] {
            for cookie in [COOKIE, ("cookie", "session="), ("cookie", "session=a; session=b")] {
                let headers: Vec<_> = headers.iter().copied().chain([cookie]).collect();
                assert_eq!(passes(&site(), Method::POST, &headers), passing, "{headers:?}");
            }
        }
    }

    #[test]
    fn without_a_credential_only_a_foreign_origin_is_refused() {
        for (headers, passing) in [
            (&[][..], true),
            (&[("cookie", "theme=dark")], true),
            (&[("authorization", "Basic eDp5")], true),
            (&[("origin", "https://mainstay.example")], true),
            (&[("origin", "https://evil.example")], false),
            (&[("origin", "null")], false),
        ] {
            assert_eq!(passes(&site(), Method::POST, headers), passing, "{headers:?}");
        }
    }

    #[test]
    fn a_bearer_token_needs_no_origin_and_another_scheme_does() {
        for (authorization, passing) in
            [("Bearer mst_abc", true), ("Bearer", true), ("Basic eDp5", false)]
        {
            let headers =
                [COOKIE, ("authorization", authorization), ("origin", "https://evil.example")];
            assert_eq!(passes(&site(), Method::POST, &headers), passing, "{authorization}");
        }
    }

    #[test]
    fn scheme_host_and_port_must_all_agree() {
        for (own, given, same) in [
            ("https://a.example", "https://a.example:443", true),
            ("https://a.example:443", "https://A.example", true),
            ("http://a.example", "http://a.example:80", true),
            ("http://a.example:7373", "http://a.example:7373", true),
            ("http://[::1]:7373", "http://[::1]:7373", true),
            ("http://[::1]", "http://[::1]:80", true),
            ("https://a.example", "http://a.example", false),
            ("https://a.example", "http://a.example:443", false),
            ("https://a.example", "https://a.example:444", false),
            ("http://a.example:7373", "http://a.example", false),
            ("https://a.example", "https://b.example", false),
            ("https://a.example", "https://a.example.", false),
            ("https://a.example", "https://x.a.example", false),
            ("https://a.example", "https://a.example:99999", false),
            ("https://a.example", "https://a.example:", false),
            ("https://a.example", "https://a.example:+443", false),
            ("https://a.example", "https://user@a.example", false),
            ("https://a.example", "https://a.example@evil.example", false),
            ("https://a.example", "https://a.example/", false),
            ("https://a.example", "https://a.example\\@evil.example", false),
            ("https://a.example", "a.example", false),
            ("https://a.example", "ftp://a.example", false),
            ("not an origin", "not an origin", false),
        ] {
            let passing = passes(&public(own), Method::POST, &[COOKIE, ("origin", given)]);
            assert_eq!(passing, same, "{own} {given}");
        }
    }

    #[test]
    fn without_a_public_url_the_site_is_the_host_that_is_named() {
        for (https, host, origin, passing) in [
            (false, "localhost:7373", "http://localhost:7373", true),
            (false, "LOCALHOST:7373", "http://localhost:7373", true),
            (false, "localhost", "http://localhost:80", true),
            (true, "localhost:7373", "https://localhost:7373", true),
            (true, "localhost", "https://localhost", true),
            (false, "[::1]:7373", "http://[::1]:7373", true),
            (false, "localhost:7373", "https://localhost:7373", false),
            (true, "localhost:7373", "http://localhost:7373", false),
            (false, "localhost:7373", "http://localhost:5000", false),
            (false, "localhost:7373", "http://127.0.0.1:7373", false),
            (false, "localhost:7373", "http://evil.example", false),
            (false, "user@localhost", "http://localhost", false),
        ] {
            let site = SiteOrigin::Host { https };
            let headers = [COOKIE, ("host", host), ("origin", origin)];
            assert_eq!(passes(&site, Method::POST, &headers), passing, "{host} {origin}");
        }
        let site = SiteOrigin::Host { https: false };
        assert!(!passes(&site, Method::POST, &[COOKIE, ("origin", "http://localhost")]));
    }

    #[test]
    fn links_begin_with_the_public_url_or_with_the_host_that_is_named() {
        let named = |site: &SiteOrigin, target: &str, host: &str| {
            let request = Request::get(target).header("host", host).body(Body::empty()).unwrap();
            site.address(request.uri(), request.headers()).ok()
        };
        let by_host = |https| SiteOrigin::Host { https };
        for (site, target, host, expected) in [
            (site(), "/", "evil.example", Some("https://mainstay.example")),
            (by_host(false), "/", "localhost:7373", Some("http://localhost:7373")),
            (by_host(true), "/", "10.0.0.7", Some("https://10.0.0.7")),
            (by_host(false), "http://[::1]:7373/", "[::1]:7373", Some("http://[::1]:7373")),
            (by_host(false), "/", "user@localhost", None),
            (by_host(false), "/", "a/b", None),
            (by_host(false), "/", "", None),
        ] {
            assert_eq!(named(&site, target, host).as_deref(), expected, "{host}");
        }
    }

    #[test]
    fn http2_names_the_host_in_the_target() {
        let request = |origin: &str| {
            let request = Request::post("http://localhost:7373/api/things");
            request.header("origin", origin).body(Body::empty()).unwrap()
        };
        let (site, name) = (SiteOrigin::Host { https: false }, CookieName::default());
        assert!(site.check(&request("http://localhost:7373"), &name).is_ok());
        assert!(site.check(&request("http://evil.example"), &name).is_err());
    }
}
