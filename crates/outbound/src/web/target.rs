//! Where a call goes: everything that can be worked out from a URL once.

use std::net::IpAddr;
use std::sync::Arc;

use hyper::Uri;
use hyper::header::HeaderValue;
use hyper::http::uri::PathAndQuery;
use url::{Host, Url};

/// The longest URL in bytes.
pub(crate) const MAX_URL: usize = 4_096;

/// Whom a connection is held with. Nothing secret belongs to it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Origin {
    /// Whether it speaks TLS.
    pub(crate) is_encrypted: bool,
    /// In lower case, without a dot at its end, an IPv6 address without brackets.
    pub(crate) host: Box<str>,
    /// Whether the name ended with a dot, so that the system's search list is not for it.
    pub(crate) is_absolute: bool,
    /// The address, where the host is one.
    pub(crate) address: Option<IpAddr>,
    /// The port, never zero.
    pub(crate) port: u16,
}

/// One URL, ready to be asked for.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    /// Whom it is asked from.
    pub(crate) origin: Arc<Origin>,
    /// Path and query.
    pub(crate) uri: Uri,
    /// The value of the header `Host`.
    pub(crate) host: HeaderValue,
    /// The URL without credentials: what a redirect is relative to.
    pub(crate) url: Url,
}

/// A URL that can't be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Neither http nor https.
    #[error("is neither http nor https; give an address such as https://host/health")]
    Scheme,
    /// No host to call.
    #[error("names no host; give an address such as https://host/health")]
    NoHost,
    /// Port zero.
    #[error("names port 0, which nothing can listen on; give another port")]
    PortZero,
    /// More than a URL should hold.
    #[error("is longer than {MAX_URL} bytes; shorten it")]
    TooLong,
    /// Characters that can't be sent.
    #[error("holds characters that can't be sent; write them as %XX")]
    Unsendable,
}

impl Target {
    /// Works it all out. Credentials of the URL are left behind.
    pub(crate) fn new(url: &Url) -> Result<Self, UrlError> {
        let url = bare(url);
        let origin = Origin::new(&url)?;
        if url.as_str().len() > MAX_URL {
            return Err(UrlError::TooLong);
        }
        let path = match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        };
        let path = PathAndQuery::try_from(path).map_err(|_| UrlError::Unsendable)?;
        let host = HeaderValue::try_from(origin.authority()).map_err(|_| UrlError::Unsendable)?;
        Ok(Self { origin: Arc::new(origin), uri: Uri::from(path), host, url })
    }

    /// What the judge looks at beside the address.
    pub(crate) fn path(&self) -> &str {
        self.url.path()
    }
}

impl Origin {
    fn new(url: &Url) -> Result<Self, UrlError> {
        let is_encrypted = match url.scheme() {
            "http" => false,
            "https" => true,
            _ => return Err(UrlError::Scheme),
        };
        let port = url.port_or_known_default().filter(|port| *port != 0);
        let mut is_absolute = false;
        let (host, address) = match url.host().ok_or(UrlError::NoHost)? {
            Host::Domain(name) => {
                is_absolute = name.ends_with('.');
                (name.strip_suffix('.').unwrap_or(name).into(), None)
            }
            Host::Ipv4(four) => (four.to_string().into(), Some(IpAddr::V4(four))),
            Host::Ipv6(six) => (six.to_string().into(), Some(IpAddr::V6(six))),
        };
        let port = port.ok_or(UrlError::PortZero)?;
        Ok(Self { is_encrypted, host, is_absolute, address, port })
    }

    /// Host and port as they stand in a URL, the port only where it is not the usual one.
    pub(crate) fn authority(&self) -> String {
        let is_usual = self.port == if self.is_encrypted { 443 } else { 80 };
        let host = &self.host;
        let host = if matches!(self.address, Some(IpAddr::V6(_))) {
            format!("[{host}]")
        } else {
            host.to_string()
        };
        if is_usual { host } else { format!("{host}:{}", self.port) }
    }
}

/// The URL without credentials and fragment.
fn bare(url: &Url) -> Url {
    let mut url = url.clone();
    // These fail only for URLs without a host, which have no credentials either.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_fragment(None);
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(url: &str) -> Result<Target, UrlError> {
        Target::new(&Url::parse(url).unwrap())
    }

    #[test]
    fn a_url_is_taken_apart_once() {
        for (url, host, path) in [
            ("http://Example.com/a/../b?c=d#e", "example.com", "/b?c=d"),
            ("https://user:secret@example.com.:8443", "example.com:8443", "/"),
            ("http://example.com:80/", "example.com", "/"),
            ("https://example.com:80/", "example.com:80", "/"),
            ("http://[::1]:8080/x", "[::1]:8080", "/x"),
            ("http://0x7f.1/", "127.0.0.1", "/"),
            ("http://bücher.example/ä?ö='`|\"", "xn--bcher-kva.example", "/%C3%A4?%C3%B6=%27`|%22"),
        ] {
            let target = target(url).unwrap();
            assert_eq!(target.host, host, "{url}");
            assert_eq!(target.uri.to_string(), path, "{url}");
            assert!(!target.url.as_str().contains("secret"), "{url}");
        }
    }

    #[test]
    fn spellings_of_one_origin_are_one_origin() {
        let one = target("https://example.com/a").unwrap();
        for same in ["https://EXAMPLE.com:443/b", "https://u:p@example.com"] {
            assert_eq!(target(same).unwrap().origin, one.origin, "{same}");
        }
        for other in
            ["http://example.com:443/", "https://example.com:444/", "https://a.example.com"]
        {
            assert_ne!(target(other).unwrap().origin, one.origin, "{other}");
        }
    }

    #[test]
    fn what_can_not_be_asked_for_is_told() {
        assert_eq!(target("ftp://example.com/").err(), Some(UrlError::Scheme));
        assert_eq!(target("file:///etc/passwd").err(), Some(UrlError::Scheme));
        assert_eq!(target("unix:/run/x.sock").err(), Some(UrlError::Scheme));
        assert_eq!(target("http://example.com:0/").err(), Some(UrlError::PortZero));
        let long = format!("http://example.com/{}", "x".repeat(MAX_URL));
        assert_eq!(target(&long).err(), Some(UrlError::TooLong));
    }
}
