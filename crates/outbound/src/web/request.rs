//! A question, prepared once and asked often.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use hyper::Method;
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, HOST, HeaderMap, HeaderName, HeaderValue, USER_AGENT,
};
use mainstay_base::Secret;
use percent_encoding::percent_decode_str;
use url::Url;

use super::target::{Target, UrlError};

/// How long a call may take as a whole, unless its request says otherwise.
pub const TIMEOUT: Duration = Duration::from_secs(10);

/// The longest body, packed and unpacked, unless a request says otherwise.
pub const MAX_BODY: usize = 1024 * 1024;

/// The most redirects that are followed, unless a request says otherwise.
pub const MAX_REDIRECTS: u8 = 3;

/// The most headers that a request brings along.
pub const MAX_HEADERS: usize = 32;

/// The most bytes that the headers of a request may hold, names and values together.
pub const MAX_HEADER_BYTES: usize = 8 * 1024;

const OWN_NAME: &str = concat!("Mainstay/", env!("CARGO_PKG_VERSION"));

/// Headers that nobody may bring along: they belong to the connection, or would change what the answer
/// means.
pub const REFUSED_HEADERS: [&str; 15] = [
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "range",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// How to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum WebMethod {
    /// For the whole answer.
    #[default]
    Get,
    /// For its status and headers only.
    Head,
    /// To have something done, with a body. It is said once: on a connection of its own, and it goes
    /// nowhere else.
    Post,
    /// To put something in place, with a body. It is said once, as a POST is.
    Put,
    /// To change a part of something, with a body. It is said once, as a POST is.
    Patch,
    /// To have something removed. It is said once, as a POST is.
    Delete,
}

/// A question, ready to be sent. Its clones share it.
#[derive(Clone)]
pub struct WebRequest(Arc<Prepared>);

pub(crate) struct Prepared {
    pub(crate) purpose: &'static str,
    pub(crate) target: Target,
    pub(crate) method: Method,
    /// Whether it is said once: on a connection of its own.
    pub(crate) is_said_once: bool,
    /// All headers for the first target.
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) timeout: Duration,
    pub(crate) max_body: usize,
    pub(crate) max_redirects: u8,
    /// Whether a redirect is an answer like any other.
    pub(crate) takes_redirects: bool,
    /// Whether a failure that says too much is an answer without a body.
    pub(crate) takes_long_failures: bool,
}

/// A question in the making.
#[derive(Debug, Clone)]
#[must_use]
pub struct WebRequestBuilder {
    purpose: &'static str,
    url: Secret<Url>,
    method: WebMethod,
    headers: Vec<(String, Secret<String>)>,
    body: Secret<Bytes>,
    timeout: Duration,
    max_body: usize,
    max_redirects: u8,
    takes_redirects: bool,
    takes_long_failures: bool,
}

/// A question that can't be asked. No text repeats a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The URL can't be asked for.
    #[error("the address {0}")]
    Url(#[from] UrlError),
    /// The name of a header can't be sent.
    #[error("header {at} has a name that is none; use letters, digits and dashes")]
    HeaderName {
        /// Which one, from 1.
        at: usize,
    },
    /// The value of a header can't be sent.
    #[error("the value of the header {name} can't be sent; use visible ASCII on one line")]
    HeaderValue {
        /// The header.
        name: HeaderName,
    },
    /// A header that is not the caller's to set.
    #[error("the header {name} is Mainstay's own to set; leave it out")]
    HeaderRefused {
        /// The header.
        name: HeaderName,
    },
    /// More headers than allowed.
    #[error(
        "there are more than {MAX_HEADERS} headers, or more than {MAX_HEADER_BYTES} bytes in them; leave some out"
    )]
    TooManyHeaders,
    /// No time at all.
    #[error("the timeout is zero; give at least a millisecond")]
    NoTime,
}

impl WebMethod {
    /// Whether it only asks, so that it can be asked again, and elsewhere.
    const fn is_safe(self) -> bool {
        matches!(self, Self::Get | Self::Head)
    }
}

impl WebRequest {
    /// Begins a GET for `url`. The purpose is a word for the metrics, such as `poll`.
    pub fn get(purpose: &'static str, url: &Url) -> WebRequestBuilder {
        WebRequestBuilder {
            purpose,
            url: Secret::new(url.clone()),
            method: WebMethod::Get,
            headers: Vec::new(),
            body: Secret::new(Bytes::new()),
            timeout: TIMEOUT,
            max_body: MAX_BODY,
            max_redirects: MAX_REDIRECTS,
            takes_redirects: false,
            takes_long_failures: false,
        }
    }

    /// Begins a POST of `body` to `url`, which follows no redirect. What the body is, a header
    /// `Content-Type` says.
    pub fn post(purpose: &'static str, url: &Url, body: impl Into<Bytes>) -> WebRequestBuilder {
        Self::get(purpose, url).method(WebMethod::Post).body(body)
    }

    /// As [`WebRequest::post`], by PUT.
    pub fn put(purpose: &'static str, url: &Url, body: impl Into<Bytes>) -> WebRequestBuilder {
        Self::post(purpose, url, body).method(WebMethod::Put)
    }

    /// As [`WebRequest::post`], by DELETE and without a body.
    pub fn delete(purpose: &'static str, url: &Url) -> WebRequestBuilder {
        Self::get(purpose, url).method(WebMethod::Delete)
    }

