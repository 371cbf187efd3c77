//! What is refused before any route is asked.

use axum::extract::Request;
use axum::http::Uri;
use mainstay_base::Moment;
use percent_encoding::percent_decode_str;

use crate::client::Client;
use crate::code::Code;
use crate::cookie::CookieName;
use crate::error::Error;
use crate::flood::Flood;
use crate::host;
use crate::limits::{Limits, MAX_HEAD_BYTES, MAX_HEADERS};
use crate::origin::SiteOrigin;
use crate::surface::Site;

/// Asked by machines at short and steady intervals. Whoever can be kept from seeing that Mainstay is
/// alive would restart it.
const PROBES: [&str; 2] = ["/healthz", "/readyz"];

/// What is known of the site, as far as requests are judged by it.
pub(crate) struct Gate {
    alone: bool,
    origin: SiteOrigin,
    cookie: CookieName,
    /// Alone on a machine, everybody has the same address and nobody is a stranger.
    flood: Option<Flood>,
}

impl Gate {
    pub(crate) fn new(site: &Site, limits: &Limits) -> Self {
        let flood = if site.alone { None } else { Flood::new(limits) };
        let (origin, cookie) = (SiteOrigin::new(site), site.cookie.clone());
        Self { alone: site.alone, origin, cookie, flood }
    }

    /// Refuses a flood from one address, too many headers, too large a head, an unfit host, a path that is no text, and what
    /// another site has a browser send.
    pub(crate) fn check(&self, request: &Request, now: Moment) -> Result<(), Error> {
        self.check_flood(request, now)?;
        check_head(request)?;
        host::check(request, self.alone)?;
        check_path(request.uri().path())?;
        self.origin.check(request, &self.cookie)
    }

    /// First of all, so that what is refused for another reason is counted too.
    fn check_flood(&self, request: &Request, now: Moment) -> Result<(), Error> {
        let Some(flood) = &self.flood else { return Ok(()) };
        if PROBES.contains(&request.uri().path()) {
            return Ok(());
        }
        match request.extensions().get::<Client>() {
            Some(Client(address)) => flood.check(*address, now),
            None => Err(Error::internal("the request has no client address")),
        }
    }
}

fn check_head(request: &Request) -> Result<(), Error> {
    // HTTP/1 connections stop at this number while reading; HTTP/2 limits only the bytes.
    if request.headers().len() > MAX_HEADERS {
        let detail = format!("A request may have {MAX_HEADERS} headers. Send fewer.");
        return Err(Error::new(Code::TooManyHeaders, detail));
    }
    if head_bytes(request) > MAX_HEAD_BYTES {
        let detail = format!(
            "The method, the target and the headers of a request may have {MAX_HEAD_BYTES} bytes \
             together. Send less."
        );
        return Err(Error::new(Code::HeadTooLarge, detail));
    }
    Ok(())
}

fn head_bytes(request: &Request) -> usize {
    let headers = request.headers().iter();
    let headers = headers.map(|(name, value)| name.as_str().len() + value.len()).sum::<usize>();
    request.method().as_str().len() + target_bytes(request.uri()) + headers
}

fn target_bytes(uri: &Uri) -> usize {
    let scheme = uri.scheme_str().map_or(0, |scheme| scheme.len() + "://".len());
    let authority = uri.authority().map_or(0, |authority| authority.as_str().len());
    scheme + authority + uri.path_and_query().map_or(0, |path| path.as_str().len())
}

fn check_path(path: &str) -> Result<(), Error> {
    if !path.contains('%') {
        return Ok(());
    }
    let broken = path.split('%').skip(1).any(|after| {
        let mut digits = after.bytes();
        !(digits.next().is_some_and(|digit| digit.is_ascii_hexdigit())
            && digits.next().is_some_and(|digit| digit.is_ascii_hexdigit()))
    });
    if broken {
        let detail = "After each % in a path stand two hexadecimal digits. Write % itself as %25.";
        return Err(Error::new(Code::InvalidPath, detail));
    }
    match percent_decode_str(path).decode_utf8() {
        Ok(text) if !text.contains('\0') => Ok(()),
        Ok(_) => Err(Error::new(Code::InvalidPath, "A path holds no NUL. Leave %00 out.")),
        Err(_) => {
            let detail = "The path is not UTF-8 once its % parts are decoded. Encode it as UTF-8.";
            Err(Error::new(Code::InvalidPath, detail))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    #[test]
    fn a_head_may_have_the_limit_of_bytes_and_not_one_more() {
        let request = |target: &str, value: usize| {
            let builder = Request::get(target).header("host", "localhost");
            builder.header("x-large", "x".repeat(value)).body(Body::empty()).unwrap()
        };
        for target in ["/healthz", "/a?b=c", "http://localhost/healthz"] {
            let rest = "GET".len() + target.len() + "hostlocalhostx-large".len();
            let largest = MAX_HEAD_BYTES - rest;
            assert!(check_head(&request(target, largest)).is_ok(), "{target}");
            let code = check_head(&request(target, largest + 1)).err().map(|error| error.code());
            assert_eq!(code, Some(Code::HeadTooLarge), "{target}");
        }
        let target = format!("/{}", "x".repeat(65_000));
        let code = check_head(&request(&target, 1000)).err().map(|error| error.code());
        assert_eq!(code, Some(Code::HeadTooLarge), "the target counts too");
    }

    #[test]
    fn only_text_is_a_path() {
        for (path, fine) in [
            ("/", true),
            ("/a%20b", true),
            ("/%E2%82%AC", true),
            ("/%25", true),
            ("/%2", false),
            ("/%", false),
            ("/%zz", false),
            ("/%+1", false),
            ("/%ff", false),
            ("/%c3%28", false),
            ("/%00", false),
        ] {
            let code = check_path(path).err().map(|error| error.code());
            assert_eq!(code, (!fine).then_some(Code::InvalidPath), "{path}");
        }
    }
}