    /// Host and port, as far as they can be shown.
    #[must_use]
    pub fn authority(&self) -> String {
        self.0.target.origin.authority()
    }

    /// How long the answer may take.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.0.timeout
    }

    /// What Basic authentication says for the credentials of `url`, if it has any: whoever shows what a server
    /// sends back hides it there.
    #[must_use]
    pub fn login(url: &Url) -> Option<Secret<String>> {
        if url.username().is_empty() && url.password().is_none() {
            return None;
        }
        let mut login: Vec<u8> = percent_decode_str(url.username()).collect();
        login.push(b':');
        login.extend(percent_decode_str(url.password().unwrap_or_default()));
        Some(Secret::new(STANDARD.encode(login)))
    }

    pub(crate) fn prepared(&self) -> &Prepared {
        &self.0
    }
}

impl WebRequestBuilder {
    /// Asks in another way.
    pub const fn method(mut self, method: WebMethod) -> Self {
        self.method = method;
        self
    }

    /// Sends a body. What it is, a header `Content-Type` says.
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = Secret::new(body.into());
        self
    }

    /// Sends a header along, to this origin only.
    pub fn header(mut self, name: impl Into<String>, value: Secret<String>) -> Self {
        self.headers.push((name.into(), value));
        self
    }

    /// Gives the whole call so much time.
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Takes a body of so many bytes, packed and unpacked.
    pub const fn max_body(mut self, bytes: usize) -> Self {
        self.max_body = bytes;
        self
    }

    /// Follows so many redirects.
    pub const fn max_redirects(mut self, redirects: u8) -> Self {
        self.max_redirects = redirects;
        self
    }

    /// Takes a redirect as an answer like any other, without its body, and follows none.
    pub const fn redirects_are_answers(mut self) -> Self {
        self.takes_redirects = true;
        self
    }

    /// Takes an answer with a status of failure and a body beyond the limit as one without a body: for
    /// whom the status says what to do.
    pub const fn long_failures_are_answers(mut self) -> Self {
        self.takes_long_failures = true;
        self
    }

    /// Prepares everything that is the same each time.
    ///
    /// # Errors
    /// [`RequestError`] when the URL or a header can't be sent.
    pub fn build(self) -> Result<WebRequest, RequestError> {
        let url = self.url.expose();
        let target = Target::new(url)?;
        if self.timeout.is_zero() {
            return Err(RequestError::NoTime);
        }
        let mut headers = common_headers(&target);
        if let Some(login) = login(url) {
            headers.insert(AUTHORIZATION, login);
        }
        add_headers(&mut headers, &self.headers)?;
        let method = match self.method {
            WebMethod::Get => Method::GET,
            WebMethod::Head => Method::HEAD,
            WebMethod::Post => Method::POST,
            WebMethod::Put => Method::PUT,
            WebMethod::Patch => Method::PATCH,
            WebMethod::Delete => Method::DELETE,
        };
        Ok(WebRequest(Arc::new(Prepared {
            purpose: self.purpose,
            target,
            method,
            is_said_once: !self.method.is_safe(),
            headers,
            body: self.body.expose().clone(),
            timeout: self.timeout,
            max_body: self.max_body,
            // Elsewhere nobody knows what it would do.
            max_redirects: if self.method.is_safe() { self.max_redirects } else { 0 },
            takes_redirects: self.takes_redirects,
            takes_long_failures: self.takes_long_failures,
        })))
    }
}

impl fmt::Debug for WebRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("WebRequest")
            .field("purpose", &self.0.purpose)
            .field("authority", &self.authority())
            .finish_non_exhaustive()
    }
}

/// What every server may see.
pub(crate) fn common_headers(target: &Target) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(HOST, target.host.clone());
    headers.insert(USER_AGENT, HeaderValue::from_static(OWN_NAME));
    headers.insert(ACCEPT, HeaderValue::from_static("application/json, */*;q=0.8"));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    headers
}

fn add_headers(
    headers: &mut HeaderMap,
    given: &[(String, Secret<String>)],
) -> Result<(), RequestError> {
    let bytes = given.iter().map(|(name, value)| name.len().saturating_add(value.expose().len()));
    let bytes = bytes.fold(0_usize, usize::saturating_add);
    if given.len() > MAX_HEADERS || bytes > MAX_HEADER_BYTES {
        return Err(RequestError::TooManyHeaders);
    }
    let mut own = HeaderMap::new();
    for (before, (name, value)) in given.iter().enumerate() {
        let at = before.saturating_add(1);
        let name = HeaderName::try_from(name).map_err(|_| RequestError::HeaderName { at })?;
        if REFUSED_HEADERS.contains(&name.as_str()) {
            return Err(RequestError::HeaderRefused { name });
        }
        let Ok(mut value) = HeaderValue::from_str(value.expose()) else {
            return Err(RequestError::HeaderValue { name });
        };
        value.set_sensitive(true);
        own.append(name, value);
    }
    // What the caller sets stands in place of what Mainstay would have sent.
    headers.extend(own);
    Ok(())
}

/// The credentials of a URL as Basic authentication.
fn login(url: &Url) -> Option<HeaderValue> {
    let login = WebRequest::login(url)?;
    let mut value = HeaderValue::try_from(format!("Basic {}", login.expose())).ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
